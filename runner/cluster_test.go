package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/cluster/schedulers"
	"graft/cluster/study"
	"graft/cluster/trace/tracetest"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	simulations "graft/runner/study"
)

// aCluster changes to a folder with a trace of three days and the nodes of its cluster.
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
		fmt.Fprintf(&b, "%d,u%d,%s,%d,%d,%d\n", k, k%7, []string{"a", "a", "b"}[k%3],
			[]int{1, 2, 1, 8, 4, 16, 1}[k*5%7], k*3*86_400/jobs, 60+k*k*7919%40_000)
	}
	write(t, filepath.Join(dir, "jobs.csv"), b.String())
	write(t, filepath.Join(dir, "nodes.csv"), ",num\na,3\nb,2\n")
}

// inFolder opens files at relative paths in a folder.
type inFolder struct {
	files.OS
	dir    string
	cancel func() // called when the run folder is created; nil does nothing
}

// MkdirAll creates a folder, and cancels the run at its folder of checkpoints.
func (f inFolder) MkdirAll(path string) error {
	if f.cancel != nil && filepath.Base(path) == "checkpoints" {
		f.cancel()
	}
	return f.OS.MkdirAll(path)
}

func (f inFolder) Open(path string) (files.File, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	return f.OS.Open(path)
}

// writeCluster writes the folder of a run, complete or killed before its end.
func writeCluster(t testing.TB, dir string, open bool) {
	t.Helper()
	simulateCluster(t, dir, open, `schedule.schedulers=["fifo", "srtf"]`, "cluster.usage_every_seconds=3600",
		"schedule.ablate=true")
}

// simulateCluster writes the folder of a run with the given assignments.
func simulateCluster(t testing.TB, dir string, open bool, set ...string) {
	t.Helper()
	in := inFolder{dir: t.TempDir()}
	writeTrace(t, in.dir, 300)
	w := worlds.Named("rigid")
	c, err := config.ReadNamed[study.File](w.Name, config.Open(in, ""), append([]string{
		`workload.traces=["jobs.csv"]`, `cluster.vc_file="nodes.csv"`, "run.folder=" + config.Quote(dir)}, set...))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if open {
		in.cancel = cancel
	}
	_, err = simulations.Run(ctx, &app.Env{Files: in, Now: func() time.Time { return when }, Version: "v0.1.0",
		Host: "node", Args: []string{"graft", "cluster", "run"}, Log: zap.NewNop()}, w, c, "", app.FolderOptions{})
	require.Equal(t, open, err != nil, err)
	path := filepath.Join(dir, runs.ManifestFile) // a new key would change the digest
	write(t, path, strings.ReplaceAll(contents(t, path), config.Digest(c), strings.Repeat("56", 32)))
}

// lines returns the rows of a table of jobs, by column.
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

