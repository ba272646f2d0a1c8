package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/runner/learn"
)

// rigidLearning writes a trace, and a file of a cluster whose scheduler is learned.
func rigidLearning(t *testing.T, more string) (path, jobs string) {
	t.Helper()
	jobs = filepath.Join(t.TempDir(), "jobs.csv")
	done(t, "trace", "generate", jobs, "--jobs", "400", "--days", "2", "--nodes", "2", "--vcs", "1", "--load", "1.5",
		"--seed", "3")
	return jobFile(t, "[cluster]\nnodes = 2\n[workload]\ntraces = ["+quoted(jobs)+"]\n[learn]\njobs = 40\n"+
		"train_count = 5\nvalidation_count = 2\nimitation_workloads = 3\nrounds = 2\nenvs = 2\nhidden = 8\n[run]\n"+
		"seeds = 2\n"+more), jobs
}

func quoted(text string) string { return `"` + text + `"` }

// A scheduler is learned from the first jobs of a trace, with growth and fixed jobs, and runs on later jobs. Its
// policies are simulated one by one or, if the cluster has random draws, in turn.
func TestASchedulerOfAClusterIsLearned(t *testing.T) {
	path, jobs := rigidLearning(t, "[resizing]\nshares = [0.5]\n[growth]\n"+
		"curves = \"../scenarios/growing/curves.json\"\nends = \"accuracy\"\n")
	folder := filepath.Join(t.TempDir(), "learned")
	require.Contains(t, done(t, "config", "check", path, "--set", `schedule.schedulers=["offers"]`).stdout, "ok: ")
	set := []string{"--set", `schedule.schedulers=["offers"]`}
	var r learn.SchedulerResult
	require.NoError(t, json.Unmarshal([]byte(done(t, append([]string{"learn", path, "--folder", folder, "--json"},
		set...)...).stdout), &r))
	require.Len(t, r.Outcome.Seeds, 2)
	require.Equal(t, "s", r.Outcome.Unit)
	for _, name := range []string{"fifo", "tiresias", "fair", "offers", "srsf"} {
		require.Positive(t, r.Outcome.Baselines[name], name)
	}
	require.Regexp(t, `'graft cluster run --from \d+' compares them on later jobs`, r.Outcome.Remark)
	require.Contains(t, done(t, "report", folder).stdout, "compares them on later jobs")

	from := strings.Fields(strings.SplitAfter(r.Outcome.Remark, "--from ")[1])[0]
	later := []string{"cluster", "run", "--trace", jobs, "--nodes", "2", "--scheduler", "offers," + folder, "--out",
		filepath.Join(t.TempDir(), "run")}
	text := done(t, append(later, "--from", strings.Trim(from, "'"))...).stdout
	require.Regexp(t, `(?s)\nlearned, seed 1 +[0-9.]+ .*\nlearned, seed 2 +[0-9.]+ `, text)
	require.NotContains(t, text, "was trained on the trace")
	require.Contains(t, text, "was trained on another cluster: growth was true and is now false")

	later[len(later)-1] = filepath.Join(t.TempDir(), "all")
	text = done(t, append(later, "--set", "resizing.shares=[0.5]", "--set", "schedule.seeds=2")...).stdout
	require.Contains(t, text, "was trained on the trace")
	require.Contains(t, text, "learned has 2 learned policies; simulations with different seeds use them in turn.")
	require.Regexp(t, `(?s)\nlearned, seed 0 +[0-9.]+ .*\nlearned, seed 1 +[0-9.]+ `, text)

	one := filepath.Join(folder, "schedulers", "seed-0002.safetensors")
	require.Regexp(t, `\nseed-0002 +[0-9.]+ `, done(t, "cluster", "run", "--trace", jobs, "--nodes", "2", "--scheduler",
		one, "--out", filepath.Join(t.TempDir(), "one")).stdout)
}

