package main

import (
	"encoding/csv"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/runner/curves"
	"graft/simulation/tables/tabletest"
)

// Curves are fitted to tables, and a cluster run reads them. Jobs that end by their work keep their schedule, however
// much their networks grow. The report states the differences from the cluster without growth.
func TestClusterWithGrowingNetworks(t *testing.T) {
	unpacked := tabletest.Unpack(t, "../studies/transfer/tables.tar.gz")
	all, err := filepath.Glob(filepath.Join(unpacked, "tables", "plain-*"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	line := "cluster curves " + strings.Join(all[:6], " ") + " --out curves.json"
	r := object[curves.Report](t, line)
	require.Len(t, r.Curves, 6)
	require.Greater(t, r.Mean.Sequences, 6*10)
	fails(t, failure.Usage, "curves.json", strings.Fields(line+" --quiet")...)
	require.Contains(t, must(t, line+" --force"), "wrote 6 curves to curves.json")
	twice := "cluster curves " + all[0] + " " + all[0] + " --out x.json --quiet"
	fails(t, failure.Usage, "have the same name", strings.Fields(twice)...)

	write(t, "jobs.csv", "id,submit [s],duration [s],gpus\n7,0,1000,8\n8,300,900,4\n9,400,800,8\n")
	write(t, "cluster.toml", "[cluster]\nnodes = 1\n[workload]\ntraces = [\"jobs.csv\"]\n[schedule]\n"+
		"schedulers = [\"fifo\", \"fair\"]\nseeds = 3\n")
	must(t, "cluster run cluster.toml --out plain")
	report := must(t, "cluster run cluster.toml --set growth.curves=curves.json --out budget")
	require.Contains(t, report, "Differences from growing 0, paired by workload and seed.")
	accuracy, never := 0.0, 0.0
	for _, c := range readStudy(t, "budget").Cells {
		want := timesOfJobs(t, filepath.Join("plain", c.Scheduler, "jobs.csv"))
		require.Equal(t, want, timesOfJobs(t, filepath.Join("budget", c.Folder, "jobs.csv")), c.Folder)
		if c.Point == "growing 0" {
			require.InDelta(t, float64(c.Values["accuracy_never_share"]), float64(c.Values["accuracy_share"]), 1e-9)
		} else {
			accuracy += float64(c.Values["accuracy_share"])
			never += float64(c.Values["accuracy_never_share"])
		}
	}
	require.Greater(t, accuracy, never)

	must(t, "cluster run cluster.toml --set growth.curves=curves.json --set growth.ends=accuracy "+
		"--set growth.knowledge=own --out accuracy")
	for _, c := range readStudy(t, "accuracy").Changes {
		if c.Metric == "jct_mean_s" && c.Scheduler == "fifo" {
			require.Less(t, c.Change.Mean, 1.0, "a job that knows its curve never ends later")
		}
	}
	set := func(command, key string) []string {
		return append(strings.Fields(command), "cluster.toml", "--set", key, "--quiet")
	}
	fails(t, failure.Configuration, "curves is missing", set("cluster run", "growth.ends=accuracy")...)
	fails(t, failure.Failed, "none.json", set("cluster run", "growth.curves=none.json")...)
	fails(t, failure.Configuration, "none.json", set("config check", "growth.curves=none.json")...)
}

// timesOfJobs returns the columns of a table of jobs before the nodes.
func timesOfJobs(t *testing.T, path string) (rows [][]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(contents(t, path))).ReadAll()
	require.NoError(t, err)
	for _, row := range all {
		rows = append(rows, row[:9])
	}
	return rows
}

// Schedulers resize a share of the selected jobs. The report divides jobs by whether they can be resized.
func TestClusterWithFixedJobs(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus\n1,0,4000,8\n2,300,900,4\n3,400,4000,8\n4,500,4000,8\n")
	write(t, "cluster.toml", "[cluster]\nnodes = 2\n[workload]\ntraces = [\"jobs.csv\"]\n[schedule]\n"+
		"schedulers = [\"fifo\", \"fair\"]\nseeds = 3\n[resizing]\nshares = [0, 0.5, 1]\nmin_hours = 1.0\n")
	shown := must(t, "cluster run cluster.toml --out run")
	containsAll(t, shown, "Schedulers that resize jobs: fair; the speed of a job is proportional to its GPUs.",
		"resizable N means that a share N of 3 jobs (states all, at least 1 h and 1 GPU) can be resized.",
		"Differences from resizable 0, paired by workload and seed.")
	rows := func(point string) string { return contents(t, "run/"+point+"/fair-seed-0/jobs.csv") }
	require.Contains(t, rows("resizable-0"), "\n2,", "job 2 runs")
	changes := map[string]float64{}
	for _, c := range readStudy(t, "run").Changes {
		if c.Metric == "jct_mean_s" {
			changes[c.Point+" "+c.Scheduler] = c.Change.Mean
		}
	}
	require.Zero(t, changes["resizable 1 fifo"])
	require.NotZero(t, changes["resizable 1 fair"])
	parts := map[string]bool{}
	for _, c := range readStudy(t, "run").Cells {
		for _, p := range c.Parts {
			if p.Group == "number of GPUs" {
				parts[c.Point+" "+p.Name] = true
			}
		}
	}
	require.True(t, parts["resizable 1 resizable"] && parts["resizable 1 fixed"], "%v", parts)

	fails(t, failure.Configuration, "resizing selects jobs that can be resized, but no scheduler resizes jobs; add "+
		"the scheduler fair or offers", "cluster", "run", "cluster.toml", "--scheduler", "fifo", "--quiet")
	write(t, "more.csv", "id,submit [s],duration [s],gpus\n1,0,8000,16\n2,100,4000,8\n3,200,9000,4\n")
	shown = must(t, "cluster run cluster.toml --set workload.traces=[\"jobs.csv\",\"more.csv\"] --out two")
	require.Contains(t, shown, "Brackets hold 95% intervals over workloads and seeds.")
	for _, c := range readStudy(t, "two").Changes {
		require.Equal(t, 6, c.Change.N, "two traces, three seeds")
	}

	shrinking := []string{"cluster", "run", "cluster.toml", "--quiet", "--set", "failures.on_failure=shrink", "--set",
		"failures.outages=[{node=0, from_seconds=500, to_seconds=600}]", "--scheduler"}
	fails(t, failure.Configuration, "no scheduler resizes jobs", append(shrinking, "tiresias")...)
	shrinking = append(shrinking, "fifo,tiresias", "--out", "shrinking", "--set", "resizing.shares=[0,1]")
	containsAll(t, done(t, shrinking...).stdout, "Jobs restart after each failure, and do not shrink, under tiresias.",
		"There are no intervals over seeds, because nothing is drawn.")
	fails(t, failure.Configuration, "shares[1] is 0; expected unique numbers from 0 to 1", "cluster", "run",
		"cluster.toml", "--set", "resizing.shares=[0,0]", "--quiet")
	fails(t, failure.Usage, "needs exactly one share; set one, such as --set resizing.shares=[1.0]", "cluster",
		"timeline", "cluster.toml", "--scheduler", "fair", "--job", "1", "--quiet")
	require.Equal(t, "seconds,change,devices\n",
		must(t, "cluster timeline cluster.toml --scheduler fair --job 1 --set resizing.shares=[0]"), "always 8")
	require.Contains(t, must(t, "cluster timeline cluster.toml --scheduler fair --job 1 --set resizing.shares=[1]"),
		"down")
}