// withoutProfiles returns the names of the schedulers that need no profiles.
func withoutProfiles() string {
	var names []string
	for _, k := range schedulers.Kinds() {
		if !k.Profiles {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ",")
}

// Every scheduler runs all jobs. The files are the same for any number of workers, and reports read them.
func TestClusterRun(t *testing.T) {
	aCluster(t, 300)
	args := []string{"cluster", "run", "--trace", "jobs.csv", "--vc-file", "nodes.csv", "--scheduler",
		withoutProfiles(),
		"--estimates", "exact", "--set", "cluster.usage_every_seconds=3600", "--quiet"}
	got := done(t, append(args, "--out", "one", "--workers", "1")...)
	require.Equal(t, failure.Done, graft(append(args, "--out", "many", "--workers", "5")...).code)
	for _, name := range strings.Split(withoutProfiles(), ",") {
		require.Len(t, lines(t, filepath.Join("one", name, "jobs.csv")), 300, name)
		sameFiles(t, filepath.Join("one", name), filepath.Join("many", name), "jobs.csv", "usage.csv")
	}
	goldenReport(t, "cluster-run.txt", got.stdout)
	report := done(t, "report", "one", "--all")
	require.Contains(t, report.stdout, "Tiresias, by size")
	require.Contains(t, graft("report", "one", "many").stdout, "tiresias jct mean")

	fails(t, failure.Usage, "the folder already exists", append(args, "--out", "one")...)
	outcome := contents(t, filepath.Join("one", runs.OutcomeFile))
	require.NoError(t, os.Remove(filepath.Join("one", runs.OutcomeFile)))
	require.Equal(t, failure.Done, graft(append(args, "--out", "one", "--workers", "1", "--resume")...).code)
	require.Equal(t, outcome, contents(t, filepath.Join("one", runs.OutcomeFile)),
		"a run that did not end is done again")
	fails(t, failure.Configuration, "schedule.arrival_factors was [1.0] and is now [2.0]",
		append(args, "--out", "one", "--resume", "--load", "2")...)
}

// JSON has the content of the text at each load. Higher load makes jobs wait longer.
func TestClusterLoads(t *testing.T) {
	aCluster(t, 300)
	r := decoded[study.Outcome](t, done(t, "cluster", "run", "--trace", "jobs.csv", "--vc-file", "nodes.csv",
		"--load", "1,2,0.5", "--json", "--quiet").stdout)
	require.Len(t, r.Cells, 3)
	require.Greater(t, r.Cells[1].Values["queue_mean_s"], r.Cells[0].Values["queue_mean_s"])
	require.Less(t, r.Cells[2].Values["queue_mean_s"], r.Cells[0].Values["queue_mean_s"])
	require.FileExists(t, filepath.Join(r.Folder, "arrivals-x0.5", "fifo", "jobs.csv"))
}

// The arrival factor divides the times after the first submission.
func TestClusterLoadsKeepTheFirstSubmission(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus\n1,36000,10,1\n2,36100,10,1\n")
	done(t, "cluster", "run", "--trace", "jobs.csv", "--nodes", "1", "--load", "2", "--out", "run", "--quiet")
	rows := lines(t, "run/fifo/jobs.csv")
	require.Equal(t, []string{"36000", "36050"}, []string{rows[0]["start [s]"], rows[1]["start [s]"]})
}

// Jobs that cannot run are counted, the other jobs run, and the exit code shows it.
func TestClusterRefusesJobs(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "job_id,gpu_num,submit_time,duration,vc\n1,1,0,5,a\n2,99,1,5,a\n3,1,2,5,b\n4,1,3,0,a\n"+
		"4,1,3,7,a\n5,0,3,7,a\n6,1,-3,7,a\n")
	write(t, "nodes.csv", ",num\na,1\n")
	got := fails(t, failure.Partial, "", "cluster", "run", "--trace", "jobs.csv", "--vc-file", "nodes.csv",
		"--scheduler",
		withoutProfiles(), "--estimates", "exact", "--quiet")
	containsAll(t, got.stderr, "1 larger than its virtual cluster, such as job 2",
		"1 unknown virtual cluster, such as job 3",
		"1 duplicate ID, such as job 4", "1 submitted before the simulation begins, such as job 6")
	require.Contains(t, got.stdout, "Left out of the trace: 1 job without GPUs.")
	require.Len(t, lines(t, "runs/jobs/fifo/jobs.csv"), 2)
}

// A trace without virtual clusters runs on an undivided cluster.
func TestClusterUndivided(t *testing.T) {
	aCluster(t, 50)
	write(t, "bare.csv", "job_id,gpu_num,submit_time,duration\n1,1,0,5\n2,8,1,5\n")
	write(t, "one.csv", ",num\nlab,1\n")
	for _, args := range []string{"--trace jobs.csv --nodes 4", "--trace bare.csv --vc-file one.csv",
		"--trace bare.csv --nodes 1 --compat lucid --from 1 --to 9"} {
		done(t, append(strings.Fields("cluster run --quiet --force "), strings.Fields(args)...)...)
	}
	require.Equal(t, failure.Configuration, graft("cluster", "run", "--trace", "jobs.csv", "--nodes", "0").code)
	write(t, "workload.csv", "name,time,application,num_replicas,batch_size\na,1,cifar10,1,128\n")
	require.Contains(t, graft("cluster", "run", "--trace", "workload.csv", "--nodes", "4").stderr,
		"workload.csv has no jobs with a duration; name another trace, or set adaptive.data")
	write(t, "cpus.csv", "job_id,gpu_num,cpu_num,submit_time,duration\n1,1,4,0,50\n2,1,4,1,50\n3,1,99,1,50\n")
	fails(t, failure.Partial, "1 more processors requested than the nodes have, such as job 3", "cluster", "run",
		"--trace", "cpus.csv", "--nodes", "1", "--set", "cluster.cpus_per_node=7", "--quiet")
	require.Equal(t, "50", lines(t, "runs/cpus/fifo/jobs.csv")[1]["start [s]"])
}

