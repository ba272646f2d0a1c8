package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/config"
	"graft/internal/failure"
	"graft/report/plot"
	"graft/report/runs"
)

const (
	exampleData     = "../scenarios/adaptive/applications"
	polluxReference = "../../shared/reference/pollux"
)

func TestAdaptiveJobs(t *testing.T) {
	out := filepath.Join(t.TempDir(), "adaptive")
	args := []string{"cluster", "run", "../scenarios/adaptive/compare.toml", "--trace", "workload-2.csv", "--scheduler",
		"tiresias,srtf,goodput", "--out", out, "--set", "schedule.ablate=true"}
	text := done(t, args...).stdout
	require.Regexp(t, `(?s)24 jobs of workload-2 on 16 GPUs of 4 nodes.*Under schedulers marked \*, jobs keep `+
		`.*Over \d+ decisions of goodput, the objective is within 0\.\d+% .*SCHEDULER +MEAN JCT .*tiresias .*srtf \* `+
		`.*goodput +device time that all jobs need.*Effect of each quirk of the original `+
		`without the others.*tiresias +whole-seconds `+
		`.*srtf +extra-second `, text)
	require.Regexp(t, `^job,application,arrival \[s\],start \[s\],end \[s\],jct \[s\],restarts,device_time \[s\],`+
		`goodput\n[a-z]+-0,[a-z]+,[0-9.]+,[0-9.]+,[0-9.]+,`, contents(t, filepath.Join(out, "tiresias", "jobs.csv")))
	outcome := contents(t, filepath.Join(out, runs.OutcomeFile))
	fails(t, failure.Configuration, "restore the configuration, or start a new run with --out",
		append(args, "--set", "adaptive.interference=0.5", "--resume")...)
	fails(t, failure.Usage, "set --force to move the existing", args...)
	require.NoError(t, os.Remove(filepath.Join(out, runs.OutcomeFile))) // as after a kill
	require.Equal(t, text, done(t, append(args, "--resume")...).stdout)
	require.Equal(t, outcome, contents(t, filepath.Join(out, runs.OutcomeFile)))
	require.Equal(t, text, done(t, append(args, "--resume", "--workers", "1")...).stdout, "it is read")
	require.Equal(t, text, done(t, append(args, "--force")...).stdout)
	require.Regexp(t, `(?s)SCHEDULER +MEAN JCT.*tiresias +[0-9.]+`, done(t, "report", out).stdout)
	for _, form := range []string{"--markdown", "--csv", "--json"} {
		require.Contains(t, done(t, "report", out, form).stdout, "srtf", form)
	}
}

// Each of several workloads has its own folder, and the workloads are compared.
func TestAdaptiveWorkloads(t *testing.T) {
	out := filepath.Join(t.TempDir(), "adaptive")
	var o study.Outcome
	require.NoError(t, json.Unmarshal([]byte(done(t, "cluster", "run", "../scenarios/adaptive/compare.toml",
		"--scheduler", "pollux,tiresias,fair", "--out", out, "--set", "pollux.generations=3", "--set",
		"pollux.population=8", "--set", "schedule.seeds=2", "--json").stdout), &o))
	require.Len(t, o.Cells, 3*4)
	require.NotContains(t, o.Cells[0].Values, "decisions", "pollux has no bound")
	require.Equal(t, 72, o.Jobs)
	require.Equal(t, "pollux", o.Rankings[0].Against)
	require.Len(t, o.Rankings[0].Standings, 3)
	for _, s := range o.Rankings[0].Standings {
		require.NotNil(t, s.Interval, s.Scheduler)
		require.Equal(t, s.Scheduler == "pollux", s.Difference == nil)
	}
	for _, folder := range []string{"workload-1/pollux-seed-0", "workload-3/pollux-seed-1", "workload-2/fair"} {
		require.FileExists(t, filepath.Join(out, folder, "series.csv"))
	}
	require.Regexp(t, `(?s)pollux +2 .*Mean JCT, s.*RANK.*Workload-3.*pollux, seed 1`, done(t, "report", out,
		"--all").stdout)
	readable(t, plot.Given{}, out)
}

