package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/cluster/schedulers"
	"graft/config"
	"graft/files"
	"graft/results/failure"
	"graft/results/runs"
	"graft/work"
	"graft/work/clusters"
)

// aCluster goes into a folder with a trace of three days and the nodes of its cluster.
func aCluster(t *testing.T, jobs int) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeTrace(t, ".", jobs)
}

func writeTrace(t testing.TB, dir string, jobs int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("job_id,user,vc,gpu_num,submit_time,duration\n")
	for k := range jobs {
		fmt.Fprintf(&b, "%d,u%d,%s,%d,%d,%d\n", k, k%7, []string{"a", "a", "b"}[k%3], []int{1, 2, 1, 8, 4, 16, 1}[k*5%7], k*3*86_400/jobs, 60+k*k*7919%40_000)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "jobs.csv"), []byte(b.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nodes.csv"), []byte(",num\na,3\nb,2\n"), 0o600))
}

// inFolder opens files at relative paths in a folder.
type inFolder struct {
	files.OS
	dir string
}

func (f inFolder) Open(path string) (files.File, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	return f.OS.Open(path)
}

// writeCluster makes the folder of a run, which may have been killed before its end.
func writeCluster(t testing.TB, dir string, open bool) {
	t.Helper()
	in := inFolder{dir: t.TempDir()}
	writeTrace(t, in.dir, 300)
	c, err := config.ReadCluster(in, "", []string{`cluster.trace="jobs.csv"`, `cluster.nodes="nodes.csv"`, `schedule.schedulers=["fifo", "srtf"]`, "output.every=3600", "output.folder=" + config.Quote(dir)})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if open {
		cancel()
	}
	_, err = clusters.Run(ctx, &work.Env{Files: in, Now: func() time.Time { return when }, Version: "v0.1.0", Host: "node", Args: []string{"graft", "cluster", "run"}, Log: zap.NewNop()}, c, clusters.RunOptions{})
	require.Equal(t, open, err != nil, err)
	path := filepath.Join(dir, runs.ManifestFile) // a new key changes the digest
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text(t, path), c.Digest(), strings.Repeat("56", 32))), 0o600))
}

// lines are the rows of a table of jobs, by column.
func lines(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for k, name := range rows[0] {
			m[name] = row[k]
		}
		list = append(list, m)
	}
	return list
}

// withoutProfiles are the schedulers that need no profiles.
func withoutProfiles() string {
	var names []string
	for _, k := range schedulers.Kinds() {
		if !k.Profiles {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ",")
}

// Every scheduler runs all jobs; what is written is the same however much is simulated side by
// side, and reports read it.
func TestClusterRun(t *testing.T) {
	aCluster(t, 300)
	args := []string{"cluster", "run", "--trace", "jobs.csv", "--nodes", "nodes.csv", "--scheduler", withoutProfiles(), "--estimates", "exact", "--set", "output.every=3600", "--quiet"}
	got := graft(append(args, "--out", "one", "--workers", "1")...)
	require.Equal(t, failure.Done, got.code, got.stderr)
	require.Equal(t, failure.Done, graft(append(args, "--out", "many", "--workers", "5")...).code)
	for _, name := range strings.Split(withoutProfiles(), ",") {
		require.Len(t, lines(t, filepath.Join("one", name, "jobs.csv")), 300, name)
		for _, file := range []string{"jobs.csv", "usage.csv"} {
			a, err := os.ReadFile(filepath.Join("one", name, file))
			require.NoError(t, err)
			b, err := os.ReadFile(filepath.Join("many", name, file))
			require.NoError(t, err)
			require.Equal(t, string(a), string(b), name)
		}
	}
	goldenReport(t, "cluster-run.txt", got.stdout)
	report := graft("report", "one")
	require.Equal(t, failure.Done, report.code, report.stderr)
	require.Contains(t, report.stdout, "Tiresias, by size and virtual cluster")
	require.Contains(t, graft("report", "one", "many").stdout, "tiresias completion")

	got = graft(append(args, "--out", "one")...)
	require.Equal(t, failure.Usage, got.code)
	require.Contains(t, got.stderr, "it exists")
	outcome := text(t, filepath.Join("one", runs.OutcomeFile))
	require.NoError(t, os.Remove(filepath.Join("one", runs.OutcomeFile)))
	require.Equal(t, failure.Done, graft(append(args, "--out", "one", "--workers", "1", "--resume")...).code)
	require.Equal(t, outcome, text(t, filepath.Join("one", runs.OutcomeFile)), "a run that did not end is done again")
	got = graft(append(args, "--out", "one", "--resume", "--load", "2")...)
	require.Equal(t, failure.Configuration, got.code)
	require.Contains(t, got.stderr, "schedule.loads was [1.0] and is [2.0]")
}

// JSON has what the text has, at each load; more load makes jobs wait longer.
func TestClusterLoads(t *testing.T) {
	aCluster(t, 300)
	got := graft("cluster", "run", "--trace", "jobs.csv", "--nodes", "nodes.csv", "--load", "1,2,0.5", "--json", "--quiet")
	require.Equal(t, failure.Done, got.code, got.stderr)
	var r runs.ClusterOutcome
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &r))
	require.Len(t, r.Cells, 3)
	require.Greater(t, *r.Cells[1].All.Queue.Mean, *r.Cells[0].All.Queue.Mean)
	require.Less(t, *r.Cells[2].All.Queue.Mean, *r.Cells[0].All.Queue.Mean)
	require.FileExists(t, filepath.Join(r.Folder, "fifo-load0.5", "jobs.csv"))
}

