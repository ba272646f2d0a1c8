package study_test

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	simulator "graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/study"
	"graft/runner/study/studytest"
	"graft/runner/worktest"
)

// cellTables reads the tables of a simulated cell, and compares the metrics that a test computes from them.
type cellTables struct {
	t      *testing.T
	cell   *simulator.CellOutcome
	folder string
}

// eachCell simulates a study and passes its cells to the callback check.
func eachCell(t *testing.T, world string, check func(c *cellTables), set ...string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "run")
	f := studytest.Read(t, world, "", append(set, "run.folder="+config.Quote(folder))...)
	o, err := study.Run(t.Context(), worktest.Env(files.OS{}), worlds.Named(world), f, "", app.FolderOptions{})
	require.NoError(t, err)
	for k := range o.Cells {
		check(&cellTables{t, &o.Cells[k], filepath.Join(folder, o.Cells[k].Folder)})
	}
}

// row is a row of a table by the names of its columns.
type row map[string]string

func (r row) number(t *testing.T, column string) float64 {
	v, err := strconv.ParseFloat(r[column], 64)
	if err != nil { // require would take most of the time of these tests
		require.NoError(t, err, column)
	}
	return v
}

// rows reads a table.
func (c *cellTables) rows(name string) (list []row) {
	file, err := os.Open(filepath.Join(c.folder, name+".csv"))
	require.NoError(c.t, err)
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	require.NoError(c.t, err)
	for _, cells := range all[1:] {
		r := row{}
		for k, cell := range cells {
			r[all[0][k]] = cell
		}
		list = append(list, r)
	}
	return list
}

// column returns the numbers of a column.
func (c *cellTables) column(rows []row, name string) (list []float64) {
	for _, r := range rows {
		list = append(list, r.number(c.t, name))
	}
	return list
}

// equal compares a metric with the value that the tables give.
func (c *cellTables) equal(key string, want float64) {
	c.t.Helper()
	got, has := c.cell.Values[key]
	require.True(c.t, has, "%s: %s", c.cell.Scheduler, key)
	require.InDelta(c.t, want, float64(got), 1e-7*max(1, want), "%s: %s", c.cell.Scheduler, key)
}

// jobs compares the metrics of completion times, and returns the rows of jobs.
func (c *cellTables) jobs(unit, tail string, percent float64) []row {
	c.t.Helper()
	jobs := c.rows("jobs")
	jct := c.column(jobs, "jct ["+unit+"]")
	for k, r := range jobs {
		require.InDelta(c.t, r.number(c.t, "end ["+unit+"]")-r.number(c.t, "arrival ["+unit+"]"), jct[k], 1e-6)
	}
	c.equal("jct_mean_"+unit, sum(jct)/float64(len(jct)))
	c.equal("jct_"+tail+"_"+unit, quantileOf(jct, percent/100))
	return jobs
}

func sum(list []float64) (s float64) {
	for _, x := range list {
		s += x
	}
	return s
}