// A section adaptive, --compat pollux, and a folder of applications in --data each select adaptive jobs.
func TestChoiceOfAdaptiveJobs(t *testing.T) {
	dir := t.TempDir()
	bare := write(t, filepath.Join(dir, "bare.toml"), "[schedule]\nseeds = 1\n")
	section := write(t, filepath.Join(dir, "section.toml"),
		fmt.Sprintf("[adaptive]\ndata = %q\nnodes = 4\ngpus_per_node = 4\n", absolute(t, exampleData)))
	data := []string{"--data", exampleData, "--nodes", "4"}
	run := func(args ...string) study.Outcome {
		args = append([]string{"cluster", "run", "--trace", "workload-2.csv", "--out", filepath.Join(dir, "run"),
			"--force", "--json"}, args...)
		return decoded[study.Outcome](t, done(t, args...).stdout)
	}
	for _, args := range [][]string{
		{section}, {section, "--compat", "pollux"}, data, append([]string{"--compat", "none"}, data...),
		append([]string{"--compat", "pollux"}, data...), append([]string{bare, "--compat", "pollux"}, data...),
		append([]string{bare}, data...),
	} {
		require.Equal(t, "adaptive", run(append(args, "--scheduler", "tiresias")...).World, args)
	}
	o := run(append([]string{"--compat", "pollux", "--scheduler", "all", "--set", "pollux.generations=3", "--set",
		"pollux.population=6"}, data...)...)
	require.Len(t, o.Schedulers, 4, "the original has no rigid jobs")
	rigid := graft(append([]string{"cluster", "run", "--compat", "lucid", "--trace", "workload-2.csv", "--out",
		filepath.Join(dir, "lucid")}, data...)...)
	require.Contains(t, rigid.stderr, "read trace workload-2.csv: file does not exist; name another file in",
		"jobs that keep their devices have no names of workloads")
}

// Jobs of another trace train the applications for their sizes, the same ones in each run.
func TestAdaptiveJobsOfTraces(t *testing.T) {
	trace := write(t, filepath.Join(t.TempDir(), "helios.csv"),
		"job_id,gpu_num,submit_time,duration\na,1,50,600\nb,8,60,90000\nc,0,70,5\nd,2,80,0\n")
	var tables []string
	for range 2 {
		out := filepath.Join(t.TempDir(), "adaptive")
		require.Contains(t, done(t, "cluster", "run", "../scenarios/adaptive/compare.toml", "--trace", trace,
			"--scheduler", "tiresias,fifo", "--out", out).stdout, "2 jobs of helios on 16 GPUs of 4 nodes")
		tables = append(tables, contents(t, filepath.Join(out, "tiresias", "jobs.csv")))
	}
	require.Equal(t, tables[0], tables[1])
	require.Regexp(t, `(?s)\na,[a-z]+,0\.0,.*\nb,[a-z]+,10\.0,`, tables[0])
}

func TestAdaptiveFigures(t *testing.T) {
	out := filepath.Join(t.TempDir(), "adaptive")
	done(t, "cluster", "run", "../scenarios/adaptive/compare.toml", "--trace", "workload-2.csv", "--scheduler",
		"tiresias,srtf", "--out", out)
	readable(t, plot.Given{}, out)
	drawn, _ := plotted(t, t.TempDir(), out)
	require.Len(t, drawn, 3)
	goldenFigures(t, drawn, "adaptive-completions.svg", "adaptive-schedulers-jct_mean.svg", "adaptive-series.svg")
	page := filepath.Join(t.TempDir(), "page.html")
	done(t, "report", out, "--html", page)
	for _, title := range []string{"Completion times of adaptive", "Use of adaptive over time"} {
		require.Contains(t, contents(t, page), title)
	}
}

