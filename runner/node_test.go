package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	nodes "graft/cluster/execute"
	"graft/cluster/node/schedulers"
	"graft/cluster/node/world"
	"graft/cluster/study"
	"graft/cluster/trace/tracetest"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/plot"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/node"
	simulations "graft/runner/study"
)

// someTasks has eight tasks, of two kinds and without a kind, on two GPUs.
const someTasks = `[machine]
gpus = 2
memory_mb = 1000
stop = "checkpoint"
cores = "whole"
switch = "500ms"
[schedule]
schedulers = ["best-fit", "round-robin", "sjf"]
quantum = "4s"
[[task]]
name = "train"
kind = "cnn"
cores = 60
memory_mb = 400
duration = "9s"
count = 3
[[task]]
name = "serve"
kind = "lstm"
cores = 30
memory_mb = 300
duration = "3s"
arrival = "2s"
count = 4
[[task]]
name = "merge, last"
cores = 100
memory_mb = 900
duration = "2s"
after = ["train"]
`

// writeNode writes the run folder of a simulation of tasks in three workloads. With open, the run was stopped at once.
func writeNode(t testing.TB, dir string, open bool) {
	t.Helper()
	c, err := node.Read(files.OS{}, "", []string{"machine.gpus=2", "tasks.min_tasks=6",
		"tasks.max_tasks=8", "tasks.test_count=3", `schedule.schedulers=["best-fit", "round-robin", "sjf"]`,
		"run.folder=" + config.Quote(dir)})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if open {
		cancel()
	}
	env := &app.Env{Files: files.OS{}, Now: func() time.Time { return when }, Version: "v0.1.0", Host: "node",
		Args: []string{"graft", "node", "simulate"}, Log: zap.NewNop()}
	_, err = simulations.Run(ctx, env, world.World(), c, "", app.FolderOptions{})
	require.Equal(t, open, err != nil, err)
	path := filepath.Join(dir, runs.ManifestFile) // a new key would change the digest
	write(t, path, strings.ReplaceAll(contents(t, path), config.Digest(c), strings.Repeat("78", 32)))
}

func TestNodeSimulate(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "tasks.toml", someTasks)
	text := done(t, "node", "simulate", "tasks.toml").stdout
	golden(t, "node/simulate.txt", text)
	golden(t, "node/spans.csv", contents(t, "runs/tasks/round-robin/spans.csv"))
	golden(t, "node/jobs.csv", contents(t, "runs/tasks/round-robin/jobs.csv"))
	golden(t, "node/series.csv", contents(t, "runs/tasks/round-robin/series.csv"))
	o := object[study.Outcome](t,
		"node simulate tasks.toml --out all --scheduler "+strings.Join(nodeSchedulers(), ","))
	require.Len(t, o.Cells, len(nodeSchedulers()))
	require.Len(t, o.References, 2, "the lower bound, and the best of all schedules")
	require.True(t, o.References[0].Bound)
	require.False(t, o.References[1].Bound)
	for _, c := range o.Cells {
		require.EqualValues(t, 1, c.Values["completed_share"])
		require.GreaterOrEqual(t, c.Values["jct_mean_s"], o.References[0].Values[0], c.Scheduler)
	}
	fails(t, failure.Usage, "set --force to move the existing", "node", "simulate", "tasks.toml")
	done(t, "node", "simulate", "tasks.toml", "--force")
	require.Contains(t, done(t, "config", "check", "tasks.toml").stdout,
		"8 tasks on 2 GPUs under best-fit, round-robin, sjf")
}

func nodeSchedulers() []string { return schedulers.Kinds().Names() }