// quantileOf interpolates between neighbouring values.
func quantileOf(list []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// accountsTrace writes a trace with jobs of the same second, without a duration, on parts of a GPU and on many GPUs.
func accountsTrace(t *testing.T) string {
	r := rand.New(rand.NewPCG(7, 11))
	text, at := "id,user,vc,submit [s],duration [s],gpus,share [1/1000],cpus,state,limit [s],spot\n", 86_500
	for k := range 60 {
		at += []int{0, 0, 5, 60, 200}[r.IntN(5)]
		gpus, share, duration := []int{1, 1, 1, 2, 3, 8, 12, 16}[r.IntN(8)], 0, []int{0, 1, 30, 300, 900}[r.IntN(5)]
		if gpus == 1 {
			share = []int{0, 1, 300, 500, 999}[r.IntN(5)]
		}
		cpus, limit := []int{0, 4}[r.IntN(2)]*gpus, []int{0, duration + 60, max(10, duration/2)}[r.IntN(3)]
		text += fmt.Sprintf("%d,u%d,%s,%d,%d,%d,%d,%d,COMPLETED,%d,%d\n", k, k%5, []string{"x", "x", "y"}[r.IntN(3)],
			at, duration, gpus, share, cpus, limit, r.IntN(2))
	}
	return writeText(t, "jobs.csv", text)
}

// writeText writes a file into a new folder.
func writeText(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const accountsOutages = `failures.outages=[{vc="x", node=0, from_seconds=86900, to_seconds=87500}, ` +
	`{vc="x", node=1, from_seconds=87400, to_seconds=89500, kind="drain"}, ` +
	`{vc="y", node=2, from_seconds=87400, to_seconds=106500}, ` +
	`{vc="y", node=0, from_seconds=88000, to_seconds=88400, kind="unannounced-drain"}]`

// The metrics of rigid jobs follow from the tables of the run, and no cell uses more GPUs than the cluster has.
func TestRigidMetricsFollowFromTables(t *testing.T) {
	const spare = "failures.spare_nodes=1"
	for name, set := range map[string][]string{
		"plain":        nil,
		"other limits": {"cluster.cpus_per_node=40", "cluster.enforce_limits=true"},
		"whole GPUs":   {"cluster.whole_gpus=true", `cluster.placement="consolidate-first"`},
		"notices":      {"cluster.spot={evict=true, notice_seconds=40}"},
		"failures":     {accountsOutages, "failures.checkpoint_seconds=50", "failures.restart_seconds=20"},
		"spares":       {accountsOutages, spare, `failures.on_drain="preempt"`},
		"all": {accountsOutages, spare, `failures.on_failure="shrink"`, "cluster.spot={evict=true, notice_seconds=90}",
			"cluster.enforce_limits=true", "cluster.cpus_per_node=40"},
	} {
		t.Run(name, func(t *testing.T) {
			spares := 0
			if slices.Contains(set, spare) {
				spares = 1
			}
			eachCell(t, "rigid", func(c *cellTables) { c.checkRigid(spares) }, append([]string{
				"workload.traces=[" + config.Quote(accountsTrace(t)) + "]", `schedule.estimates="exact"`,
				"cluster.vc_file=" + config.Quote(writeText(t, "vcs.csv", ",num\nx,2\ny,3\n")),
				"cluster.power={busy_watts=400.0, idle_watts=60.0}", "cluster.usage_every_seconds=1",
				`schedule.schedulers=["fifo", "sjf", "srtf", "qssf", "tiresias", "backfill", "edf", "fair", "offers"]`,
			}, set...)...)
		})
	}
}

func (c *cellTables) checkRigid(spares int) {
	jobs := c.jobs("s", "p99", 99)
	require.Len(c.t, jobs, int(c.cell.Values["simulated_jobs"]))
	c.equal("queue_mean_s", sum(c.column(jobs, "queue [s]"))/float64(len(jobs)))
	c.equal("preemptions", sum(c.column(jobs, "preemptions")))
	const begin = 86_400 // midnight before the first submission
	ends, submitted := c.column(jobs, "end [s]"), c.column(jobs, "arrival [s]")
	c.equal("makespan_s", slices.Max(ends)-begin)
	last := slices.Max(submitted)
	end := max(last, slices.Max(ends))
	u := c.usage(map[string]float64{"x": float64(8 * (2 + spares)), "y": float64(8 * (3 + spares))}, last, end)
	c.equal("used_share", u.used/u.all)
	c.equal("energy_kwh", (400*u.usedEver+60*(u.allEver-u.usedEver))/3.6e6)
	if _, has := c.cell.Values["allocated_gpu_h"]; has {
		c.equal("allocated_gpu_h", u.usedEver/3600)
	}
	if _, has := c.cell.Values["availability_share"]; has {
		c.checkLosses(jobs)
		c.equal("availability_share", c.availability(map[string]float64{"x": float64(2 + spares),
			"y": float64(3 + spares)}, begin, u.ended))
	}
}

// used holds GPU seconds with a job and of all GPUs in service, until the last submission and until the end.
type used struct {
	used, all, usedEver, allEver float64
	ended                        map[string]float64 // last second of each virtual cluster
}

// usage sums the table of usage, which has a row per second. After the last row of a virtual cluster, its GPUs are
// idle.
func (c *cellTables) usage(most map[string]float64, last, end float64) used {
	u, gpus := used{ended: map[string]float64{}}, map[string]float64{}
	add := func(at, all, busy, seconds float64) {
		before := max(0, min(at+seconds, last)-at)
		u.used, u.all = u.used+busy*before, u.all+all*before
		u.usedEver, u.allEver = u.usedEver+busy*seconds, u.allEver+all*seconds
	}
	for _, r := range c.rows("usage") {
		vc, at, all, idle := r["vc"], r.number(c.t, "time [s]"), r.number(c.t, "gpus"), r.number(c.t, "idle_gpus")
		if idle < 0 || idle > all || all > most[vc] {
			require.Fail(c.t, "more GPUs than the cluster has", "%s: %v", c.cell.Scheduler, r)
		}
		if at < end {
			add(at, all, all-idle, 1)
		}
		u.ended[vc], gpus[vc] = at, all
	}
	for vc, at := range u.ended {
		add(min(at+1, end), gpus[vc], 0, max(0, end-at-1))
	}
	return u
}

// checkLosses compares the losses of jobs.
func (c *cellTables) checkLosses(jobs []row) {
	failures := c.column(jobs, "failures")
	c.equal("failures_mean", sum(failures)/float64(len(jobs)))
	c.equal("restarts", sum(c.column(jobs, "restarts")))
	hit := 0
	for _, n := range failures {
		hit += int(min(n, 1))
	}
	c.equal("hit_jobs", float64(hit))
}

// availability returns the share of node time without a failure, from the table of outages.
func (c *cellTables) availability(nodes map[string]float64, begin float64, ended map[string]float64) float64 {
	down, all := 0.0, 0.0
	for vc, n := range nodes {
		all += n * (ended[vc] - begin)
	}
	for _, r := range c.rows("outages") {
		if end := ended[r["vc"]]; r["kind"] == "failure" {
			down += max(0, min(r.number(c.t, "to [s]"), end)-r.number(c.t, "from [s]"))
		}
	}
	return 1 - down/all
}

// The metrics of adaptive jobs follow from the tables of the run.
func TestAdaptiveMetricsFollowFromTables(t *testing.T) {
	const devices = 4
	eachCell(t, "adaptive", func(c *cellTables) {
		jobs := c.jobs("s", "p99", 99)
		held, ends := c.column(jobs, "device_time [s]"), c.column(jobs, "end [s]")
		makespan := slices.Max(ends) - slices.Min(c.column(jobs, "arrival [s]"))
		c.equal("makespan_s", makespan)
		c.equal("device_time_h", sum(held)/3600)
		c.equal("used_share", sum(held)/makespan/devices)
		c.equal("restarts", sum(c.column(jobs, "restarts")))
		for k, name := range c.names(jobs) {
			require.InDelta(c.t, held[k], c.allocated(name, ends[k]), 1e-3, "%s: %s", c.cell.Scheduler, name)
		}
		require.LessOrEqual(c.t, slices.Max(c.column(c.rows("series"), "used [devices]")), float64(devices))
	}, adaptiveSet(t, `schedule.schedulers=["pollux", "goodput", "tiresias", "optimus", "fifo", "srtf", "fair"]`)...)
}

func (c *cellTables) names(jobs []row) (list []string) {
	for _, r := range jobs {
		list = append(list, r["job"])
	}
	return list
}

// allocated returns the device-seconds of a job from the changes of its devices until its end.
func (c *cellTables) allocated(name string, end float64) (seconds float64) {
	devices, since := 0.0, 0.0
	for _, r := range c.rows("allocations") {
		if at := r.number(c.t, "time [s]"); r["job"] == name {
			seconds += devices * (at - since)
			devices, since = r.number(c.t, "devices"), at
		}
	}
	return seconds + devices*(end-since)
}

// The metrics of elastic jobs follow from the tables of the run.
func TestElasticMetricsFollowFromTables(t *testing.T) {
	set := slices.DeleteFunc(elasticSet(t), func(s string) bool { return strings.HasPrefix(s, "schedule") })
	eachCell(t, "elastic", func(c *cellTables) {
		jobs := c.jobs("slots", "p95", 95)
		c.equal("makespan_slots", slices.Max(c.column(jobs, "end [slots]")))
		for _, share := range []string{"cpu_used [share]", "gpu_used [share]"} {
			require.LessOrEqual(c.t, slices.Max(c.column(c.rows("series"), share)), 1.0)
		}
	}, append(set, `schedule.schedulers=["fifo", "srtf", "drf", "tetris", "optimus", "peak", "frontier"]`)...)
}

// The metrics of a machine's tasks follow from the tables of the run, and a GPU never has more than its memory and its
// cores in use.
func TestNodeMetricsFollowFromTables(t *testing.T) {
	text := "id,submit [s],duration [s],gpus,gpu_util [%],memory [MiB],user\n"
	for k := range 30 {
		text += fmt.Sprintf("%d,%d,%d,1,%d,%d,u%d\n", k, 100_000+k*k*37%900, 1+k*k*53%300, 20*(k%6), 4000*(k%3), k%3)
	}
	eachCell(t, "node", func(c *cellTables) {
		jobs := c.jobs("s", "p95", 95)
		ends, run := c.column(jobs, "end [s]"), 0.0
		c.equal("makespan_s", slices.Max(ends))
		c.equal("queue_mean_s", (sum(c.column(jobs, "jct [s]"))-sum(c.column(jobs, "run [s]")))/float64(len(jobs)))
		spans, cores := c.rows("spans"), 0.0
		for _, s := range spans {
			seconds := s.number(c.t, "to [s]") - s.number(c.t, "from [s]")
			run, cores = run+seconds, cores+seconds*s.number(c.t, "cores [%]")/100
			c.checkSpans(spans, s["device"], s.number(c.t, "from [s]"))
		}
		require.InDelta(c.t, sum(c.column(jobs, "run [s]")), run, 1e-6)
		c.equal("busy_share", cores/slices.Max(ends)/2)
	}, "machine.gpus=2", "machine.memory_mb=16384", "workload.traces=["+config.Quote(writeText(t, "a.csv", text))+"]",
		`schedule.schedulers=["fcfs", "sjf", "backfill", "best-fit", "round-robin", "lottery", "stride", "wfq"]`)
}

// checkSpans checks the cores and the memory that the tasks of a GPU use at one time.
func (c *cellTables) checkSpans(spans []row, device string, at float64) {
	cores, memory := 0.0, 0.0
	for _, s := range spans {
		if s["device"] == device && s.number(c.t, "from [s]") <= at && at < s.number(c.t, "to [s]") {
			cores, memory = cores+s.number(c.t, "cores [%]"), memory+s.number(c.t, "memory [MiB]")
		}
	}
	require.True(c.t, cores <= 100+1e-9 && memory <= 16384, "%s: %v%% of the cores and %v MiB of GPU %s at %v",
		c.cell.Scheduler, cores, memory, device, at)
}
