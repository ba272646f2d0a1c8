package pollux

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/adaptive"
	"graft/internal/stat"
)

// published holds the means of a published experiment; the means of two workloads are held out.
type published struct {
	Mean float64
	Avgs map[string]float64
}

// The scheduler goodput has a lower mean than published Pollux at each load.
func TestGoodputBelowPollux(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: minutes of a processor; set GRAFT_LONG=1")
	}
	apps := applications(t)
	var results map[string]published
	read(t, "results.json", &results)
	for _, s := range settings[:4] {
		t.Run(s.load, func(t *testing.T) {
			t.Parallel()
			kind, err := adaptive.Named("goodput")
			require.NoError(t, err)
			var means, ratios, found []float64
			for workload := range 8 {
				mean, gaps := s.run(t, apps, workload+1, kind, nil)
				means, found = append(means, mean), append(found, gaps...)
				if other, ok := results[s.name].Avgs[workloadName(workload)]; ok {
					ratios = append(ratios, mean/other)
				}
			}
			mean := stat.Mean(means)
			t.Logf("load %s: mean %.1f s, published Pollux %.1f s, %+.2f %%; workloads %.1f; "+
				"ratio where published %.4f; gap to the bound %.4f in the mean of %d decisions",
				s.load, mean, results[s.name].Mean, 100*(mean/results[s.name].Mean-1), means,
				stat.MeanInterval(ratios, 1), stat.Mean(found), len(found))
			require.Less(t, mean, results[s.name].Mean)
		})
	}
}

// The same holds for one workload of the lowest load, a check that takes seconds.
func TestGoodputBelowPolluxOnce(t *testing.T) {
	apps := applications(t)
	var results map[string]published
	read(t, "results.json", &results)
	kind, err := adaptive.Named("goodput")
	require.NoError(t, err)
	mean, found := settings[0].run(t, apps, 6, kind, nil)
	require.Less(t, mean, results["jobload/pollux-0.5"].Avgs["workload-6"])
	require.Less(t, stat.Mean(found), 0.01)
}