// A killed run resumes to the same bytes, whatever the kill left.
func TestNodeSimulateGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "tasks.toml", someTasks)
	text := done(t, "node", "simulate", "tasks.toml").stdout
	whole := digests(t, "runs/tasks")
	for _, left := range []int{0, 10, 200} { // remaining bytes of the tables
		require.NoError(t, os.Remove("runs/tasks/outcome.json"))
		require.NoError(t, os.Truncate("runs/tasks/cells.csv", int64(left)))
		require.NoError(t, os.Truncate("runs/tasks/sjf/jobs.csv", int64(left)))
		require.NoError(t, os.RemoveAll("runs/tasks/best-fit"))
		require.Equal(t, text, done(t, "node", "simulate", "tasks.toml", "--resume").stdout, "%d bytes", left)
		require.Equal(t, whole, digests(t, "runs/tasks"), "%d bytes", left)
	}
	require.Equal(t, text, done(t, "node", "simulate", "tasks.toml", "--resume").stdout, "it is read")
	write(t, "tasks.toml", strings.Replace(someTasks, "9s", "8s", 1))
	fails(t, failure.Configuration, "task", "node", "simulate", "tasks.toml", "--resume")
}

// A simulation refuses a task without a duration. The same task can run, and a check accepts it if it has a command.
func TestTasksWithoutDurations(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "tasks.toml", "[machine]\n[[task]]\ncommand = [\"true\"]\n")
	says := "task task1 has no duration, which a simulation needs; set duration to its run time alone on a GPU"
	fails(t, failure.Configuration, says+", or run the tasks with 'graft node run'", "node", "simulate", "tasks.toml")
	require.Contains(t, done(t, "config", "check", "tasks.toml").stdout, "1 task on 4 GPUs")
	require.Contains(t, done(t, "node", "run", "tasks.toml", "--dry-run").stdout, "fcfs")
	write(t, "tasks.toml", "[machine]\n[[task]]\nname = \"a\"\n")
	fails(t, failure.Configuration, "task a has no duration", "config", "check", "tasks.toml")
}

// A simulation whose measured pairs have no effect says so, as a check does.
func TestProfilesWithoutEffect(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "pairs.csv", "model1,dataset1,batchsize1,amp1,model2,dataset2,batchsize2,amp2,speed1,speed2\n"+
		"a,,0,0,a,,0,0,0.5,0.5\n")
	write(t, "tasks.toml", "[machine]\nprofiles = \"pairs.csv\"\n[[task]]\nname = \"a\"\nduration = \"1s\"\n"+
		"count = 2\n")
	const says = "machine.profiles has no effect: each measured pair of tasks requests more than 100%"
	require.Contains(t, done(t, "config", "check", "tasks.toml").stderr, says)
	require.Contains(t, done(t, "node", "simulate", "tasks.toml", "--scheduler", "fcfs").stdout, "Warning: "+says)
}

// The number of parallel simulations changes no byte.
func TestNodeSimulateInParallel(t *testing.T) {
	t.Chdir(t.TempDir())
	var first map[string][32]byte
	for workers := 1; workers <= 4; workers += 3 {
		done(t, "node", "simulate", "--set", "tasks.test_count=4", "--set", "tasks.min_tasks=5", "--set",
			"tasks.max_tasks=9",
			"--out", "run", "--force", "--set", fmt.Sprintf("schedule.workers=%d", workers))
		all := digests(t, "run")
		maps.DeleteFunc(all, func(path string, _ [32]byte) bool {
			return filepath.Dir(path) == "run" && filepath.Base(path) != runs.OutcomeFile &&
				filepath.Base(path) != "cells.csv" && filepath.Base(path) != "parts.csv"
		})
		if first == nil {
			first = all
		}
		require.Len(t, all, 3+(4+2)*len(nodeSchedulers())) // jobs of each workload, spans and series of the first
		require.Equal(t, first, all)
	}
}

