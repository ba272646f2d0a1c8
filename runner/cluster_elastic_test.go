package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic/schedulers"
	"graft/cluster/study"
	"graft/internal/failure"
	"graft/report/plot"
	"graft/report/runs"
)

// elasticFiles writes a workload of three jobs, and speeds that grow with workers and servers.
func elasticFiles(t *testing.T) (trace, speeds string) {
	folder := t.TempDir()
	trace, speeds = filepath.Join(folder, "jobs.json"), filepath.Join(folder, "speeds.json")
	write(t, trace, `{"overrides": {"LARGE_SCALE": false, "CLUSTER_NUM_NODES": 3, "MAX_NUM_WORKERS": 4}, "jobs": [
		{"id": 1, "type": 1, "arrv_time": 0, "num_epochs": 40, "real_num_epochs": 40},
		{"id": 2, "type": 6, "arrv_time": 0, "num_epochs": 20, "real_num_epochs": 20},
		{"id": 3, "type": 1, "arrv_time": 1, "num_epochs": 10, "real_num_epochs": 10}]}`)
	var rows []string
	for ps := range 5 {
		var row []string
		for worker := range 5 {
			row = append(row, fmt.Sprint(float64(min(ps, worker)+1)*0.4))
		}
		rows = append(rows, "["+strings.Join(row, ", ")+"]")
	}
	table := "[" + strings.Join(rows, ", ") + "]"
	write(t, speeds, fmt.Sprintf(`{"table": {"resnet-50": %s, "cnn-text-classification": %[1]s}}`, table))
	return trace, speeds
}

func TestElasticJobs(t *testing.T) {
	trace, speeds := elasticFiles(t)
	out := filepath.Join(t.TempDir(), "run")
	args := []string{"cluster", "run", "--trace", trace, "--speeds", speeds, "--out", out}
	text := done(t, append(args, "--scheduler", "drf,optimus")...).stdout
	require.Regexp(t,
		`(?s)3 jobs of .*on 3 nodes of 8 GPU slots \(6 workers, if each takes 4 slots\), scaling checkpoint.*`+
			`SCHEDULER +MEAN JCT .*drf .*optimus .*The `+
			`lower bound of mean JCT is`, text)
	jobs := contents(t, filepath.Join(out, "drf", "jobs.csv"))
	require.Regexp(t, `^job,type,arrival \[slots\],end \[slots\],jct \[slots\]\n1,resnet-50,0,[0-9.]+,[0-9.]+\n2,`+
		`cnn-text-classification,0,`, jobs)
	outcome := contents(t, filepath.Join(out, runs.OutcomeFile))
	fails(t, failure.Configuration, "restore the configuration, or start a new run with --out",
		append(args, "--scheduler", "drf,fifo", "--resume")...)
	require.NoError(t, os.Remove(filepath.Join(out, runs.OutcomeFile))) // as after a kill
	require.Equal(t, text, done(t, append(args, "--scheduler", "drf,optimus", "--resume")...).stdout)
	require.Equal(t, outcome, contents(t, filepath.Join(out, runs.OutcomeFile)))
	require.Equal(t, text, done(t, append(args, "--scheduler", "drf,optimus", "--resume")...).stdout, "it is read")
	require.Regexp(t, `(?s)SCHEDULER +MEAN JCT.*drf +[0-9.]+`, done(t, "report", out).stdout)

	file := filepath.Join(t.TempDir(), "elastic.toml")
	write(t, file, fmt.Sprintf("[workload]\ntraces = [%q]\n[elastic]\nspeeds = %q\nscaling = \"hot\"\nnodes = 2\n",
		trace, speeds))
	var o study.Outcome
	require.NoError(t, json.Unmarshal([]byte(done(t, "cluster", "run", file, "--scheduler", "all", "--out", out,
		"--force", "--json").stdout), &o))
	require.Len(t, o.Cells, len(schedulers.Kinds()))
	require.Equal(t, []any{"hot", 2.0, 3}, []any{o.Facts["scaling"], o.Facts["nodes"], o.Jobs})
	for _, c := range o.Cells {
		require.GreaterOrEqual(t, c.Values["jct_mean_slots"], o.References[0].Mean)
	}
	require.Contains(t, done(t, "config", "check", file).stdout,
		"3 jobs of "+trace+" on 2 nodes of 8 GPU slots (4 workers, if each takes 4 slots), scaling hot under "+
			"fifo, srtf, drf, tetris, optimus, peak, frontier")
}