// The timeline of a job that grows and shrinks works in a job file.
func TestClusterTimeline(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "job_id,gpu_num,submit_time,duration,vc\n1,8,0,6000,a\n2,4,600,600,a\n3,8,1200,600,a\n")
	write(t, "nodes.csv", ",num\na,1\n")
	got := done(t, "cluster", "timeline", "--trace", "jobs.csv", "--vc-file", "nodes.csv", "--scheduler", "fair",
		"--job",
		"1", "--budget", "100", "--out", "one.csv")
	require.Contains(t, got.stderr, "set time.budget = 100 and time.devices = 8; ")
	text := contents(t, "one.csv")
	goldenReport(t, "cluster-timeline.csv", text)
	write(t, "job.toml", "[time]\nbudget = \"100s\"\ndevices = 8\ntimeline = \"one.csv\"\n")
	got = done(t, "config", "check", "job.toml")
	require.Contains(t, got.stdout, fmt.Sprintf("%d events", strings.Count(text, "\n")-1))
}

// The timeline of a job has the device changes due to failures: the job continues on one node and grows again, or loses
// all devices and restarts.
func TestClusterTimelineOfFailures(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "job_id,gpu_num,submit_time,duration,vc\n1,16,0,6000,a\n")
	args := []string{"cluster", "timeline", "--trace", "jobs.csv", "--nodes", "2", "--scheduler", "fair", "--job", "1",
		"--set", "failures.outages=[{node=1, from_seconds=600, to_seconds=3000}]", "--set",
		"failures.on_failure=shrink"}
	got := done(t, append(args, "--out", "one.csv")...)
	// The job repeats 600 s of work, and works at half the rate for 2460 s, since fair divides once a minute. Growing
	// costs 40 s.
	require.Contains(t, got.stderr, "set time.budget = 7870 and time.devices = 16; the timeline has 2 changes; "+
		"the job lost all its devices 0 times")
	require.Equal(t, "seconds,change,devices\n600,down,8\n3060,up,16\n", contents(t, "one.csv"))
	write(t, "job.toml", "[time]\nbudget = \"7870s\"\ndevices = 16\ntimeline = \"one.csv\"\n")
	require.Contains(t, done(t, "config", "check", "job.toml").stdout, "2 events")
	args[len(args)-1] = "failures.on_failure=restart"
	args[7] = "fifo"
	require.Contains(t, done(t, args...).stderr, "the job lost all its devices 1 time")
}

// The command gives the first simulator's results, job by job.
func TestClusterRunAgainstTheFirst(t *testing.T) {
	data, err := filepath.Abs(filepath.Join("..", "..", "shared", "reference", "lucid"))
	require.NoError(t, err)
	if _, err := os.Stat(data); err != nil {
		t.Skip("left out: the first simulator's results are not here")
	}
	t.Chdir(t.TempDir())
	r := decoded[study.Outcome](t, done(t, "cluster", "run", "--data", data, "--trace",
		filepath.Join(data, "cluster_full_log.published_order.csv"), "--scheduler", "fifo,sjf,srtf,qssf,tiresias,lucid",
		"--compat", "lucid", "--json", "--quiet", "--out", "o").stdout)
	sums := map[string][2]int64{"fifo": {1568026427, 1287223398}, "sjf": {503306185, 222503156}, "srtf": {300859560,
		19796332}, "qssf": {448488860, 167685831}, "tiresias": {350728235, 69572647}, "lucid": {307450179, 21836746}}
	for _, c := range r.Cells {
		require.Equal(t, sums[c.Scheduler], [2]int64{int64(c.Values["jct_sum_s"]), int64(c.Values["queue_sum_s"])},
			c.Scheduler)
		require.Len(t, lines(t, filepath.Join("o", c.Scheduler, "jobs.csv")), 23_859)
	}
}

