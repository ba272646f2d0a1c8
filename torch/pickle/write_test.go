package pickle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/pickle"
)

func TestWriteReadsBack(t *testing.T) {
	inner, err := pickle.NewDict(pickle.Pair{Key: "k", Value: pickle.Tuple{}})
	require.NoError(t, err)
	inner.Ordered = true
	for _, value := range []any{
		nil, true, false, int64(0), int64(255), int64(256), int64(65536), int64(-1),
		int64(math.MinInt64), int64(math.MaxInt64), power(1, 63), power(-1, 63).Sub(power(-1, 63), power(1, 0)),
		power(1, 64), power(-1, 1000), 2.5, "", "é☃", []byte("\x00\xff"), pickle.Global{Module: "m", Name: "N"},
		pickle.Tuple{int64(1), list(int64(2), inner)},
	} {
		var out bytes.Buffer
		require.NoError(t, pickle.Write(&out, value))
		got, err := pickle.Read(&out, pickle.Options{})
		require.NoError(t, err)
		assert.Equal(t, value, got)
	}
}

func TestWriteRefuses(t *testing.T) {
	loop := list()
	loop.Items = append(loop.Items, loop)
	for name, value := range map[string]any{
		"a list that holds itself":      loop,
		"a set":                         &pickle.Set{},
		"a type of Go":                  struct{}{},
		"a text that is not UTF-8":      "\xff",
		"a class without a name":        pickle.Global{},
		"a class with a line in it":     pickle.Global{Module: "os", Name: "a\nb"},
		"an int of more than 255 bytes": power(1, 8*255),
	} {
		assert.Error(t, pickle.Write(&bytes.Buffer{}, value), name)
	}
}

func TestWriteReferencesAndCalls(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, pickle.Write(&out, pickle.Reduce{
		Callable: pickle.Global{Module: "m", Name: "Thing"},
		Args:     pickle.Tuple{pickle.Persistent{ID: pickle.Tuple{"storage", 3}}},
	}))
	got, err := pickle.Read(&out, pickle.Options{
		Constructors: map[string]pickle.Constructor{
			"m.Thing": func(args pickle.Tuple) (any, error) { return args[0], nil },
		},
		Persistent: func(id any) (any, error) { return id, nil },
	})
	require.NoError(t, err)
	assert.Equal(t, pickle.Tuple{"storage", int64(3)}, got)
}

// reference is the folder of published files, which is not part of the
// repository.
const reference = "../../../shared/reference/adaptation"

func openReference(t *testing.T, path string) (any, []byte) {
	data, err := os.ReadFile(filepath.Join(reference, path+".pkl"))
	if err != nil {
		t.Skip("left out: the published pickles are not beside the repository")
	}
	value, err := pickle.Read(bytes.NewReader(data), pickle.Options{})
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(reference, path+".json"))
	require.NoError(t, err)
	return value, text
}

func TestPublishedVocabulary(t *testing.T) {
	value, text := openReference(t, "vocabs/models.ids")
	var want struct {
		Entries []struct {
			Layer string
			ID    int64
		}
	}
	require.NoError(t, json.Unmarshal(text, &want))
	dict := value.(*pickle.Dict)
	require.Equal(t, len(want.Entries), dict.Len())
	at := 0
	for layer, id := range dict.All() {
		assert.Equal(t, want.Entries[at].Layer, layer)
		assert.Equal(t, want.Entries[at].ID, id)
		at++
	}
}

func TestPublishedSimulations(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(reference, "simulations/*/data.pkl"))
	require.NoError(t, err)
	if len(found) == 0 {
		t.Skip("left out: the published simulations are not beside the repository")
	}
	for _, path := range found {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) { checkSimulation(t, "simulations/"+name+"/data") })
	}
}

func checkSimulation(t *testing.T, path string) {
	value, text := openReference(t, path)
	var want struct {
		Sequences []struct {
			Actions   []int64
			TimeLeft  []float64
			TotalTime int64
			Acc       float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &want))
	dict := value.(*pickle.Dict)
	require.Equal(t, len(want.Sequences), dict.Len())
	at := 0
	for actions, row := range dict.All() {
		w := want.Sequences[at]
		assert.Equal(t, fmt.Sprint(w.Actions), fmt.Sprint(actions))
		left, err := pickle.Field[*pickle.List](row.(*pickle.Dict), "timeleft")
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(w.TimeLeft), fmt.Sprint(left.Items))
		total, err := pickle.Field[int64](row.(*pickle.Dict), "totaltime")
		require.NoError(t, err)
		acc, err := pickle.Field[float64](row.(*pickle.Dict), "acc")
		require.NoError(t, err)
		assert.Equal(t, w.TotalTime, total)
		assert.Equal(t, w.Acc, acc)
		at++
	}
}
