package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/cluster/live"
	"graft/cluster/study"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	runlive "graft/runner/live"
	"graft/trainer"
)

const liveJob = `[data]
synthetic = {train = 120, test = 60, size = 16, classes = 3}
[time]
budget = "120ms"
profile = "round-gpu"
[train]
batch = 32
[adapt]
decider = "script"
actions = ["widen:conv2:40"]
`

// liveCluster writes a cluster of one node and its live jobs. Under the scheduler fair, one job grows and shrinks.
func liveCluster(t *testing.T, more string) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "job.toml", liveJob)
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus\n7,0,1000,8\n8,300,200,4\n9,400,100,8\n")
	write(t, "cluster.toml", "[cluster]\nnodes = 1\n[workload]\ntraces = [\"jobs.csv\"]\n[schedule]\n"+
		"schedulers = [\"fifo\", \"fair\"]\n"+more)
}

const liveSection = "[live]\njob = \"job.toml\"\njobs = [\"7\", \"9\"]\n"

func readStudy(t *testing.T, folder string) *study.Outcome {
	t.Helper()
	o := &study.Outcome{}
	require.NoError(t, results.ReadOutcome(files.OS{}, folder, o))
	return o
}

// Live jobs do not change the simulation. Each ends as graft train does on the same timeline.
func TestLiveJobs(t *testing.T) {
	liveCluster(t, liveSection)
	write(t, "plain.toml", strings.ReplaceAll(contents(t, "cluster.toml"), liveSection, ""))
	done(t, "cluster", "run", "plain.toml", "--out", "plain", "--quiet")
	shown := done(t, "cluster", "run", "cluster.toml", "--out", "run", "--quiet").stdout
	require.Contains(t, shown, "Live jobs")
	o := readStudy(t, "run")
	require.Equal(t, contents(t, "plain/cells.csv"), contents(t, "run/cells.csv"),
		"the cluster does not depend on live jobs")
	require.Equal(t, contents(t, "plain/fair/jobs.csv"), contents(t, "run/fair/jobs.csv"))

	require.Len(t, o.Live.Jobs, 4)
	changed := o.Live.Jobs[2]
	require.Equal(t, []string{"fair", "7"}, []string{changed.Scheduler, changed.Job})
	require.Positive(t, changed.Changes, "fair shrinks the job for others")
	require.Zero(t, o.Live.Jobs[0].Changes, "fifo gives a job what it requests")

	printed := done(t, "cluster", "timeline", "cluster.toml", "--scheduler", "fair", "--job", "7", "--budget", "0.12",
		"--out", "seven.csv").stderr
	require.Contains(t, printed, fmt.Sprintf("time.devices = %d", changed.Devices))
	done(t, "train", "job.toml", "--quiet", "--folder", "alone", "--set", "time.timeline=seven.csv", "--set",
		fmt.Sprintf("time.devices=%d", changed.Devices))
	require.Equal(t, jobDigest(t, "alone"),
		jobDigest(t, filepath.Join("run", "live", "trials", changed.Timeline+"-adaptive", "seed-1")))

	require.Contains(t, done(t, "report", "run", "--all").stdout, "Each live job")
}

func jobDigest(t *testing.T, folder string) string {
	t.Helper()
	o := &runs.JobOutcome{Outcome: &trainer.Outcome{}}
	require.NoError(t, results.ReadOutcome(files.OS{}, folder, o))
	return o.Digest
}

// A run that stops after the simulations, or between trainings, continues to the same bytes.
func TestLiveJobsResume(t *testing.T) {
	liveCluster(t, liveSection)
	done(t, "cluster", "run", "cluster.toml", "--out", "whole", "--quiet")
	want := contents(t, "whole/outcome.json")
	cases := [][]string{{"outcome.json", "live/outcome.json", "live/trials/timeline-1-never"}}
	if os.Getenv("GRAFT_LONG") != "" {
		cases = append(cases, []string{"outcome.json", "live"})
	}
	for _, gone := range cases {
		for _, name := range gone {
			require.NoError(t, os.RemoveAll(filepath.Join("whole", name)))
		}
		done(t, "cluster", "run", "cluster.toml", "--out", "whole", "--quiet", "--resume")
		require.Equal(t, want, contents(t, "whole/outcome.json"), gone)
	}
}

