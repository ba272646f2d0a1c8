package schedulers

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/files"
)

// reference is the folder of the first simulator's inputs and results. Tests that need it
// are left out where it is not there.
func reference(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared", "reference", "lucid"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skip("left out: the first simulator's results are not here")
	}
	return path
}

// lucidWindow is the month that the first simulator's experiment looks at.
var lucidWindow = trace.Window{From: 13_219_200, To: 15_465_540}

func venus(t testing.TB, file, nodes string) *cluster.Study {
	t.Helper()
	vcs, err := trace.ReadNodes(files.OS{}, nodes)
	require.NoError(t, err)
	var names []string
	for _, vc := range vcs {
		names = append(names, vc.Name)
	}
	tr, err := trace.ReadAll(files.OS{}, file, trace.Options{Origin: trace.FirstJob, VCs: names, OnlyGPU: true, Window: &lucidWindow})
	require.NoError(t, err)
	return &cluster.Study{Jobs: tr.Jobs, VCs: vcs, Begin: lucidWindow.From}
}

func TestPublishedOrder(t *testing.T) {
	study := venus(t, reference(t, "cluster_full_log.published_order.csv"), reference(t, "vc_config.csv"))
	var err error
	study.Profiles, err = cluster.ReadProfiles(files.OS{}, reference(t, "single_data.csv"), reference(t, "colocate_info.csv"))
	require.NoError(t, err)
	study.Forecast, err = cluster.ReadForecast(files.OS{}, reference(t, "Venus_throughput_pred.csv"), study.Begin)
	require.NoError(t, err)
	for _, c := range []struct{ policy, golden, estimates string }{
		{"fifo", "fifo", ""}, {"sjf", "sjf", ""}, {"srtf", "srtf", ""}, {"tiresias", "tiresias", ""},
		{"qssf", "qssf", "Venus_Sept_lgb.csv"}, {"qssf", "qssf_ebm", "Venus_Sept_ebm_weekly_updated.csv"},
		{"lucid", "lucid", "Venus_Sept_ebm_weekly_updated.csv"},
	} {
		t.Run(c.golden, func(t *testing.T) {
			study := *study
			if c.estimates != "" {
				var err error
				study.Estimates, err = cluster.ReadEstimates(files.OS{}, reference(t, c.estimates), study.Jobs)
				require.NoError(t, err)
			}
			policy, err := Named(c.policy)
			require.NoError(t, err)
			o, err := study.Run(context.Background(), policy, cluster.Options{Quirks: cluster.AllQuirks()})
			require.NoError(t, err)
			requireSame(t, reference(t, "golden", "published_order", c.golden+"_jobs.csv.gz"), o)
		})
	}
}

// requireSame holds an outcome to the first simulator's, job by job.
func requireSame(t *testing.T, path string, o *cluster.Outcome) {
	t.Helper()
	want := golden(t, path)
	require.Len(t, o.Jobs, len(want))
	wrong := 0
	for _, j := range o.Jobs {
		row := want[j.Trace.ID]
		got := map[string]string{
			"start_time": strconv.FormatInt(j.Start, 10), "end_time": strconv.FormatInt(j.End, 10),
			"queue": strconv.FormatInt(j.Queue, 10), "ckpt_times": strconv.Itoa(j.Preemptions), "nodes": nodesText(j),
		}
		if o.Policy == "lucid" {
			got["profiled"], got["toskip"], got["exclusive"] = flag(j.Profiled), flag(j.Skipped), flag(!j.Shared)
			got["profqueue"] = strconv.FormatInt(j.ProfileQueue, 10)
			got["Tcolocate"], got["Tdelocate"] = strconv.FormatInt(j.PackedAt, 10), strconv.FormatInt(j.UnpackedAt, 10)
			rate, err := strconv.ParseFloat(row["rate"], 64)
			require.NoError(t, err)
			require.Equal(t, rate, j.Rate(), "job %s", j.Trace.ID)
		}
		for column, value := range got {
			if whole(row[column]) != value {
				if wrong++; wrong < 10 {
					t.Errorf("job %s of %s: %s is %s and should be %s", j.Trace.ID, j.Trace.VC, column, value, row[column])
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

// whole is a whole number without the point that tables of floats give it.
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
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	rows, err := csv.NewReader(z).ReadAll()
	require.NoError(t, err)
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
