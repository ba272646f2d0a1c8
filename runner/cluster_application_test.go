package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/internal/failure"
	"graft/runner/application"
)

// Runs and a profile make an application that can be simulated. Runs that do not match are refused, and nothing is
// written.
func TestApplicationsAreMadeOfRuns(t *testing.T) {
	longOnly(t, "an application made of five runs")
	t.Chdir(t.TempDir())
	run := func(folder string, batch int, more ...string) {
		set := []string{"time.events=[]", "time.budget=2s", fmt.Sprintf("train.batch=%d", batch)}
		args := brief(folder)
		for _, s := range append(set, more...) {
			args = append(args, "--set", s)
		}
		done(t, args...)
	}
	measured := []string{"adaptive_batch.measure=true", "adaptive_batch.interval=1"}
	run("runs/16", 16, measured...)
	run("runs/64", 64, measured...)
	run("runs/64-again", 64, append(measured, "run.seed=2")...)
	run("silent", 64)
	run("other", 64, append(measured, `network.name="MLP"`, `adapt.actions=["deepen:3"]`)...)

	r := object[application.Report](t, "cluster application small runs --out applications --nodes 2")
	require.Equal(t, []int{16, 1, 64, 2}, []int{r.Batches[0].Batch, r.Batches[0].Runs, r.Batches[1].Batch,
		r.Batches[1].Runs})
	require.Equal(t, float64(r.Epochs), r.Batches[0].Epochs)
	require.GreaterOrEqual(t, r.Batches[1].Epochs, r.Batches[0].Epochs, "larger batches need more images")
	require.Less(t, r.Batches[1].Steps, r.Batches[0].Steps, "and fewer steps")
	require.Greater(t, r.WorstMiss, r.MedianMiss)
	write(t, "workload.csv", "name,time,application,num_replicas,batch_size\na,0,small,1,16\nb,10,small,2,64\n")
	file := write(t, "cluster.toml",
		"[adaptive]\ndata = \"applications\"\nnodes = 2\ngpus_per_node = 8\n[workload]\ntraces = [\"workload.csv\"]\n")
	require.Contains(t, must(t, "config check "+file), "ok: 2 jobs")
	for _, cell := range object[study.Outcome](t, "cluster run "+file+" --out simulated").Cells {
		require.Positive(t, float64(cell.Values["jct_mean_s"]))
	}

	require.Contains(t, must(t, "cluster run --data applications --trace workload.csv --nodes 2 --scheduler "+
		"goodput,fifo --out flags"), "fifo *")
	one := must(t, "cluster application small runs --out applications --force --accuracy 0.01")
	containsAll(t, one, "A job takes 1 epoch", "profile steady")
	for line, says := range map[string]string{
		"small runs --out applications":                      "or replace the application with --force",
		"new runs/16 --out applications":                     "expected runs with at least two different batches",
		"new runs silent --out applications":                 "adaptive_batch.measure = true",
		"new runs other --out applications":                  "differs from the network of the previous run",
		"new runs --out applications --accuracy 0.999":       "a validation accuracy of",
		"new runs --out applications --devices 10 --nodes 0": "--devices is 10; must be between 1 and 9",
		"new runs simulated --out applications": "is a run of kind adaptive; expected a run of 'graft " +
			"train'",
		"new runs --out applications --profile fast": `unknown profile "fast"`,
		"new missing --out applications":             "expected a folder",
	} {
		o := graft(append([]string{"cluster", "application"}, strings.Fields(line)...)...)
		require.NotEqual(t, failure.Done, o.code, line)
		require.Contains(t, o.stderr, says, line)
		require.NoDirExists(t, "applications/new")
	}
}
