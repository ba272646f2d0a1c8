package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/learn"
	"graft/report/plot"
	"graft/report/runs"
	"graft/results"
)

// writeElasticLearning writes the run folder of schedulers that learned from two lessons and six rounds. The second
// seed leaves jobs unfinished at first and ends early.
func writeElasticLearning(t testing.TB, dir string, ended bool) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[learn]\nteacher = \"peak\"\n" +
		"imitation_workloads = 2\nmethod = \"ppo\"\n[run]\nseed = 1\n"},
		results.Manifest{Kind: runs.ElasticLearningKind.Name, Created: when, Graft: "v0.1.0",
			Seed: 1, ConfigSHA256: strings.Repeat("ab", 32)})
	require.NoError(t, err)
	write(t, filepath.Join(dir, runs.ElasticSeedFile(1)), "weights")
	folder, err := learn.OpenFolder(files.OS{}, run, []results.Column{{Name: "validation_jct"}, {Name: "entropy"}})
	require.NoError(t, err)
	for seed := range uint64(3) {
		for step := 1; step <= 8-int(seed%2)*2; step++ {
			values := []float64{math.NaN(), math.NaN()}
			if step%2 == 0 {
				values[0] = 30 - 2*float64(step) - float64(seed)
			}
			if step > 2 {
				values[1] = 1.5 / float64(step-1)
			}
			if seed == 1 && step == 2 {
				values[0] = math.Inf(1)
			}
			require.NoError(t, folder.Row(learn.Row{Seed: seed + 1, Step: step, Values: values}))
		}
	}
	if ended {
		require.NoError(t, run.WriteOutcome(&runs.ElasticLearningOutcome{Teacher: "peak", Method: "ppo",
			Scaling: "none", Train: 4, Choose: 2, Bound: 9.5, Best: 3, Seeds: []runs.ElasticSeed{{Seed: 1, Steps: 8,
				JCT: 14, BestAt: 8}, {Seed: 2, Steps: 6, JCT: 17, BestAt: 6}, {Seed: 3, Steps: 8, JCT: 12, BestAt: 8}},
			Baselines: map[string]float64{"drf": 18, "fifo": 33, "optimus": 21, "peak": 24, "srtf": 15, "tetris": 18}}))
	}
	require.NoError(t, run.Close())
}

// writeElasticComparison writes the run folder of a comparison of schedulers; one of them left jobs unfinished.
func writeElasticComparison(t testing.TB, dir string) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{},
		results.Manifest{Kind: runs.ElasticComparisonKind.Name, Created: when, Graft: "v0.1.0",
			ConfigSHA256: strings.Repeat("ab", 32)})
	require.NoError(t, err)
	_, err = run.Stream(runs.ElasticComparisonStream,
		[]results.Column{{Name: "scheduler", Kind: results.String}, {Name: "jct_mean"}})
	require.NoError(t, err)
	c := &runs.ElasticComparison{Scaling: "none", Slot: 1200,
		Ranking: runs.Ranking{Against: "optimus", Bounds: []float64{8, 9, 10, 9}}}
	for name, times := range map[string][][]float64{
		"drf": {{16}, {17}, {19}, {17}}, "learned": {{11, 12}, {13, 14}, {14, 13}, {12, 12}},
		"srtf": {{12}, {13}, {15}, {13}}, "optimus": {{19}, {22}, {24}, {20}},
		"fifo": {{31}, {runs.JobsLeft}, {29}, {30}},
	} {
		c.Standings = append(c.Standings, runs.NewElasticStanding(name, len(times[0])-1, times, c.Bounds))
	}
	c.Rank()
	require.NoError(t, run.WriteOutcome(c))
	require.NoError(t, run.Close())
}

func TestFiguresOfSchedulersThatLearn(t *testing.T) {
	dir := t.TempDir()
	learned, open, compared := filepath.Join(dir, "learned"), filepath.Join(dir, "open"), filepath.Join(dir, "compared")
	writeElasticLearning(t, learned, true)
	writeElasticLearning(t, open, false)
	writeElasticComparison(t, compared)
	readable(t, plot.Given{}, learned, open, compared)
	drawn, _ := plotted(t, t.TempDir(), learned, open, compared)
	require.Len(t, drawn, 3)
	goldenFigures(t, drawn, "learned-learning.svg", "compared-schedulers.svg")
	containsAll(t, drawn["learned-learning.svg"], "peak, teacher", ">drf; tetris<", "rounds of ppo",
		"Gaps: a", "optimus at 21, fifo at 33")
	require.NotContains(t, drawn["open-learning.svg"], "lower bound", "the outcome says it")
	containsAll(t, drawn["compared-schedulers.svg"], ">learned  1<", ">srtf  1<", ">drf  3<", ">fifo, incomplete<")
	for path, title := range map[string]string{learned: "Learning of learned", compared: "Schedulers of compared"} {
		page := filepath.Join(t.TempDir(), "page.html")
		done(t, "report", path, "--html", page)
		require.Contains(t, contents(t, page), title)
	}
}
