package tables

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A table with the same runs is recognized under another name, in another order and with further seeds.
func TestTablesWithTheSameRuns(t *testing.T) {
	make := func(name string, change func(records []Record) []Record) *Table {
		var records []Record
		for k, sequence := range [][]string{{"none", "none"}, {"deepen:0", "none"}, {"none", "deepen:0"}} {
			records = append(records, Record{Sequence: sequence, Left: []float64{9, float64(5 - k)},
				Accuracy: []float64{float64(5+k) / 10, 0.4}, Seeds: []int64{1, 2}})
		}
		table, err := New(Scenario{Name: name, Network: "ConvSmall", Budget: 10, Decisions: 2}, change(records))
		require.NoError(t, err)
		return table
	}
	first := make("first", func(r []Record) []Record { return r })
	for name, c := range map[string]struct {
		change       func(r []Record) []Record
		same, digest bool
	}{
		"copy":        {func(r []Record) []Record { return r }, true, true},
		"other order": {func(r []Record) []Record { slices.Reverse(r); return r }, true, true},
		"order of seeds": {func(r []Record) []Record {
			r[1].Seeds, r[1].Accuracy = []int64{2, 1}, []float64{0.4, 0.6}
			return r
		}, true, true},
		"further seed": {func(r []Record) []Record {
			r[0].Seeds, r[0].Accuracy = []int64{1, 2, 3}, []float64{0.5, 0.4, 0.9}
			return r
		}, true, false},
		"fewer sequences": {func(r []Record) []Record { return r[:2] }, true, false},
		"other accuracy":  {func(r []Record) []Record { r[2].Accuracy[0] += 1e-9; return r }, false, false},
		"other times":     {func(r []Record) []Record { r[2].Left[1]++; return r }, false, false},
		"other seeds": {func(r []Record) []Record {
			for k := range r {
				r[k].Seeds = []int64{7, 8}
			}
			return r
		}, false, false},
	} {
		other := make(name, c.change)
		require.Equal(t, c.same, first.SameRuns(other), name)
		require.Equal(t, c.same, other.SameRuns(first), name)
		overlaps := c.same || name == "other accuracy" || name == "other times" // of few of the runs
		require.Equal(t, overlaps, first.Hashes().Overlaps(other.Hashes().Sample()), name)
		require.Equal(t, overlaps, other.Hashes().Overlaps(first.Hashes().Sample()), name)
		require.Equal(t, c.digest, first.RunsDigest() == other.RunsDigest(), name)
	}
}

// The share of common runs of large tables is estimated from a sample.
func TestSamplesOfRuns(t *testing.T) {
	hashes := func(network string, sequences int) RunHashes {
		var records []Record
		for k := range sequences {
			records = append(records, Record{Sequence: []string{fmt.Sprintf("deepen:%d", k)}, Left: []float64{9},
				Accuracy: []float64{0.4, 0.5}, Seeds: []int64{1, 2}})
		}
		table, err := New(Scenario{Name: "late", Network: network, Budget: 10, Decisions: 1}, records)
		require.NoError(t, err)
		return table.Hashes()
	}
	large := hashes("ConvSmall", 200)
	require.Len(t, large, 400)
	require.Len(t, large.Sample(), 64)
	require.True(t, hashes("ConvSmall", 2000).Overlaps(large.Sample()), "further sequences")
	require.True(t, large.Overlaps(hashes("ConvSmall", 2000).Sample()), "fewer sequences")
	require.False(t, large.Overlaps(hashes("ConvLarge", 200).Sample()), "another network")
	require.False(t, large.Overlaps(nil), "unknown runs")
}