// An error of a file is one sentence, and nothing is written.
func TestNodeSimulateFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "profiles.csv", "model1,speed1\nvgg,x\n")
	write(t, "empty.csv", "model1,model2,dataset1,dataset2,batchsize1,batchsize2,amp1,amp2,speed1,speed2\n")
	head := strings.ReplaceAll(contents(t, "empty.csv"), "\n", "") + "\n"
	write(t, "nan.csv", head+"a,b,c,c,1,1,0,0,NaN,0.5\n")
	write(t, "trace.csv", "job_id,gpu_num,submit_time,duration\n1,8,0,5\n")
	before, err := os.ReadDir(".")
	require.NoError(t, err)
	const task = "[[task]]\nname = \"a\"\nduration = \"1s\"\n"
	for name, c := range map[string]struct{ text, says string }{
		"an unknown scheduler":   {"[machine]\n[schedule]\nschedulers = [\"sfj\"]\n", `unknown scheduler "sfj"`},
		"a scheduler of another": {"[machine]\n[schedule]\nschedulers = [\"./none\"]\n", "no such file"},
		"a scheduler twice":      {"[machine]\n[schedule]\nschedulers = [\"fcfs\", \"fcfs\"]\n", "duplicate fcfs"},
		"against what is not there": {"[machine]\n[schedule]\nschedulers = [\"fcfs\"]\nagainst = \"sjf\"\n",
			"against is \"sjf\"; expected one of the schedulers fcfs"},
		"too much memory": {"[machine]\n" + task + "memory_mb = 20000\n",
			"task a needs 20000 MiB of GPU memory and can never run: the largest GPU has 16384"},
		"negative memory": {"[machine]\n" + task + "memory_mb = -1\n",
			"memory is -1; expected at least 0 and at most 1073741824 MiB"},
		"no cores": {"[machine]\n" + task + "cores = -5\n", "cores is -5; expected more than 0 and at most 100"},
		"too many cores": {"[machine]\n" + task + "cores = 101\n", "cores is 101; expected more than 0 and at most " +
			"100"},
		"cores that are no number": {"[machine]\n" + task + "cores = nan\n",
			"cores must be a finite number, got NaN"},
		"memory that is no number": {"[machine]\n" + task + "memory_mb = nan\n", "memory_mb must be a finite number"},
		"a negative duration": {"[machine]\n[[task]]\nname = \"a\"\nduration = \"-1s\"\n",
			"work is -1s; expected at least 0s and at most 876000h0m0s"},
		"a negative arrival": {"[machine]\n" + task + "arrival = \"-1s\"\n", "arrival is -1s"},
		"a late arrival": {"[machine]\n" + task + "arrival = \"876001h\"\n",
			"arrival is 876001h0m0s; expected at least 0s and at most 876000h0m0s"},
		"a negative count":  {"[machine]\n" + task + "count = -1\n", "task a: count is -1"},
		"a negative weight": {"[machine]\n" + task + "weight = -1.0\n", "weight is -1; expected a positive number"},
		"negative tickets":  {"[machine]\n" + task + "tickets = -1\n", "tickets is -1; expected a positive number"},
		"a cycle": {"[machine]\n" + task + "after = [\"b\"]\n[[task]]\nname = \"b\"\nduration = \"1s\"\n" +
			"after = [\"a\"]\n", "dependency cycle: a after b after a"},
		"a task after itself": {"[machine]\n" + task + "after = [\"a\"]\n", "a after a"},
		"a task after nothing": {"[machine]\n" + task + "after = [\"c\"]\n",
			`unknown task "c" in the key "after"; expected one of: [a]`},
		"one name twice": {"[machine]\n" + task + task, "task a: duplicate name"},
		"a name of a count": {"[machine]\n" + task + "count = 2\n[[task]]\nname = \"a-2\"\nduration = \"1s\"\n",
			"task a-2: duplicate name"},
		"a missing trace": {"[machine]\n[workload]\ntraces = [\"none.csv\"]\n", "no such file"},
		"a trace of large jobs": {"[machine]\n[workload]\ntraces = [\"trace.csv\"]\n",
			"trace.csv has no jobs with one GPU"},
		"tasks of two sources": {"[machine]\n[workload]\ntraces = [\"trace.csv\"]\n" + task,
			"traces and [[task]] are both set"},
		"several traces": {"[machine]\n[workload]\ntraces = [\"trace.csv\", \"trace.csv\"]\n",
			"traces has several files"},
		"the old key of a trace":    {"[machine]\n[tasks]\nfrom = \"trace.csv\"\n", "renamed to workload.traces"},
		"missing profiles":          {"[machine]\nprofiles = \"none.csv\"\n", "no such file"},
		"unreadable profiles":       {"[machine]\nprofiles = \"profiles.csv\"\n", "profiles.csv"},
		"profiles of nothing":       {"[machine]\nprofiles = \"empty.csv\"\n", "empty.csv has no measured pair"},
		"rates that are no numbers": {"[machine]\nprofiles = \"nan.csv\"\n", "nan.csv:2"},
		"no GPUs":                   {"[machine]\ngpus = -1\n", "-1 GPUs"},
		"too many GPUs":             {"[machine]\ngpus = 100000\n", "100000 GPUs"},
		"unequal lists": {"[machine]\nmemories_mb = [1.0, 2.0]\nspeeds = [1.0]\n",
			"speeds has 1 values, but memories_mb has 2"},
		"two kinds of memory": {"[machine]\nmemories_mb = [1.0]\ngpus = 2\n",
			"memories_mb is set together with gpus"},
		"memory of no number":     {"[machine]\nmemory_mb = nan\n", "memory_mb must be a finite number"},
		"speeds below zero":       {"[machine]\nmemories_mb = [1.0]\nspeeds = [-1.0]\n", "speed -1"},
		"contention below zero":   {"[machine]\ncontention = -0.1\n", "contention is -0.1; must be from 0 to 10"},
		"contention of no number": {"[machine]\ncontention = nan\n", "contention must be a finite number"},
		"power that falls":        {"[machine]\nfull_watts = 30.0\n", "expected ascending values"},
		"power of no number":      {"[machine]\nempty_watts = nan\n", "empty_watts must be a finite number"},
		"a negative switch":       {"[machine]\nswitch = \"-1s\"\n", "switch is -1s"},
		"more least than most": {"[machine]\n[tasks]\nmin_tasks = 9\nmax_tasks = 8\n",
			"min_tasks is 9 and max_tasks is 8; expected 1 <= min_tasks"},
		"a workload too many": {"[machine]\n[tasks]\ntest_count = -1\n", "test_count is -1"},
		"errors above one":    {"[machine]\n[tasks]\nestimate_error = 1.0\n", "estimate_error is 1"},
		"a quantum of nothing": {"[machine]\n[schedule]\nquantum = \"1us\"\n",
			"quantum is 1µs; must be at least 1ms"},
		"an objective that is none": {"[machine]\n[schedule]\nobjective = \"speed\"\n", "completion"},
		"an unknown key":            {"[machine]\ngpu = 3\n", "gpu"},
		"a scheduler of the study":  {"[machine]\n[schedule]\nschedulers = [\"PPO\"]\n", "PPO"},
		"a simulator that is none":  {"[machine]\ncompat = \"dl2\"\n", "tasks"},
		"a teacher that stops tasks": {"[machine]\n[learn]\nteacher = \"round-robin\"\n",
			"teacher is round-robin, which stops tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), "tasks.toml"), c.text)
			got := fails(t, failure.Configuration, c.says, "node", "simulate", path, "--out", "run", "--quiet")
			require.Empty(t, got.stdout)
			require.Regexp(t, `^graft: read simulations of a machine's tasks: 1 fault\n\n[^\n]*\n`, got.stderr)
		})
	}
	after, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Equal(t, len(before), len(after), "nothing was written")
}

