package original_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/original"
	"graft/simulation/tables"
	"graft/simulation/treetest"
	"graft/torch/pickle"
	"graft/torch/pickle/pickletest"
)

// published returns the paths of the original's tables, or none if they are not available.
func published(t testing.TB) []string {
	paths, err := filepath.Glob("../../shared/reference/adaptation/simulations/*/data.pkl")
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Log("left out: the original's tables are not at hand")
	}
	return paths
}

func TestPublishedTables(t *testing.T) {
	for _, path := range published(t) {
		f, err := os.Open(path)
		require.NoError(t, err)
		name := filepath.Base(filepath.Dir(path))
		table, err := original.ReadTable(f, tables.Scenario{Name: name, Actions: treetest.FourActions}, 42)
		require.NoError(t, err, f.Close())
		require.NoError(t, table.Complete())
		var want struct {
			Sequences []struct {
				Actions  []int
				TimeLeft []float64
				Acc      float64
			}
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "data.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &want))
		require.Len(t, table.Records, len(want.Sequences))
		for k, w := range want.Sequences {
			r := table.Records[k]
			require.Equal(t, w.TimeLeft, r.Left)
			require.Equal(t, w.Acc, r.Mean())
			for step, a := range w.Actions {
				require.Equal(t, treetest.FourActions[a], r.Sequence[step])
			}
			require.Same(t, &table.Records[k], table.Find(r.Sequence...))
		}
	}
}

// legacy is a pickle of two sequences; change modifies the second.
func legacy(t *testing.T, change func(actions pickle.Tuple, fields *pickle.Dict)) *bytes.Buffer {
	all, err := pickletest.Dict()
	require.NoError(t, err)
	for k := range int64(2) {
		fields, err := pickletest.Dict(pickle.Pair{Key: "timeleft", Value: &pickle.List{Items: []any{30.0, int64(20)}}},
			pickle.Pair{Key: "totaltime", Value: int64(40)}, pickle.Pair{Key: "acc", Value: 0.5})
		require.NoError(t, err)
		actions := pickle.Tuple{k, int64(0)}
		if k == 1 {
			change(actions, fields)
		}
		require.NoError(t, all.Set(actions, fields))
	}
	var b bytes.Buffer
	require.NoError(t, pickle.Write(&b, all))
	return &b
}

func TestFaultyLegacyTables(t *testing.T) {
	set := func(key string, value any) func(pickle.Tuple, *pickle.Dict) {
		return func(_ pickle.Tuple, d *pickle.Dict) { _ = d.Set(key, value) }
	}
	for name, c := range map[string]struct {
		change func(pickle.Tuple, *pickle.Dict)
		says   string
	}{
		"none":            {set("acc", 0.25), ""},
		"unknown action":  {func(a pickle.Tuple, _ *pickle.Dict) { a[1] = int64(4) }, "action is 4; must be below 4"},
		"action is text":  {func(a pickle.Tuple, _ *pickle.Dict) { a[1] = "one" }, "one"},
		"other budget":    {set("totaltime", int64(50)), "budget is 50 s, expected 40 s"},
		"time is missing": {set("timeleft", &pickle.List{Items: []any{30.0}}), "got 1 remaining times, expected 2"},
		"time over budget": {set("timeleft", &pickle.List{Items: []any{41.0, 2.0}}), "remaining time is 41 s; must " +
			"be"},
		"accuracy is text":  {set("acc", "high"), "acc"},
		"accuracy over one": {set("acc", 1.5), "accuracy is 1.5"},
		"accuracy is NaN":   {set("acc", math.NaN()), "accuracy is NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := original.ReadTable(legacy(t, c.change),
				tables.Scenario{Name: "small", Actions: treetest.FourActions}, 1)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
	// Repeat the first sequence. Pickles end in the opcodes for entries and for the end.
	whole := legacy(t, func(pickle.Tuple, *pickle.Dict) {}).Bytes()
	const head, tail = 4, 2
	twice := append(bytes.Clone(whole[:len(whole)-tail]), whole[head:]...)
	_, err := original.ReadTable(bytes.NewReader(twice),
		tables.Scenario{Name: "small", Actions: treetest.FourActions}, 1)
	require.ErrorContains(t, err, "2 sequences are duplicates")
	_, err = original.ReadTable(bytes.NewBufferString("no pickle"), tables.Scenario{Name: "small"}, 1)
	require.ErrorContains(t, err, "read table small")
}
