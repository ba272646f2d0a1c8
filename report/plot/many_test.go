package plot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
)

// Figures group runs as comparisons do: repetitions of a seed are no further seeds, copies do not count, and runs with
// another LibTorch are apart.
func TestFiguresGroupRunsAsComparisons(t *testing.T) {
	made := func(path string, seed uint64, outcome, library string, value float64) *runs.Run {
		return &runs.Run{Path: path, Kind: runs.JobKind, Files: files.OS{}, Seeded: true, Ended: true, Outcome: outcome,
			Manifest:   results.Manifest{Seed: seed, LibTorch: library},
			Quantities: []runs.Quantity{{Name: "speed", Seeds: []int64{int64(seed)}, Values: []float64{value}}}}
	}
	list := []*runs.Run{made("x-1", 1, "a", "1", 48), made("x-2", 1, "b", "1", 52), made("x-3", 2, "c", "1", 60),
		made("x-4", 2, "c", "1", 60), made("y", 1, "a", "2", 10)}
	names := map[*runs.Run]string{}
	for _, r := range list {
		r.Settings = []config.Setting{}
		names[r] = r.Path
	}
	groups := groupBySeed(list)
	require.Equal(t, [][]*runs.Run{list[:3], list[4:]}, groups)
	require.Equal(t, []string{"x, 3 runs of 2 seeds", "y"}, groupNames(groups, names))
	require.NotEmpty(t, groupsNote(groups))
	require.InDelta(t, 55, quantityBar(groups[0], "speed").Value, 1e-12)
	require.Equal(t, [][]float64{{50, 1}, {60, 4}},
		meanCurves(seedsOf(groups[0]), [][]float64{{48, 0}, {52, 2}, {60, 4}}))
	require.Empty(t, groupsNote([][]*runs.Run{list[1:3]}))
}