// The table of allocations has the data that the outcome's digest covers, and the table of slots has its sums.
func TestElasticTables(t *testing.T) {
	trace, speeds := elasticFiles(t)
	out := filepath.Join(t.TempDir(), "elastic")
	var o study.Outcome
	require.NoError(t, json.Unmarshal([]byte(done(t, "cluster", "run", "--trace", trace, "--speeds", speeds,
		"--scheduler", "drf,optimus", "--out", out, "--json").stdout), &o))
	r := openRun(t, out)
	for _, c := range o.Cells {
		slots, err := runs.Numbers(r, c.Scheduler, "series.csv", "time [slots]", "unfinished [jobs]",
			"running [jobs]", "workers [tasks]", "servers [tasks]", "cpu_used [share]", "gpu_used [share]")
		require.NoError(t, err)
		require.Len(t, slots["time [slots]"], int(c.Values["simulated_slots"]))
		rows, err := runs.Numbers(r, c.Scheduler, "allocations.csv", "time [slots]", "job", "workers",
			"servers")
		require.NoError(t, err)
		digest := sha256.New()
		for k, slot := range rows["time [slots]"] {
			fmt.Fprintf(digest, "%v:%v:%v:%v;", slot, rows["job"][k], rows["workers"][k], rows["servers"][k])
			for _, sum := range []string{"workers", "servers"} {
				slots[sum+" [tasks]"][int(slot)] -= rows[sum][k]
			}
			slots["running [jobs]"][int(slot)]--
		}
		require.Equal(t, c.Facts["allocations_sha256"], fmt.Sprintf("%x", digest.Sum(nil)))
		for k := range slots["time [slots]"] {
			require.Zero(t, slots["workers [tasks]"][k]+slots["servers [tasks]"][k]+slots["running [jobs]"][k],
				"slot %d", k)
			require.LessOrEqual(t, slots["cpu_used [share]"][k]+slots["gpu_used [share]"][k], 2.0)
		}
	}
	_, err := runs.Numbers(r, "drf", "series.csv", "nodes")
	require.ErrorContains(t, err, `column "nodes" not found`)
	write(t, filepath.Join(out, "drf", "series.csv"), "slot\n0\nx\n")
	_, err = runs.Numbers(r, "drf", "series.csv", "slot")
	require.ErrorContains(t, err, `line 3: column slot: "x" is not a number`)
}

func TestElasticFigures(t *testing.T) {
	trace, speeds := elasticFiles(t)
	out := filepath.Join(t.TempDir(), "elastic")
	done(t, "cluster", "run", "--trace", trace, "--speeds", speeds, "--scheduler", "drf,optimus", "--out", out)
	readable(t, plot.Given{}, out)
	drawn, _ := plotted(t, t.TempDir(), out)
	require.Len(t, drawn, 3)
	goldenFigures(t, drawn, "elastic-completions.svg", "elastic-schedulers-jct_mean.svg", "elastic-series.svg")
	page := filepath.Join(t.TempDir(), "page.html")
	done(t, "report", out, "--html", page)
	for _, title := range []string{"Completion times of elastic", "Use of elastic over time"} {
		require.Contains(t, contents(t, page), title)
	}
	require.NoError(t, os.Remove(filepath.Join(out, "drf", "series.csv")))
	drawn, _ = plotted(t, t.TempDir(), out)
	require.Len(t, drawn, 3)
	require.NoError(t, os.Remove(filepath.Join(out, "optimus", "series.csv")))
	drawn, _ = plotted(t, t.TempDir(), out)
	require.Len(t, drawn, 2)
}

