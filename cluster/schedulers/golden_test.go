package schedulers

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/lucid"
	"graft/cluster/trace"
	"graft/internal/files"
)

// reference is the folder with the inputs and results of the published simulator. Tests that need it are skipped if it
// is missing.
func reference(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared", "reference", "lucid"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skip("left out: the first simulator's results are not here")
	}
	return path
}

// lucidWindow is the month of the published experiment.
var lucidWindow = trace.Window{From: 13_219_200, To: 15_465_540}

func venus(t testing.TB, file, nodes string) *cluster.Study {
	t.Helper()
	vcs := must(trace.ReadNodes(files.OS{}, nodes))
	var names []string
	for _, vc := range vcs {
		names = append(names, vc.Name)
	}
	tr := must(trace.ReadAll(files.OS{}, file, trace.Options{Origin: trace.FirstJob, VCs: names, OnlyGPU: true,
		Window: &lucidWindow}))
	return &cluster.Study{Jobs: tr.Jobs, VCs: vcs, Begin: lucidWindow.From}
}

// known adds the estimates, profiles and forecast of the published simulator to a study.
func known(t testing.TB, study *cluster.Study) {
	t.Helper()
	var err error
	study.Profiles, err = cluster.ReadProfiles(files.OS{}, reference(t, "single_data.csv"),
		reference(t, "colocate_info.csv"))
	require.NoError(t, err)
	study.Forecast, err = cluster.ReadForecast(files.OS{}, reference(t, "Venus_throughput_pred.csv"), study.Begin)
	require.NoError(t, err)
}

// firstRuns lists the published runs.
var firstRuns = []struct{ policy, golden, estimates string }{
	{"fifo", "fifo", ""}, {"sjf", "sjf", ""}, {"srtf", "srtf", ""}, {"tiresias", "tiresias", ""},
	{"qssf", "qssf", "Venus_Sept_lgb.csv"}, {"qssf", "qssf_ebm", "Venus_Sept_ebm_weekly_updated.csv"},
	{"lucid", "lucid", "Venus_Sept_ebm_weekly_updated.csv"},
}

// simulated runs a simulation with the quirks of the published simulator.
func simulated(t testing.TB, study cluster.Study, policy, estimates, placement string) *cluster.Outcome {
	t.Helper()
	if estimates != "" {
		var err error
		study.Estimates, err = cluster.ReadEstimates(files.OS{}, reference(t, estimates), study.Jobs)
		require.NoError(t, err)
	}
	p := must(Named(policy))
	o, err := study.Run(context.Background(), p, cluster.Options{
		Quirks: p.AllQuirks(), Placement: placement, Series: true, Horizon: study.Begin + 26*86_400})
	require.NoError(t, err)
	return o
}

// Starts, ends, waiting times, preemptions and devices of all jobs equal the published results.
func TestPublishedOrder(t *testing.T) {
	study := venus(t, reference(t, "cluster_full_log.published_order.csv"), reference(t, "vc_config.csv"))
	known(t, study)
	want := sums(t, reference(t, "golden", "golden_published_order.json"))
	for _, c := range firstRuns {
		t.Run(c.golden, func(t *testing.T) {
			o := simulated(t, *study, c.policy, c.estimates, "")
			requireSame(t, reference(t, "golden", "published_order", c.golden+"_jobs.csv.gz"), o)
			requireSums(t, want[c.golden], o, study.Begin)
		})
	}
}

// Results on smaller virtual clusters equal the published results under two placement rules.
func TestMini(t *testing.T) {
	study := venus(t, reference(t, "mini", "cluster_full_log.csv"), reference(t, "mini", "vc_config.csv"))
	known(t, study)
	want := sums(t, reference(t, "golden", "golden_mini.json"))
	for _, placement := range []string{"consolidate", "random"} {
		for _, c := range firstRuns {
			name := c.golden + "_" + placement
			if c.golden == "qssf_ebm" {
				continue // no published result
			}
			t.Run(name, func(t *testing.T) {
				o := simulated(t, *study, c.policy, c.estimates, placement)
				requireSame(t, reference(t, "golden", "mini", name+"_jobs.csv.gz"), o)
				requireSums(t, want[name], o, study.Begin)
			})
		}
	}
}

