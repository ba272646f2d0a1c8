package schedulers_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	"graft/internal/parallel"
)

// tolerance compares times and rewards with recorded ones, whose sums are rounded in another order.
const tolerance = 1e-9

// recordedRun is a run of the original simulator with ties broken by job ID.
type recordedRun struct {
	Config      string          `json:"config"`
	Seed        int             `json:"seed"`
	Scheduler   string          `json:"scheduler"`
	MeanJCT     float64         `json:"avg_jct"`
	Makespan    float64         `json:"makespan"`
	MeanReward  float64         `json:"avg_reward"`
	Slots       int             `json:"num_ts"`
	Allocations string          `json:"alloc_sha256"`
	JCTs        map[int]float64 `json:"jcts"`
	Rewards     []float64       `json:"rewards"`
}

var recordedConfigs = []string{
	"default_google", "default_uniform", "default_poisson", "default_cleanspeed", "small_google", "small_poisson",
	"small_analytic", "small_workeronly", "small_epocherr", "small_cleanspeed", "template_google", "template_uniform",
	"testbed_google",
}

// With all quirks, every run of the original is reproduced: allocations and rewards of every slot and completions of
// every job. No run is below the lower bound.
func TestRecordedRuns(t *testing.T) {
	p := readPublished(t)
	for _, config := range recordedConfigs {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			var file struct{ Runs []recordedRun }
			referenceJSON(t, "golden/"+config+".json", &file)
			require.NotEmpty(t, file.Runs)
			require.Len(t, file.Runs, 50)
			if os.Getenv("GRAFT_LONG") == "" {
				file.Runs = slices.DeleteFunc(file.Runs, func(r recordedRun) bool { return r.Seed%2 == 0 })
			}
			results := make([]*elastic.Result, len(file.Runs))
			bounds := make([]elastic.Bound, len(file.Runs))
			errs := parallel.Each(t.Context(), len(file.Runs), 0, func(k int) (err error) {
				s := p.study(t, config, file.Runs[k].Seed)
				if bounds[k], err = elastic.LowerBound(s); err == nil {
					results[k], err = simulate(t, s, file.Runs[k].Scheduler)
				}
				return err
			})
			require.NoError(t, errs.Join())
			for k, run := range file.Runs {
				requireRecorded(t, run, results[k])
				require.LessOrEqual(t, bounds[k].Mean, run.MeanJCT, "%s, seed %d, %s", config, run.Seed, run.Scheduler)
			}
		})
	}
}

func simulate(t *testing.T, s elastic.Study, scheduler string) (*elastic.Result, error) {
	kind, err := schedulers.Named(strings.ToLower(scheduler))
	if err != nil {
		return nil, err
	}
	return s.Run(t.Context(), kind)
}

func requireRecorded(t *testing.T, want recordedRun, got *elastic.Result) {
	name := []any{"%s, seed %d, %s", want.Config, want.Seed, want.Scheduler}
	require.Equal(t, want.Allocations, got.Allocations, name...)
	require.Equal(t, want.Slots, got.Slots, name...)
	require.InDelta(t, want.MeanJCT, got.MeanJCT, tolerance, name...)
	require.InDelta(t, want.Makespan, got.Makespan, tolerance, name...)
	require.InDelta(t, want.MeanReward, got.MeanReward, tolerance, name...)
	require.InDeltaSlice(t, want.Rewards, got.Rewards, tolerance, name...)
	require.Len(t, got.Completions, len(want.JCTs), name...)
	for _, c := range got.Completions {
		require.InDelta(t, want.JCTs[c.ID], c.JCT, tolerance, name...)
	}
}

// The summary of all runs agrees with the files of the runs, so no run is missing above.
func TestRecordedSummary(t *testing.T) {
	var summary map[string]struct {
		Runs map[string]map[int]recordedRun `json:"runs"`
	}
	referenceJSON(t, "golden_table.json", &summary)
	require.ElementsMatch(t, recordedConfigs, slices.Collect(maps.Keys(summary)))
	for _, config := range recordedConfigs {
		var file struct{ Runs []recordedRun }
		referenceJSON(t, "golden/"+config+".json", &file)
		for _, run := range file.Runs {
			line := summary[config].Runs[run.Scheduler][run.Seed]
			require.Equal(t, run.Allocations, line.Allocations, "%s, seed %d, %s", config, run.Seed, run.Scheduler)
			delete(summary[config].Runs[run.Scheduler], run.Seed)
		}
		for scheduler, rest := range summary[config].Runs {
			require.Empty(t, rest, "%s, %s", config, scheduler)
		}
	}
}