func TestFaultyLiveJobs(t *testing.T) {
	for section, says := range map[string]string{
		"[live]\njobs = [\"7\"]\n":                                  "job is missing, but other keys are set",
		"[live]\njob = \"job.toml\"\njobs = [\"7\"]\ncount = 2\n":   "jobs has 1 IDs and count is 2; set one of them",
		"[live]\njob = \"job.toml\"\njobs = [\"70\"]\n":             "no trace has the job 70",
		"[live]\njob = \"wall.toml\"\ncount = 1\n":                  "uses the wall clock",
		"[live]\njob = \"bad.toml\"\ncount = 1\n":                   "unknown key \"bugdet\"",
		"[live]\njob = \"none.toml\"\ncount = 1\nends = \"loss\"\n": "has no decider, so live jobs would never adapt",
		"[live]\njob = \"job.toml\"\ncount = 1\nmost_work = 3\n":    "most_work is set, but ends is \"budget\"",
		"[live]\njob = \"job.toml\"\ncount = -1\n":                  "count is -1; must not be negative",
	} {
		liveCluster(t, section)
		write(t, "wall.toml", "[time]\nclock = \"wall\"\nbudget = \"1s\"\n")
		write(t, "none.toml", strings.Split(liveJob, "[adapt]")[0])
		write(t, "bad.toml", "[time]\nbugdet = \"1s\"\n")
		got := fails(t, failure.Configuration, says, "cluster", "run", "cluster.toml", "--out", "run")
		require.Empty(t, got.stdout)
		fails(t, failure.Configuration, says, "config", "check", "cluster.toml")
		require.NoDirExists(t, "run")
	}
	liveCluster(t, "[live]\njob = \"lost.toml\"\ncount = 1\n")
	fails(t, failure.Failed, "live.job: read job: open lost.toml", "cluster", "run", "cluster.toml", "--out", "run")
}

// Live jobs that end by their losses change the schedule, and nothing else does.
func TestLiveJobsUntilTheirLosses(t *testing.T) {
	const section = "[live]\njob = \"job.toml\"\njobs = [\"7\"]\nends = \"loss\"\n"
	liveCluster(t, section)
	falling := strings.NewReplacer("train = 120", "noise = 30, train = 1500", "120ms", "100ms")
	write(t, "job.toml", falling.Replace(liveJob))
	write(t, "plain.toml", strings.ReplaceAll(contents(t, "cluster.toml"), section, ""))
	done(t, "cluster", "run", "plain.toml", "--out", "plain", "--quiet")
	shown := done(t, "cluster", "run", "cluster.toml", "--out", "run", "--quiet").stdout
	require.Contains(t, shown, "LIVE COMPLETION [s]")
	require.Contains(t, shown, "Differences between settings")
	o := readStudy(t, "run")
	require.Nil(t, o.Live)
	require.Len(t, o.Cells, 4)
	cell := func(point, scheduler string) study.CellOutcome {
		for _, c := range o.Cells {
			if c.Point == point && c.Scheduler == scheduler {
				return c
			}
		}
		t.Fatalf("no cell %s, %s", point, scheduler)
		return study.CellOutcome{}
	}
	jobs := func(c study.CellOutcome) string { return contents(t, filepath.Join("run", c.Folder, "jobs.csv")) }
	for _, scheduler := range []string{"fifo", "fair"} {
		require.Equal(t, contents(t, filepath.Join("plain", scheduler, "jobs.csv")),
			jobs(cell("live jobs never adapt", scheduler)), "the replay of the trace")
	}
	mean := func(scheduler string) float64 {
		return float64(cell("live jobs adapt", scheduler).Values["jct_mean_s"] -
			cell("live jobs never adapt", scheduler).Values["jct_mean_s"])
	}
	require.Contains(t, jobs(cell("live jobs adapt", "fifo")), ",1.000000,false,")
	require.Zero(t, mean("fifo"), "fifo never changes devices, so the jobs never adapt")
	require.NotZero(t, mean("fair"))
	work := float64(cell("live jobs adapt", "fair").Values["live_work_share"])
	require.True(t, work > 0.1 && work <= 2 && work != 1, "%v", work)

	want := contents(t, "run/outcome.json")
	trainings, err := os.ReadDir("run/live/until-loss")
	require.NoError(t, err)
	forked := 0
	for _, training := range trainings {
		trial := filepath.Join("run/live/until-loss", training.Name(), "trials", "as-given", "seed-1")
		require.NoDirExists(t, filepath.Join(trial, "kept"), "no training will start from it")
		forked += strings.Count(contents(t, filepath.Join(trial, "log.jsonl")), "starting from a kept checkpoint")
	}
	require.GreaterOrEqual(t, forked, 2, "the job that fair changes is not trained again from its start")
	for _, gone := range []string{"outcome.json", "live/until-loss/" + trainings[0].Name()} {
		require.NoError(t, os.RemoveAll(filepath.Join("run", gone)))
	}
	for _, c := range o.Cells {
		require.NoError(t, os.RemoveAll(filepath.Join("run", c.Folder)))
	}
	done(t, "cluster", "run", "cluster.toml", "--out", "run", "--quiet", "--resume", "--set", "schedule.workers=1")
	require.Equal(t, want, contents(t, "run/outcome.json"))
}