// The error for a wrong flag of a cluster names the flag and the expected value.
func TestClusterFlagFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "job_id,gpu_num,submit_time,duration,vc\n1,8,0,600,a\n2,4,600,600,a\n")
	for flags, says := range map[string]string{
		"": "set cluster.nodes (--nodes) to the number of nodes, cluster.vc_file (--vc-file) to a file of virtual " +
			"clusters, or cluster.data (--data) to a folder",
		"--nodes 16x8": `--nodes is "16x8"; expected a whole number; a file of virtual clusters belongs to ` +
			"--vc-file",
		"--nodes 0":  "nodes is missing",
		"--nodes -1": "nodes is -1; must be between 1 and",
		"--vc-file none.csv": "none.csv: file does not exist; set cluster.vc_file (--vc-file) to another file, or " +
			"cluster.nodes (--nodes) to a number of nodes",
		"--vc-file a.csv --nodes 2": "nodes is 2, but vc_file lists the nodes too; remove one of them",
		"--nodes 2 --trace none.csv": "read trace none.csv: file does not exist; name another file in " +
			"workload.traces (--trace)",
		"--nodes 2 --scheduler goodput": "the scheduler goodput is for simulations of adaptive jobs: jobs whose " +
			"batch",
		"--nodes 2 --scheduler drf":   "the scheduler drf is for simulations of elastic jobs: jobs whose workers",
		"--nodes 2 --scheduler SRTF":  `unknown scheduler "SRTF"; did you mean srtf`,
		"--nodes 2 --from 2026-09-05": `--from is "2026-09-05"; expected a whole number`,
		"--nodes 2 --load -1,abc":     `--load contains "-1"; expected numbers above 0`,
		"--nodes 2 --load 1,abc":      `--load contains "abc"; expected numbers above 0`,
		"--nodes 2 --workers many":    `--workers is "many"; expected a whole number`,
		"--nodes 2 --estimates limits": "the trace has no user time limits; set schedule.estimates (--estimates) to " +
			"another source",
		"--nodes 2 --scheduler sjf,lucid": "set schedule.estimates (--estimates) to a file",
	} {
		args := append([]string{"cluster", "run", "--trace", "jobs.csv", "--out", "run"}, strings.Fields(flags)...)
		if strings.Contains(flags, "--trace") {
			args = append([]string{"cluster", "run", "--out", "run"}, strings.Fields(flags)...)
		}
		got := graft(args...)
		require.NotEqual(t, failure.Done, got.code, flags)
		require.Contains(t, got.stderr, says, flags)
		require.NotContains(t, got.stderr, "strconv", flags)
	}
	fails(t, failure.Usage, `--every is "soon"; expected a time, such as 90s or 1m30s`, "serve", "--every", "soon")
	fails(t, failure.Usage, "is a folder; name a policy and tables", "evaluate", ".")
}

// The scheduler all selects the schedulers whose data is given. Backfill uses the users' time limits by default.
func TestSchedulersOfASlurmTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "slurm.csv", tracetest.Slurm)
	o := decoded[study.Outcome](t, graft("cluster", "run", "--trace", "slurm.csv", "--nodes", "1", "--scheduler", "all",
		"--json").stdout)
	names, marked := []string{}, []string{}
	for _, s := range o.Schedulers {
		names = append(names, s.Name)
		if s.Mark != "" {
			marked = append(marked, s.Name)
		}
	}
	require.Equal(t, []string{"fifo", "sjf", "srtf", "tiresias", "backfill", "fair", "offers"}, names)
	require.Equal(t, []string{"sjf", "srtf"}, marked, "backfill has the time limits")
	require.Contains(t, strings.Join(o.Remarks, " "), "even jobs that did not complete there: 1 NODE_FAIL.")
	o = decoded[study.Outcome](t, graft("cluster", "run", "--trace", "slurm.csv", "--nodes", "1", "--scheduler",
		"backfill,qssf", "--estimates", "exact", "--json", "--force").stdout)
	require.Equal(t, []string{"*", "*"}, []string{o.Schedulers[0].Mark, o.Schedulers[1].Mark}, "both know the "+
		"durations")
}