// Figures of simulations and of real tasks equal the stored ones, and appear on pages of reports.
func TestNodeFigures(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "tasks.toml", someTasks)
	done(t, "node", "simulate", "tasks.toml", "--out", "tasks")
	writeNode(t, "several", false)
	writeNode(t, "open", true)
	writeNodeRun(t, "real")
	readable(t, plot.Given{}, "tasks", "several", "open", "real")
	drawn, _ := plotted(t, "figures", "tasks", "several", "open", "real")
	names := slices.Sorted(maps.Keys(drawn))
	require.Equal(t, []string{"real-gantt.svg", "several-completions.svg", "several-energy.svg",
		"several-gantt-best-fit.svg", "several-gantt-round-robin.svg", "several-gantt-sjf.svg",
		"several-parts-kind.svg", "several-schedulers-energy_delay.svg", "several-schedulers-jct_mean.svg",
		"several-series.svg", "tasks-completions.svg", "tasks-energy.svg", "tasks-gantt-best-fit.svg",
		"tasks-gantt-round-robin.svg", "tasks-gantt-sjf.svg", "tasks-parts-kind.svg",
		"tasks-schedulers-energy_delay.svg",
		"tasks-schedulers-jct_mean.svg", "tasks-series.svg"}, names)
	goldenFigures(t, drawn, "real-gantt.svg", "tasks-completions.svg", "tasks-energy.svg",
		"tasks-gantt-round-robin.svg", "several-schedulers-jct_mean.svg", "tasks-series.svg")
	containsAll(t, drawn["tasks-gantt-round-robin.svg"], ">device 1<", ">stopped<", ">cnn<", ">merge, last<")
	containsAll(t, drawn["real-gantt.svg"], ">cpu1<", ">failed<")
	containsAll(t, drawn["tasks-schedulers-jct_mean.svg"], ">lower bound<", ">optimum without stops<")
	require.Contains(t, drawn["several-series.svg"], "Jobs of tasks-1.")
	for path, titles := range map[string][]string{"tasks": {"Completion times of tasks", "Jobs of tasks under sjf",
		"Use of tasks over time", "Energy of tasks by kind", "energy times JCT of tasks", "mean JCT by kind, tasks"},
		"real": {"Tasks of real under backfill"}} {
		done(t, "report", path, "--html", path+".html")
		containsAll(t, contents(t, path+".html"), titles...)
	}
}