// If jobs are sorted by ID, averages equal the averages of a published run in this order.
func TestOrderOfIDs(t *testing.T) {
	study := venus(t, reference(t, "venus_sept_trace.csv"), reference(t, "vc_config.csv"))
	known(t, study)
	for policy, want := range map[string]struct{ estimates, completion string }{
		"fifo": {"", "64161"}, "qssf": {"Venus_Sept_lgb.csv", "18686"},
		"lucid": {"Venus_Sept_ebm_weekly_updated.csv", "12887"},
	} {
		t.Run(policy, func(t *testing.T) {
			s := new(cluster.Summarizer).Summarize(simulated(t, *study, policy, want.estimates, "").Jobs)
			require.Equal(t, want.completion, strconv.Itoa(int(s.Completion.Mean)))
			t.Logf("measured: %s: mean completion %v s, mean queue %v s", policy, s.Completion.Mean, s.Queue.Mean)
		})
	}
}

func sums(t *testing.T, path string) map[string]map[string]any {
	t.Helper()
	text := must(os.ReadFile(path))
	var all struct{ Policies map[string]map[string]any }
	require.NoError(t, json.Unmarshal(text, &all))
	return all.Policies
}

// requireSums compares sums over all jobs and over the jobs of each pool with published sums.
func requireSums(t *testing.T, want map[string]any, o *cluster.Outcome, begin int64) {
	t.Helper()
	all := want["all"].(map[string]any)
	s := new(cluster.Summarizer).Summarize(o.Jobs)
	got := figuresOf(s, begin)
	profqueue, shared := 0.0, 0.0
	for _, j := range o.Jobs {
		profqueue += float64(lucid.Of(j).ProfileQueue)
		if lucid.Of(j).Shared {
			shared++
		}
	}
	got["profiled"], got["finished_in_profiler"] = float64(s.Counts["profiled"]), float64(s.Counts["ended_in_profiler"])
	got["jobs_ever_colocated_as_guest"], got["left_exclusive0_at_end"] = float64(s.Counts["packed"]), shared
	got["scaling_events"] = float64(o.Counts["profiler_scalings"])
	got["avg_profqueue"] = profqueue / float64(s.Jobs)
	busy, there := 0.0, 0.0
	for _, p := range o.Pools {
		b, n := busyIn(p, begin)
		busy, there = busy+b, there+n
	}
	got["busy_gpu_frac_26d"] = busy / there
	requireFigures(t, "all", all, got)
	for name, other := range map[string]func(*cluster.Job) bool{
		"large_gt8": func(j *cluster.Job) bool { return j.Trace.GPUs <= 8 },
		"small_le8": func(j *cluster.Job) bool { return j.Trace.GPUs > 8 },
	} {
		if part, ok := all[name].(map[string]any); ok {
			jobs := slices.DeleteFunc(slices.Clone(o.Jobs), other)
			requireFigures(t, name, part, figuresOf(new(cluster.Summarizer).Summarize(jobs), begin))
		}
	}
	for _, p := range o.Pools {
		part := want["per_vc"].(map[string]any)[p.Name].(map[string]any)
		got := figuresOf(new(cluster.Summarizer).Summarize(p.Jobs), begin)
		got["seq_rows"] = float64(len(slices.Collect(cluster.Sampled(p.Usage, 60, p.Ended))))
		b, n := busyIn(p, begin)
		got["busy_gpu_frac_26d"] = b / n
		requireFigures(t, p.Name, part, got)
	}
}

// busyIn sums the devices with a job and all devices of a pool over the minutes of 26 days.
func busyIn(p cluster.PoolOutcome, begin int64) (busy, all float64) {
	for u := range cluster.Sampled(p.Usage, 60, p.Ended) {
		if u.At < begin+26*86_400 {
			busy, all = busy+float64(u.GPUs-u.Idle), all+float64(u.GPUs)
		}
	}
	return busy, all
}

func figuresOf(s cluster.Summary, begin int64) map[string]float64 {
	return map[string]float64{
		"jobs": float64(s.Jobs), "avg_jct": s.Completion.Mean, "avg_queue": s.Queue.Mean, "p999_queue": s.Queue.P999,
		"max_queue": s.Queue.Max, "p50_jct": s.Completion.Median, "p99_jct": s.Completion.P99,
		"last_end_rel": float64(s.Last - begin), "sum_jct": float64(s.Completion.Sum),
		"sum_queue":   float64(s.Queue.Sum),
		"preemptions": float64(s.Preemptions),
	}
}