// Jobs that cannot run are counted, the others run, and the exit code says so.
func TestClusterRefusesJobs(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("jobs.csv", []byte("job_id,gpu_num,submit_time,duration,vc\n1,1,0,5,a\n2,99,1,5,a\n3,1,2,5,b\n4,1,3,0,a\n4,1,3,7,a\n5,0,3,7,a\n6,1,-3,7,a\n"), 0o600))
	require.NoError(t, os.WriteFile("nodes.csv", []byte(",num\na,1\n"), 0o600))
	got := graft("cluster", "run", "--trace", "jobs.csv", "--nodes", "nodes.csv", "--scheduler", withoutProfiles(), "--estimates", "exact", "--quiet")
	require.Equal(t, failure.Partial, got.code, got.stderr)
	for _, why := range []string{"1 larger than its virtual cluster, job 2", "1 unknown virtual cluster, job 3", "1 no devices asked for, job 5", "1 another job has its id, job 4", "1 submitted before simulations begin, job 6"} {
		require.Contains(t, got.stderr, why)
	}
	require.Len(t, lines(t, "runs/jobs/fifo/jobs.csv"), 2)
}

// A trace without virtual clusters runs on one.
func TestClusterUndivided(t *testing.T) {
	aCluster(t, 50)
	require.NoError(t, os.WriteFile("bare.csv", []byte("job_id,gpu_num,submit_time,duration\n1,1,0,5\n2,8,1,5\n"), 0o600))
	require.NoError(t, os.WriteFile("one.csv", []byte(",num\nlab,1\n"), 0o600))
	for _, args := range []string{"--trace jobs.csv --nodes 4", "--trace bare.csv --nodes one.csv", "--trace bare.csv --nodes 1 --compat lucid --from 1 --to 9"} {
		got := graft(append(strings.Fields("cluster run --quiet --force "), strings.Fields(args)...)...)
		require.Equal(t, failure.Done, got.code, "%s: %s", args, got.stderr)
	}
	require.Equal(t, failure.Usage, graft("cluster", "run", "--trace", "jobs.csv", "--nodes", "0").code)
	require.NoError(t, os.WriteFile("cpus.csv", []byte("job_id,gpu_num,cpu_num,submit_time,duration\n1,1,4,0,50\n2,1,4,1,50\n3,1,99,1,50\n"), 0o600))
	got := graft("cluster", "run", "--trace", "cpus.csv", "--nodes", "1", "--set", "cluster.cpus_per_node=7", "--quiet")
	require.Equal(t, failure.Partial, got.code)
	require.Contains(t, got.stderr, "1 more processors than the nodes have, job 3 for one")
	require.Equal(t, "50", lines(t, "runs/cpus/fifo/jobs.csv")[1]["start_time"])
}

// A job that grows and shrinks has a timeline that a job's file takes.
func TestClusterTimeline(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("jobs.csv", []byte("job_id,gpu_num,submit_time,duration,vc\n1,8,0,6000,a\n2,4,600,600,a\n3,8,1200,600,a\n"), 0o600))
	require.NoError(t, os.WriteFile("nodes.csv", []byte(",num\na,1\n"), 0o600))
	got := graft("cluster", "timeline", "--trace", "jobs.csv", "--nodes", "nodes.csv", "--scheduler", "fair", "--job", "1", "--budget", "100", "--out", "one.csv")
	require.Equal(t, failure.Done, got.code, got.stderr)
	require.Contains(t, got.stderr, "budget 100 s, 8 devices at first, ")
	text, err := os.ReadFile("one.csv")
	require.NoError(t, err)
	goldenReport(t, "cluster-timeline.csv", string(text))
	require.NoError(t, os.WriteFile("job.toml", []byte("[time]\nbudget = \"100s\"\ntimeline = \"one.csv\"\n"), 0o600))
	got = graft("config", "check", "job.toml")
	require.Equal(t, failure.Done, got.code, got.stderr)
	require.Contains(t, got.stdout, fmt.Sprintf("%d events", strings.Count(string(text), "\n")-1))
}

// The command has the first simulator's results, job by job.
func TestClusterRunAgainstTheFirst(t *testing.T) {
	data, err := filepath.Abs(filepath.Join("..", "..", "shared", "reference", "lucid"))
	require.NoError(t, err)
	if _, err := os.Stat(data); err != nil {
		t.Skip("left out: the first simulator's results are not here")
	}
	t.Chdir(t.TempDir())
	got := graft("cluster", "run", "--data", data, "--trace", filepath.Join(data, "cluster_full_log.published_order.csv"), "--scheduler", "fifo,sjf,srtf,qssf,tiresias,lucid", "--compat", "lucid", "--json", "--quiet", "--out", "o")
	require.Equal(t, failure.Done, got.code, got.stderr)
	var r runs.ClusterOutcome
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &r))
	sums := map[string][2]int64{"fifo": {1568026427, 1287223398}, "sjf": {503306185, 222503156}, "srtf": {300859560, 19796332}, "qssf": {448488860, 167685831}, "tiresias": {350728235, 69572647}, "lucid": {307450179, 21836746}}
	for _, c := range r.Cells {
		require.Equal(t, sums[c.Scheduler], [2]int64{c.All.Completion.Sum, c.All.Queue.Sum}, c.Scheduler)
		require.Len(t, lines(t, filepath.Join("o", c.Scheduler, "jobs.csv")), 23_859)
	}
}