// Files from which nothing can be learned are refused, and so are schedulers of other simulators.
func TestWhatAClusterCannotLearn(t *testing.T) {
	path, jobs := rigidLearning(t, "")
	folder := filepath.Join(t.TempDir(), "learned")
	refused := func(says string, set ...string) {
		t.Helper()
		args := []string{"learn", path, "--folder", folder}
		for _, s := range set {
			args = append(args, "--set", s)
		}
		fails(t, failure.Configuration, says, args...)
		fails(t, failure.Configuration, says, append([]string{"config", "check", path}, args[4:]...)...)
	}
	refused("expected more than learn.train_count, which is 300; lower learn.jobs or learn.train_count",
		"learn.train_count=300")
	refused("in which jobs must wait; expected more than", "cluster.nodes=500")
	refused(`unknown teacher "tiresias"; expected one of: fair, offers, srsf; "best" and "none" are also valid`,
		`learn.teacher="tiresias"`)
	refused("jobs is 1; must be from 2 to", "learn.jobs=1")

	elastic := filepath.Join(t.TempDir(), "elastic")
	done(t, "learn", schedulerFile(t, "[learn]\nimitation_workloads = 1\nrounds = 1\nenvs = 2\n[run]\nseeds = 1\n"),
		"--folder", elastic)
	fails(t, failure.Configuration, "does not contain a learned scheduler for the jobs of a cluster", "cluster", "run",
		"--trace", jobs, "--nodes", "2", "--scheduler", elastic, "--out", filepath.Join(t.TempDir(), "run"))
	fails(t, failure.Configuration, "expected the run folder of a completed 'graft learn'", "cluster", "run",
		"--trace", jobs, "--nodes", "2", "--scheduler", t.TempDir(), "--out", filepath.Join(t.TempDir(), "run"))
}

// A completed or unfinished run is not resumed with another trace. Numbers of the report do not depend on arrival
// factors, and jobs that cannot run are counted.
func TestLearningFromOtherJobsStartsAgain(t *testing.T) {
	path, jobs := rigidLearning(t, "")
	folder := filepath.Join(t.TempDir(), "learned")
	done(t, "learn", path, "--folder", folder)
	done(t, "learn", path, "--folder", folder, "--resume")
	text := contents(t, jobs)
	lines := strings.SplitAfter(text, "\n")
	write(t, jobs, strings.Join(append(lines[:5:5], lines[6:]...), ""))
	fails(t, failure.Configuration, "has changed", "learn", path, "--folder", folder, "--resume")

	remark := func(set ...string) string {
		args := []string{"learn", path, "--folder", filepath.Join(t.TempDir(), "other"), "--json"}
		var r learn.SchedulerResult
		for _, s := range set {
			args = append(args, "--set", s)
		}
		require.NoError(t, json.Unmarshal([]byte(done(t, args...).stdout), &r))
		return r.Outcome.Remark
	}
	require.Equal(t, remark(), remark("schedule.arrival_factors=[1, 4]"))
	write(t, jobs, text)
	require.NotContains(t, remark(), "cannot run")
	require.Contains(t, remark("cluster.gpus_per_node=2", "learn.train_count=3", "learn.validation_count=1"),
		"Jobs that cannot run were left out: ")
}

// A learned scheduler has differences from the baseline if the cluster has sections without random draws, and gives
// timelines of jobs.
func TestLearnedSchedulersAreCompared(t *testing.T) {
	path, jobs := rigidLearning(t, "")
	folder := filepath.Join(t.TempDir(), "learned")
	done(t, "learn", path, "--folder", folder)
	outages := filepath.Join(t.TempDir(), "outages.csv")
	write(t, outages, "node,from [s],to [s]\n0,50000,60000\n")
	text := done(t, "cluster", "run", "--trace", jobs, "--nodes", "2", "--scheduler", "offers,fair,"+folder,
		"--failures", outages, "--out", filepath.Join(t.TempDir(), "run")).stdout
	require.Regexp(t, `\nlearned, seed 2 .* [+-]\d+\.\d \[.*\] +[<0-9.]+ *\n`, text)
	for name, other := range map[string]string{"learned": folder, "offers": "offers"} {
		twin := filepath.Join(t.TempDir(), name+".safetensors")
		write(t, twin, contents(t, filepath.Join(folder, "scheduler.safetensors")))
		refused := graft("cluster", "run", "--trace", jobs, "--nodes", "2", "--scheduler", twin+","+other)
		require.NotEqual(t, failure.Done, refused.code)
		require.Contains(t, refused.stderr, "two schedulers have the name "+name+"; rename")
	}
	both := filepath.Join(t.TempDir(), "both")
	done(t, "learn", path, "--folder", both, "--set", `workload.traces=["`+jobs+`", "`+copied(t, jobs)+`"]`)
	require.Contains(t, done(t, "cluster", "run", "--trace", jobs, "--nodes", "2", "--scheduler", both, "--from",
		"170000", "--out", filepath.Join(t.TempDir(), "run")).stdout, "was trained on the trace")
	id := strings.SplitN(strings.Split(contents(t, jobs), "\n")[200], ",", 2)[0]
	require.Contains(t, done(t, "cluster", "timeline", "--trace", jobs, "--nodes", "2", "--scheduler", folder, "--job",
		id).stdout, "seconds,")
}

// copied returns the path of a copy of a trace with other contents.
func copied(t *testing.T, jobs string) string {
	path := filepath.Join(t.TempDir(), "copy.csv")
	write(t, path, contents(t, jobs)+"\n")
	return path
}