// figuresAgree is the relative tolerance of means and quantiles, which depend on the order of sums.
const figuresAgree = 1e-12

func requireFigures(t *testing.T, where string, want map[string]any, got map[string]float64) {
	t.Helper()
	for name, x := range want {
		if number, is := x.(float64); is {
			value, known := got[name]
			require.True(t, known, "%s: %s", where, name)
			require.InDelta(t, number, value, figuresAgree*max(1, number), "%s: %s", where, name)
		}
	}
}

// requireSame compares an outcome with the published one, job by job.
func requireSame(t *testing.T, path string, o *cluster.Outcome) {
	t.Helper()
	want := golden(t, path)
	require.Len(t, o.Jobs, len(want))
	wrong := 0
	for _, j := range o.Jobs {
		row := want[j.Trace.ID]
		got := map[string]string{
			"start_time": strconv.FormatInt(j.Start, 10), "end_time": strconv.FormatInt(j.End, 10),
			"queue": strconv.FormatInt(j.Queue, 10), "ckpt_times": strconv.Itoa(int(j.Preemptions)),
			"nodes": nodesText(j),
		}
		if o.Policy == "lucid" {
			known := lucid.Of(j)
			got["profiled"], got["toskip"], got["exclusive"] = flag(known.Profiled), flag(known.Skipped),
				flag(!known.Shared)
			got["profqueue"] = strconv.FormatInt(lucid.Of(j).ProfileQueue, 10)
			got["Tcolocate"], got["Tdelocate"] = strconv.FormatInt(known.PackedAt, 10),
				strconv.FormatInt(known.UnpackedAt, 10)
			rate := must(strconv.ParseFloat(row["rate"], 64))
			require.Equal(t, rate, lucid.Rate(j), "job %s", j.Trace.ID)
		}
		for column, value := range got {
			if whole(row[column]) != value {
				if wrong++; wrong < 10 {
					t.Errorf("job %s of %s: %s is %s and should be %s", j.Trace.ID, j.Trace.VC, column, value,
						row[column])
				}
			}
		}
	}
	require.Zero(t, wrong)
}

func flag(is bool) string {
	if is {
		return "1"
	}
	return "0"
}

// whole removes the decimal point from a whole number.
func whole(text string) string { return strings.TrimSuffix(text, ".0") }

func nodesText(j *cluster.Job) string {
	var list []string
	for _, s := range j.Nodes {
		var gpus []string
		for m := s.GPUs; m != 0; m &= m - 1 {
			gpus = append(gpus, strconv.Itoa(bits.TrailingZeros64(m)))
		}
		list = append(list, fmt.Sprintf("{%d: [%s]}", s.Node, strings.Join(gpus, ", ")))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func golden(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	f := must(os.Open(path))
	defer f.Close()
	z := must(gzip.NewReader(f))
	rows := must(csv.NewReader(z).ReadAll())
	want := map[string]map[string]string{}
	for _, row := range rows[1:] {
		m := map[string]string{}
		for k, name := range rows[0] {
			m[name] = row[k]
		}
		want[row[0]] = m
	}
	return want
}

// Correcting only the most expensive bug has the published effect.
func TestSlowPartnerCorrected(t *testing.T) {
	study := venus(t, reference(t, "cluster_full_log.published_order.csv"), reference(t, "vc_config.csv"))
	known(t, study)
	var err error
	study.Estimates, err = cluster.ReadEstimates(files.OS{}, reference(t, "Venus_Sept_ebm_weekly_updated.csv"),
		study.Jobs)
	require.NoError(t, err)
	policy := lucid.Policy(lucid.Options{})
	quirks := slices.DeleteFunc(policy.AllQuirks(), func(name string) bool { return name == "slow-partner" })
	o := must(study.Run(context.Background(), policy, cluster.Options{Quirks: quirks}))
	s := new(cluster.Summarizer).Summarize(o.Jobs)
	require.InDelta(t, 12_804.5, s.Completion.Mean, 0.05)
	require.InDelta(t, 880.9, s.Queue.Mean, 0.05)
}