// Damaged tables, and outcomes without a scheduler, give errors instead of figures or panics.
func TestNodeFiguresOfDamagedTables(t *testing.T) {
	t.Chdir(t.TempDir())
	const head = "job,group,device,lane,from [s],to [s],end,cores [%],memory [MiB]\n"
	for name, c := range map[string]struct{ file, text, says string }{
		"a column is missing": {"spans.csv", "job,group,device\na,b,0\n", `line 2: column "lane" not found`},
		"a GPU below zero": {"spans.csv", head + "a,b,-1,0,0,1,completed,50,1\n",
			`line 2: column device is "-1"; expected an integer`},
		"a lane far away": {"spans.csv", head + "a,b,0,99999999,0,1,completed,50,1\n", "column lane"},
		"an end before": {"spans.csv", head + "a,b,0,0,2,1,completed,50,1\n",
			`column to [s] is "1"; the end is before the start in column "from [s]"`},
		"a time of no number": {"spans.csv", head + "a,b,0,0,0,NaN,completed,50,1\n",
			`column to [s] is "NaN"; expected a finite number`},
		"a torn row":                     {"spans.csv", head + "a,0\n", "wrong number of fields"},
		"an empty table":                 {"spans.csv", "", "header: "},
		"a completion time of no number": {"jobs.csv", "job,jct [s]\na,x\n", `column jct [s]: "x" is not a number`},
		"a use of no number": {"series.csv", "time [s],cores_used [share],waiting [tasks]\n0,x,1\n",
			`"x" is not a number`},
	} {
		writeNode(t, "run", false)
		write(t, filepath.Join("run/tasks-1/sjf", c.file), c.text)
		drawn, o := plotInto(t, t.TempDir(), "run")
		require.Contains(t, o.stderr, c.says, name)
		require.Contains(t, drawn, "run-schedulers-jct_mean.svg", "the rest is drawn")
		require.NoError(t, os.RemoveAll("run"))
	}
	writeNode(t, "run", false)
	for _, text := range []string{"{}", `{"points": [{}], "workloads": ["a"], "schedulers": [{}], "metrics": [{}],
		"ranked": ["x"]}`} {
		write(t, "run/outcome.json", text)
		require.Equal(t, failure.Damaged, graft("plot", "run", "--out", t.TempDir()).code)
		fails(t, failure.Damaged, "outcome.json", "report", "run")
	}
}