// A run does not continue after a change to a file that the job file names.
func TestLiveJobsResumeWithTheSameFiles(t *testing.T) {
	liveCluster(t, liveSection)
	write(t, "profile.toml", "name = \"p\"\n[costs.step]\nlayer_seconds = 0.001\n[costs.batch]\n"+
		"layer_seconds = 0.001\n")
	write(t, "job.toml", strings.Replace(liveJob, `"round-gpu"`, `"profile.toml"`, 1))
	args := []string{"cluster", "run", "cluster.toml", "--out", "run", "--quiet", "--scheduler", "fifo"}
	done(t, args...)
	done(t, append(args, "--resume")...)
	write(t, "profile.toml", "name = \"p\"\n[costs.step]\nlayer_seconds = 0.002\n[costs.batch]\n"+
		"layer_seconds = 0.001\n")
	fails(t, failure.Configuration, "", append(args, "--resume")...)
}

// A live job that reaches its time limit keeps its work so far, with and without adaptation, and misses its loss.
func TestLiveJobsUntilTheirLimits(t *testing.T) {
	liveCluster(t, liveSection+"ends = \"loss\"\n")
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus,limit [s]\n7,0,1000,8,500\n8,300,200,4,9999\n"+
		"9,400,100,8,9999\n")
	done(t, "cluster", "run", "cluster.toml", "--out", "run", "--quiet", "--scheduler", "fifo", "--set",
		"cluster.enforce_limits=true", "--set", "live.most_work=100")
	for _, c := range readStudy(t, "run").Cells {
		require.InDelta(t, (0.5+1)/2, float64(c.Values["live_work_share"]), 0.01, c.Point)
		require.InDelta(t, 1, float64(c.Values["live_missed_jobs"]), 0, c.Point)
	}
}

// Devices that change after the most work of a live job, in the second in which it ends, do not fail its training.
func TestLiveJobsWhoseDevicesChangeAtTheirEnd(t *testing.T) {
	liveCluster(t, "")
	env := &app.Env{Files: files.OS{}, Now: time.Now, Log: zap.NewNop(), Random: rand.Reader}
	trainer := runlive.NewTrainer(env, live.Options{Job: "job.toml", Seeds: 1, MostWork: 1}, "run")
	work := func(changes ...live.Change) live.Work {
		w, err := trainer.Work(t.Context(), live.Timeline{Budget: 100, First: 8, Changes: changes}, 0)
		require.NoError(t, err)
		return w
	}
	want := work(live.Change{At: 50, Devices: 4})
	got := work(live.Change{At: 50, Devices: 4}, live.Change{At: 100.5, Devices: 8, Up: true})
	require.Equal(t, want, got)
}