// A cluster trace also serves as a workload of elastic jobs.
func TestElasticJobsOfAClusterTrace(t *testing.T) {
	trace := write(t, filepath.Join(t.TempDir(), "trace.csv"),
		"job_id,submit_time,duration,gpu_num,model\na,0,3600,2,resnet-50\nb,1500,7200,1,vgg-16\n")
	out := filepath.Join(t.TempDir(), "run")
	done(t, "cluster", "run", "--trace", trace, "--speeds", "analytic", "--scheduler", "drf", "--out", out, "--set",
		`elastic.scaling="none"`)
	require.Regexp(t, `\n1,resnet-50,0,.*\n2,vgg-16,1,`, contents(t, filepath.Join(out, "drf", "jobs.csv")))
	write(t, trace, "job_id,submit_time,duration,gpu_num\na,0,3600,2\nb,soon,5,1\n")
	fails(t, failure.Configuration, "trace.csv:3:3: submit_time is \"soon\"", "cluster", "run", "--trace", trace,
		"--speeds", "analytic", "--out", out, "--force")
}

func TestElasticFaults(t *testing.T) {
	trace, speeds := elasticFiles(t)
	out := filepath.Join(t.TempDir(), "run")
	run := func(more ...string) []string {
		return append([]string{"cluster", "run", "--trace", trace, "--speeds", speeds, "--out", out}, more...)
	}
	fails(t, failure.Usage, "--load does not apply to simulations of elastic jobs; omit it", run("--load", "2")...)
	fails(t, failure.Configuration,
		`unknown scheduler "dfr"; did you mean drf; expected one of: fifo, srtf, drf, tetris, optimus, peak, frontier`,
		run("--scheduler", "dfr")...)
	fails(t, failure.Usage, "the scheduler sjf is for cluster simulations: jobs that keep the devices that they "+
		"request",
		run("--scheduler", "sjf")...)
	fails(t, failure.Configuration, `must be "none" with compat dl2`,
		run("--compat", "dl2", "--set", `elastic.scaling="hot"`)...)
	fails(t, failure.Configuration, "speeds is missing; expected a JSON file", "cluster", "run", "--trace", trace,
		"--compat", "dl2", "--out", out)
	fails(t, failure.Configuration, "no such file", "cluster", "run", "--trace", trace, "--speeds", "none.json",
		"--out", out)
	fails(t, failure.Configuration, "can never run", run("--set", "elastic.gpus_per_node=2")...)
	write(t, trace, `{"jobs": [{"id": 1, "type": 9, "arrv_time": 0, "num_epochs": 1, "real_num_epochs": 1}]}`)
	fails(t, failure.Configuration, "jobs[0]: job 1: type is 9; expected 1 to 8", run()...)
	require.NoDirExists(t, out)
}

// The command gives the original simulator's allocations.
func TestElasticRunsOfTheOriginal(t *testing.T) {
	const reference = "../../shared/reference/dl2/"
	text, err := os.ReadFile(reference + "golden_table.json")
	if err != nil {
		t.Skip("left out: the reference data of DL2 is not beside the repository")
	}
	var golden map[string]struct {
		Runs map[string]map[string]struct {
			JCT         float64 `json:"avg_jct"`
			Allocations string  `json:"alloc_sha256"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &golden))
	for _, config := range []string{"testbed_google", "small_analytic"} {
		args := []string{"cluster", "run", "--compat", "dl2", "--trace", reference + "traces/" + config + "/seed1.json",
			"--speeds", reference + "speed_table.json", "--scheduler", "fifo,srtf,drf,tetris,optimus", "--out",
			filepath.Join(t.TempDir(), "run"), "--json"}
		var o study.Outcome
		require.NoError(t, json.Unmarshal([]byte(done(t, args...).stdout), &o))
		require.Len(t, o.Cells, 5)
		for _, c := range o.Cells {
			for name, want := range golden[config].Runs {
				if strings.EqualFold(name, c.Scheduler) {
					require.Equal(t, want["1"].Allocations, c.Facts["allocations_sha256"], "%s under %s", config, name)
					require.InDelta(t, want["1"].JCT, float64(c.Values["jct_mean_slots"]), 1e-9)
				}
			}
		}
	}
}