// Faults that would end a simulation are found before it starts, also by 'graft config check'.
func TestAdaptiveFaults(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	file := write(t, filepath.Join(t.TempDir(), "adaptive.toml"), fmt.Sprintf("[adaptive]\ndata = %q\nnodes = 1\n"+
		"gpus_per_node = 4\n"+
		"[schedule]\nschedulers = [\"tiresias\"]\n", absolute(t, exampleData)))
	const head = "name,time,application,num_replicas,batch_size\n"
	for name, c := range map[string]struct{ rows, says string }{
		"unknown application": {head + "a,1,painting,1,64\n",
			`column "application" is "painting"; expected one of the applications: language, speech, vision`},
		"batch too large": {head + "a,1,vision,1,2048\n",
			"job a: batch is 2048; application vision supports 64 to 1024"},
		"batch too small": {head + "a,1,vision,1,8\n", "job a: batch is 8; application vision supports 64 to 1024"},
		"request too large": {head + "a,1,vision,8,512\n",
			"job a requests 8 devices; expected 1 to 4 (all devices of the cluster)"},
		"name twice": {head + "a,1,vision,1,64\na,2,vision,1,64\n",
			"job a: duplicate name; rename one of the jobs"},
		"missing column": {"name,time,application,batch_size\na,1,vision,64\n",
			`column "num_replicas" is missing; add it to the header`},
		"time before zero": {head + "a,-1,vision,1,64\n", "job a: time is -1"},
		"no job":           {head, "the workload has 0 jobs; expected 1 to"},
	} {
		trace := write(t, filepath.Join(t.TempDir(), "jobs.csv"), c.rows)
		fails(t, failure.Configuration, c.says, "cluster", "run", file, "--trace", trace, "--out", out)
		fails(t, failure.Configuration, c.says, "config", "check", file, "--set",
			"workload.traces=["+config.Quote(trace)+"]")
		require.NoDirExists(t, out, name)
	}
	pipe := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	fails(t, failure.Configuration, "jobs.csv", "cluster", "run", file, "--trace", pipe, "--out", out)
	run := []string{"cluster", "run", file, "--trace", "workload-1.csv", "--out", out}
	fails(t, failure.Configuration, `unknown scheduler "best"; expected one of: tiresias, optimus, pollux`,
		append(run, "--scheduler", "best")...)
	fails(t, failure.Configuration, `srtf is rigid, but compat = "pollux" allows only schedulers for adaptive jobs`,
		append(run, "--scheduler", "srtf", "--compat", "pollux")...)
	fails(t, failure.Usage, "--from does not apply to simulations of adaptive jobs; omit it",
		append(run, "--from", "2")...)
	fails(t, failure.Configuration, "workload-9.csv\" not found; looked in", "cluster", "run", file, "--trace",
		"workload-9.csv", "--out", out)
	fails(t, failure.Configuration, "data is missing; name a folder of applications", "cluster", "run", "--compat",
		"pollux", "--trace", "workload-1.csv", "--out", out)
	fails(t, failure.Configuration, "unknown quirk \"slow\"", append(run, "--set", `adaptive.quirks=["slow"]`)...)
	fails(t, failure.Configuration, "none has 0 folders that contain placements.csv", append(run, "--data", "none")...)
	require.NoDirExists(t, out)
}

// A name that several workload folders share is an error that lists them.
func TestAmbiguousWorkloads(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.CopyFS(data, os.DirFS(exampleData)))
	require.NoError(t, os.CopyFS(filepath.Join(data, "workloads", "more"),
		os.DirFS(filepath.Join(exampleData, "workloads", "busy"))))
	run := func(trace string) []string {
		return []string{"cluster", "run", "--compat", "pollux", "--data", data, "--trace", trace, "--nodes", "4",
			"--scheduler", "tiresias", "--out", filepath.Join(t.TempDir(), "run")}
	}
	fails(t, failure.Configuration, filepath.Join("busy", "workload-1.csv")+" and "+filepath.Join(data, "workloads",
		"more", "workload-1.csv")+"; give the path of one", run("workload-1.csv")...)
	require.Contains(t, done(t, run("more/workload-1.csv")...).stdout, "24 jobs of workload-1")
	require.Contains(t, done(t, run("more/workload-1.csv,busy/workload-1.csv")...).stdout,
		"of more-workload-1, busy-workload-1")
}

// The command gives the completion times of the published runs.
func TestAdaptiveRunsOfTheOriginal(t *testing.T) {
	text, err := os.ReadFile(polluxReference + "/results.json")
	if err != nil {
		t.Skip("left out: the reference data of Pollux is not beside the repository")
	}
	var published map[string]struct{ JCTs map[string]map[string]int }
	require.NoError(t, json.Unmarshal(text, &published))
	out := filepath.Join(t.TempDir(), "run")
	done(t, "cluster", "run", "--compat", "pollux", "--data", polluxReference, "--trace", "1.0/workload-6.csv",
		"--scheduler", "tiresias,optimus", "--out", out)
	for _, scheduler := range []string{"tiresias", "optimus"} {
		rows, err := csv.NewReader(strings.NewReader(contents(t,
			filepath.Join(out, scheduler, "jobs.csv")))).ReadAll()
		require.NoError(t, err)
		want := published["jobload/"+scheduler+"-1.0"].JCTs["workload-6"]
		require.Len(t, rows, len(want)+1)
		for _, row := range rows[1:] {
			require.Equal(t, fmt.Sprintf("%d.0", want[row[0]]), row[5], "%s under %s", row[0], scheduler)
		}
	}
	trace := write(t, filepath.Join(t.TempDir(), "jobs.csv"),
		"name,time,application,num_replicas,batch_size\na,1,bert,4,12\n")
	fails(t, failure.Configuration, "job a: no step time was measured for 3 examples per device; "+
		"measurements cover 4 to 12",
		"cluster",
		"run", "--compat", "pollux", "--data", polluxReference, "--trace", trace, "--scheduler", "tiresias", "--out",
		out, "--force")
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}