// writeNodeRun writes the run folder of real tasks; one of them failed.
func writeNodeRun(t testing.TB, dir string) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[machine]\ngpus = 2\n"},
		results.Manifest{Created: when, Graft: "v0.1.0", ConfigSHA256: strings.Repeat("9a", 32)})
	require.NoError(t, err)
	journal := `{"event":"opened","task":-1}` + "\n"
	for task, end := range []string{"done", "done", "failed"} {
		journal += fmt.Sprintf(`{"event":"placed","task":%d}
{"event":"started","task":%[1]d}
{"event":"ended","task":%[1]d,"end":%q}
`, task, end)
	}
	write(t, run.Path(nodes.JournalFile), journal)
	write(t, run.Path(runs.NodeSpansFile),
		"task,gpu,lane,from_seconds,to_seconds,cores,memory_mb,end,group\na-1,0,0,0.5,4,40,0,stopped,a\n"+
			"a-2,0,1,0.5,7.25,40,0,completed,a\nb,1,0,0.5,3,90,0,failed,b\na-1,0,0,6,9,40,0,completed,a\n")
	require.NoError(t, run.WriteOutcome(&runs.NodeRunOutcome{Scheduler: "backfill", Devices: []string{"cpu0", "cpu1"},
		Tasks: 3, Completed: 2, Turnaround: 8, Makespan: 9, Stops: 1}))
	require.NoError(t, run.Close())
}

// Schedulers that learned from generated tasks are compared like any other, each seed separately.
func TestLearnedNodeSchedulers(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "learn.toml", "[machine]\ngpus = 2\n[tasks]\nmin_tasks = 4\nmax_tasks = 6\ntrain_count = 2\n"+
		""+
		"validation_count = 1\ntest_count = 2\n[learn]\nimitation_workloads = 2\nmethod = \"none\"\nhidden = 8\n"+
		"[run]\nseeds = 2\n")
	done(t, "learn", "learn.toml", "--folder", "learned", "--quiet")
	o := object[study.Outcome](t, "node simulate learn.toml --scheduler ./learned,best-fit --out run")
	require.Len(t, o.Summaries, 2)
	standings := o.Ranking("", "jct_mean_s").Standings
	at := slices.IndexFunc(standings, func(s study.Standing) bool { return s.Scheduler == "learned" })
	require.Equal(t, 2, standings[at].Seeds)
	require.Len(t, standings[at].Values[0], 2)
}

// A trace too short for training workloads is used completely by schedulers without training.
func TestShortTraceOfTasks(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "slurm.csv",
		tracetest.Slurm+"80|ann|gpu|z|2026-05-01T00:07:00|2026-05-01T00:07:01|2026-05-01T00:08:01|01:00|"+
			"gres/gpu=1|gres/gpu=1|COMPLETED|01:00:00\n")
	write(t, "node.toml", "[workload]\ntraces = [\"slurm.csv\"]\n[tasks]\n")
	require.Contains(t, done(t, "config", "check", "node.toml").stdout, "ok: ")
	out := done(t, "node", "simulate", "node.toml", "--scheduler", "fcfs,sjf").stdout
	require.Contains(t, out, "1 workload with 1 task in total on 4 GPUs")
	require.Contains(t, out, "4 jobs of slurm.csv are left out: only jobs that have a duration, use one GPU or a "+
		"part of one, and are not runaway jobs")
}
