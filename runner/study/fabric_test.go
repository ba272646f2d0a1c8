package study_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/cluster/fabric/world"
	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/files"
	"graft/runner/app"
	simulations "graft/runner/study"
	"graft/runner/study/studytest"
	"graft/runner/worktest"
)

// smallFabric is a cluster of eight servers under two loads.
const smallFabric = `[fabric]
bandwidth = 1e10
size = [2, 2, 2]
[graphs]
models = ["ConvNet", "CIFARResNet20"]
[demand]
jobs = 30
[vary]
loads = [0.5, 2]
`

func fabricFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cluster.toml")
	require.NoError(t, os.WriteFile(path, []byte(smallFabric), 0o600))
	return path
}

// runFabric simulates the small cluster into a folder.
func runFabric(t *testing.T, folder string, o app.FolderOptions, set ...string) (*study.Outcome, error) {
	t.Helper()
	path := fabricFile(t)
	f := studytest.Read(t, "fabric", path, append(set, "run.folder="+config.Quote(folder))...)
	return simulations.Run(t.Context(), worktest.Env(files.OS{}), worlds.Named("fabric"), f, path, o)
}

func TestFabricRunsSurviveFaults(t *testing.T) {
	studytest.Survives(t, "fabric", fabricFile(t), "demand.jobs=6", "demand.test_count=2",
		"schedule.schedulers=['exact', 'best-constant', 'random']")
}

func TestFabricRunsResume(t *testing.T) {
	studytest.Resumes(t, 20, "fabric", fabricFile(t), "demand.jobs=6", "demand.test_count=2", "vary.loads=[2.0]",
		"schedule.ablate=true", "schedule.schedulers=['best-constant', 'random', 'exact']")
}

// The same file gives the same bytes with one worker and with four, and a run with other keys is not resumed.
func TestFabricRunsAreTheSame(t *testing.T) {
	set := []string{"demand.jobs=15", "schedule.ablate=true", "schedule.seeds=2",
		"schedule.schedulers=['best-constant', 'random', 'thrifty', 'exact']"}
	first, second := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	_, err := runFabric(t, first, app.FolderOptions{}, append(set, "schedule.workers=4")...)
	require.NoError(t, err)
	_, err = runFabric(t, second, app.FolderOptions{}, append(set, "schedule.workers=1")...)
	require.NoError(t, err)
	tables := func(path string) bool {
		return filepath.Ext(path) == ".csv" || filepath.Base(path) == "outcome.json"
	}
	whole := worktest.Contents(t, first, tables)
	require.Equal(t, whole, worktest.Contents(t, second, tables))
	require.Len(t, whole, 3+2*5*5+4, "outcome, cells, parts, jobs of each cell, spans of the first episode")
	_, err = runFabric(t, second, app.FolderOptions{Resume: true}, append(set, "demand.jobs=31")...)
	require.ErrorContains(t, err, "demand.jobs")
}

// standingOf returns the standing of a scheduler by blocked jobs.
func standingOf(t *testing.T, o *study.Outcome, point, name string) *study.Standing {
	t.Helper()
	r := o.Ranking(point, "blocked_share")
	require.NotNil(t, r)
	k := slices.IndexFunc(r.Standings, func(s study.Standing) bool { return s.Scheduler == name })
	require.GreaterOrEqual(t, k, 0)
	return &r.Standings[k]
}

// No scheduler blocks fewer jobs than the exact search, and the exact search blocks at least the jobs that are
// infeasible on an empty cluster.
func TestNoSchedulerBeatsTheExactSearch(t *testing.T) {
	o, err := runFabric(t, filepath.Join(t.TempDir(), "run"), app.FolderOptions{}, "demand.jobs=15",
		"vary.networks=['ramp','tree 2x4']", "schedule.schedulers=['thrifty','exact','best-constant','quickest']")
	require.NoError(t, err)
	require.Len(t, o.Points, 4)
	for k, p := range o.Points {
		exact, floor := standingOf(t, o, p.Name, "exact"), o.References[k]
		require.Equal(t, p.Name, floor.Point)
		for _, s := range o.Ranking(p.Name, "blocked_share").Standings {
			for k, row := range s.Values {
				require.LessOrEqual(t, float64(exact.Values[k][0]), float64(row[0])+1e-9, "%s, episode %d",
					s.Scheduler, k)
			}
		}
		for k, v := range floor.Values {
			require.LessOrEqual(t, float64(v), float64(exact.Values[k][0])+1e-9, "episode %d", k)
		}
	}
}

