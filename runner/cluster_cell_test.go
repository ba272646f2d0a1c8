package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/report"
)

// failingCluster simulates two virtual clusters with failing nodes, under two schedulers.
func failingCluster(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	simulateCluster(t, filepath.Join(dir, "run"), false, `schedule.schedulers=["fifo", "fair"]`,
		"failures.checkpoint_seconds=600",
		`failures.outages=[{vc="a", node=0, from_seconds=90000, to_seconds=93600}, `+
			`{vc="a", node=0, from_seconds=180000, to_seconds=200000}, {vc="b", node=0, from_seconds=200000, `+
			`to_seconds=210000}]`)
}

// A single simulation has a report, and so do its jobs and nodes.
func TestReportOfASimulation(t *testing.T) {
	failingCluster(t)
	for name, args := range map[string][]string{"cell": nil, "cell-job": {"--job", "7"},
		"cell-node": {"--node", "a/0"}} {
		got := done(t, append([]string{"report", "run/fifo"}, args...)...).stdout
		goldenReport(t, name+".txt", got)
	}
	whole := cellReport[report.CellDetail](t, "run/fifo")
	require.Equal(t, "fifo", whole.Scheduler)
	require.Equal(t, 300, whole.Jobs)
	require.Len(t, whole.Outages, 3)
	job := cellReport[report.CellJob](t, "run/fifo", "--job", "9")
	require.Equal(t, "9", job.Job)
	require.Empty(t, job.Trainings)

	t.Chdir("run/fifo")
	require.Contains(t, done(t, "report", ".").stdout, "cluster run  ..\n")
}

// cellReport returns the detail of a report on a single simulation.
func cellReport[T any](t *testing.T, args ...string) (detail T) {
	t.Helper()
	var r struct {
		Runs []struct{ Detail json.RawMessage }
	}
	text := done(t, append(append([]string{"report"}, args...), "--json")...).stdout
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	require.Len(t, r.Runs, 1)
	require.NoError(t, json.Unmarshal(r.Runs[0].Detail, &detail))
	return detail
}

func TestFaultyReportsOfASimulation(t *testing.T) {
	failingCluster(t)
	for args, says := range map[string]string{
		"run/fifo --job 700":             `--job: job "700" not found in run/fifo/jobs.csv`,
		"run/fifo --node c/0":            `--node: outage of node "c/0" not found in run/fifo/outages.csv`,
		"run/fifo --node 0":              `virtual clusters of run/fifo have a node "0"; write VC/NODE, such as a/0`,
		"run/fifo --job 7 --node a/0":    "exclude each other",
		"run/fifo run/fair --job 7":      "name a single folder",
		"run --job 7":                    "require the folder of a simulated scheduler in a",
		"run/fifo --job 7 --csv":         "exclude each other",
		`run/fifo --job=`:                "is empty; name a job",
		"run/fifo --job 7 --contrasts x": "exclude each other",
	} {
		fails(t, failure.Usage, says, append([]string{"report"}, strings.Fields(args)...)...)
	}
	write(t, "run/fifo/jobs.csv", "job,jct [s]\n7,1,2\n")
	fails(t, failure.Partial, "run/fifo/jobs.csv", "report", "run/fifo")
	write(t, "run/fair/outages.csv", "vc,node,from [s],to [s],kind,class,jobs\na,0,x,,failure,,0\n")
	fails(t, failure.Damaged, `column from [s] is "x"`, "report", "run/fair", "--node", "0")
	require.NoError(t, os.RemoveAll("run/fifo"))
	fails(t, failure.Failed, "run/fifo", "report", "run/fifo")
	write(t, "other/jobs.csv", "job,jct [s]\n7,1\n")
	fails(t, failure.Damaged, "not a run folder", "report", "other")
}

// A report on an unfinished cluster run lists its finished simulations.
func TestReportOfAnOpenClusterRun(t *testing.T) {
	failingCluster(t)
	require.NoError(t, os.Remove("run/outcome.json"))
	require.NotContains(t, done(t, "report", "run").stdout, "finished")
	write(t, "run/fifo/cell.json", `{"Values":{"queue_mean_s":3,"jct_mean_s":12.5,"events":4}}`)
	got := done(t, "report", "run").stdout
	containsAll(t, got, "1 simulation finished so far", "SIMULATION  JCT MEAN S  QUEUE MEAN S", "12.5")
	require.Contains(t, done(t, "report", "run/fifo").stdout, "The cluster run has not ended")
	write(t, "run/fifo/cell.json", `{"Values":[]}`)
	fails(t, failure.Partial, "read run/fifo/cell.json", "report", "run")
}

// The page of a cluster run links to its simulations, these link to their jobs and nodes, and live jobs link to their
// trainings.
func TestServeOpensJobsAndNodes(t *testing.T) {
	liveCluster(t, liveSection+"[[failures.outages]]\nnode = 0\nfrom_seconds = 500\nto_seconds = 600\n")
	done(t, "cluster", "run", "cluster.toml", "--out", "run", "--quiet")
	before := digests(t, "run")
	v := visitors(t, ".")
	simulation := follow(t, v, "/run/run", "/run/run/fair")
	node := follow(t, v, simulation, "/run/run/fair?node=all%2F0")
	require.Contains(t, v.get(node), "1 outage of 100 s")
	job := follow(t, v, simulation, "/run/run/fair?job=7")
	require.Contains(t, v.get(job), "Training, adaptive, seed 1")
	training := regexp.MustCompile(`/run/run/live/trials/timeline-\d+-never/seed-1`).FindString(v.get(job))
	require.Contains(t, v.get(follow(t, v, job, training)), "validation accuracy")
	require.Contains(t, v.get(job), `href="/run/run/fair"`, "back to the simulation")
	require.Equal(t, http.StatusNotFound, v.ask(http.MethodGet, "/run/run/fair?job=70").Code)
	require.Equal(t, before, digests(t, "run"), "pages change nothing")

	page := done(t, "report", "run/fair", "--html", "page.html").stdout
	require.Contains(t, page, "wrote page.html")
	require.NotContains(t, contents(t, "page.html"), "?job=", "a file has no links to other pages")
}

// follow returns an address after it checks that the page links to it.
func follow(t *testing.T, v *visitor, page, to string) string {
	t.Helper()
	require.Contains(t, v.get(page), `href="`+to+`"`, page)
	return to
}