// Jobs whose models stand for networks take the step times of a profile. Jobs on a shared link slow each other down,
// more on a slower link. Other jobs keep the trace's speed.
func TestClusterOfNetworks(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus,model,batch,state\n"+
		"a,0,1000,12,resnet,4096,completed\nb,60,1000,12,resnet,4096,completed\n"+
		"c,2000,500,4,resnet,1024,completed\nd,2000,500,2,other,,completed\n")
	ends := func(bandwidth string) (all []string) {
		write(t, "c.toml", "[cluster]\nnodes = 3\nplacement = \"random\"\n[workload]\ntraces = [\"jobs.csv\"]\n"+
			"[training]\nmodels = [\"resnet\"]\nnetworks = [\"ResNet18\"]\nprofile = \"h100:tf32\"\nbandwidth = "+
			bandwidth+"\n")
		done(t, "config", "check", "c.toml")
		done(t, "cluster", "run", "c.toml", "--out", "run"+bandwidth)
		rows, err := csv.NewReader(strings.NewReader(contents(t, filepath.Join("run"+bandwidth, "fifo", "jobs.csv")))).
			ReadAll()
		require.NoError(t, err)
		for _, row := range rows[1:] {
			all = append(all, row[4])
		}
		return all
	}
	require.Equal(t, []string{"1503", "1563", "2500", "2500"}, ends("1e9"))
	require.Equal(t, []string{"1000", "1060", "2500", "2500"}, ends("1e12"))
	write(t, "c.toml", strings.Replace(contents(t, "c.toml"), "ResNet18", "ResNet99", 1))
	fails(t, failure.Configuration, `training.networks: unknown network "ResNet99"`, "cluster", "run", "c.toml",
		"--out", "none")
	write(t, "c.toml", strings.Replace(contents(t, "c.toml"), `models = ["resnet"]`, `models = ["a", "a"]`, 1))
	fails(t, failure.Configuration, "training.networks has 1 entries for 2 models", "cluster", "run", "c.toml", "--out",
		"none")
}

// The expected energy was computed by hand: 8 GPUs, a job of 8 GPUs for 100 s, a job of 4 GPUs for 100 s from second
// 200, and an outage of 30 s in between.
func TestClusterEnergy(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "jobs.csv", "id,submit [s],duration [s],gpus\n1,0,100,8\n2,200,100,4\n")
	write(t, "cluster.toml", "[cluster]\nnodes = 1\npower = {busy_watts = 400, idle_watts = 50}\n[workload]\n"+
		"traces = [\"jobs.csv\"]\n[schedule]\nschedulers = [\"fifo\"]\n[[failures.outages]]\nnode = 0\n"+
		"from_seconds = 120\nto_seconds = 150\n")
	require.Contains(t, done(t, "cluster", "run", "cluster.toml", "--out", "run", "--quiet").stdout, "ENERGY [kWh]")
	busy, all := 8*100.0+4*100, 8*(300.0-30)
	energy := readStudy(t, "run").Cells[0].Values["energy_kwh"]
	require.InDelta(t, (400*busy+50*(all-busy))/3.6e6, float64(energy), 1e-12)
	fails(t, failure.Configuration, "busy_watts is 40 and idle_watts is 50", "cluster", "run", "cluster.toml", "--set",
		"cluster.power.busy_watts=40")
}

// The expected energy was computed by hand. The nodes of a virtual cluster stay idle from the end of its jobs to the
// end of the last job of the other virtual cluster.
func TestClusterEnergyUntilTheLastJob(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "nodes.csv", ",num\na,1\nb,1\n")
	write(t, "jobs.csv", "job_id,user,vc,gpu_num,submit_time,duration\n1,u,a,8,0,100\n2,u,b,8,0,300\n")
	done(t, "cluster", "run", "--out", "run", "--quiet", "--set", `workload.traces=["jobs.csv"]`, "--set",
		`cluster.vc_file="nodes.csv"`, "--set", `schedule.schedulers=["fifo"]`, "--set",
		"cluster.power={busy_watts=400, idle_watts=50}")
	busy, all := 8*100.0+8*300, 2*8*300.0
	energy := readStudy(t, "run").Cells[0].Values["energy_kwh"]
	require.InDelta(t, (400*busy+50*(all-busy))/3.6e6, float64(energy), 1e-12)
}