// Shares are consistent, schedulers get the same jobs, and no constant degree blocks fewer jobs than the best one.
func TestFiguresOfFabrics(t *testing.T) {
	constants := []string{"constant-1", "constant-2", "constant-4", "constant-8"}
	o, err := runFabric(t, filepath.Join(t.TempDir(), "run"), app.FolderOptions{}, "schedule.ablate=true",
		"schedule.schedulers="+config.QuoteList(append([]string{"best-constant", "thrifty", "random"}, constants...)))
	require.NoError(t, err)
	require.InDelta(t, 8, o.Facts["servers"], 0)
	for _, p := range o.Points {
		blocked := map[string]float64{}
		for _, s := range o.SummariesAt(p.Name) {
			blocked[s.Scheduler] = float64(s.Values["blocked_share"])
			checkParts(t, o, &s)
			held, busy := s.Values["held_share"], s.Values["busy_share"]
			require.True(t, 0 <= busy && busy <= held && held <= 1+1e-9, "%s: %g of %g", s.Scheduler, busy, held)
			require.InDelta(t, blocked[s.Scheduler], *standingOf(t, o, p.Name, s.Scheduler).Mean, 1e-9)
		}
		for _, name := range constants {
			require.LessOrEqual(t, blocked[world.BestConstant], blocked[name], name)
		}
		checkChosen(t, o, p.Name, blocked)
	}
	first := func(point string) study.Number { return o.SummariesAt(point)[0].Values["blocked_share"] }
	require.LessOrEqual(t, first("load 0.5"), first("load 2"), "more load blocks no fewer")
	require.Len(t, o.Ablation, len(fabric.Quirks()))
	changed := 0
	for _, e := range o.Ablation {
		require.Equal(t, []string{"load 0.5", world.BestConstant}, []string{e.Point, e.Scheduler})
		require.InDelta(t, float64(e.With["blocked_share"]-e.Without["blocked_share"]),
			float64(e.Difference.Mean), 1e-12)
		changed += e.Changed
	}
	require.Positive(t, changed)
}

// checkParts requires that each job of a scheduler starts or is blocked.
func checkParts(t *testing.T, o *study.Outcome, s *study.Summary) {
	t.Helper()
	sums := map[string]float64{}
	for _, p := range s.Parts {
		require.False(t, math.IsNaN(float64(p.Values["jobs"])))
		sums[p.Group] += float64(p.Values["jobs"])
	}
	require.InDelta(t, o.Jobs, sums["cause"]+sums["degree"], 0, "%s: each job starts or is blocked", s.Scheduler)
	require.InDelta(t, sums["degree"], sums["degree of ConvNet"]+sums["degree of CIFARResNet20"], 0)
	require.InDelta(t, float64(s.Values["blocked_share"]), sums["cause"]/float64(o.Jobs), 1e-12)
}

// checkChosen requires that the best constant degree is the same in all episodes, and blocks the same share as its
// constant scheduler.
func checkChosen(t *testing.T, o *study.Outcome, point string, blocked map[string]float64) {
	t.Helper()
	chosen := map[string]bool{}
	for _, c := range o.Cells {
		if c.Point == point && c.Scheduler == world.BestConstant {
			chosen[c.Facts["degree"]] = true
		}
	}
	require.Len(t, chosen, 1)
	for degree := range chosen {
		require.InDelta(t, blocked["constant-"+degree], blocked[world.BestConstant], 0)
		_, err := strconv.Atoi(degree)
		require.NoError(t, err)
		require.Contains(t, o.Remarks[0], "degree "+degree+" at "+point)
	}
}
