package config

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Generated jobs arrive by the given pattern, cut to max_arrivals, and studies have the given error of speeds.
func TestWorkloadsFollowAPattern(t *testing.T) {
	l := must(readLearningJobs(
		written(t, "a.toml", "[elastic]\nspeeds = \"analytic\"\nspeed_error = 0.2\n[workloads]\n"+
			"arrivals = \"pattern\"\npattern = [0, 0, 0, 0, 0, 0, 9, 1]\nmax_arrivals = 3\njobs = 9\n"+
			"train_count = 1\n"), nil))
	train, _, _ := l.Studies()
	counts := map[int]int{}
	for _, j := range train[0].Jobs {
		counts[j.Arrival%8]++
	}
	require.Equal(t, 0.2, train[0].Options.SpeedError)
	require.ElementsMatch(t, []int{7, 2}, slices.Collect(maps.Values(counts))) // slots 6 and 7 of a period get 3 and 1
}
