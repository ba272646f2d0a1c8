package trace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/internal/files"
)

// datedRows writes jobs of one GPU and an hour, in the order of their days.
func datedRows(days ...float64) string {
	var text strings.Builder
	text.WriteString("job_id,user,vc,gpu_num,submit_time,duration\n")
	for k, day := range days {
		at := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(day * float64(24*time.Hour)))
		fmt.Fprintf(&text, "%d,u,a,1,%s,3600\n", k, at.Format(time.DateTime))
	}
	return text.String()
}

func summaryOfText(t *testing.T, text string, o trace.Options, s trace.SummaryOptions) *trace.Summary {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	r, err := trace.Open(files.OS{}, path, o)
	require.NoError(t, err)
	sum, err := trace.Summarize(r, s)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return sum
}

// Jobs long before the others are found in any order of the rows, and a window leaves them out.
func TestEarlyJobs(t *testing.T) {
	var month []float64
	for k := range 200 {
		month = append(month, 30+0.15*float64(k))
	}
	sum := summaryOfText(t, datedRows(append(month, 3, 1)...), trace.Options{}, trace.SummaryOptions{})
	require.Equal(t, &trace.Early{Jobs: 2, Days: 27, Next: 29 * 86_400}, sum.Early, "time 0: day of the first job")
	cut := summaryOfText(t, datedRows(append(month, 3, 1)...), trace.Options{Window: &trace.Window{From: sum.Early.Next,
		To: 1 << 40}}, trace.SummaryOptions{})
	require.Equal(t, 200, cut.Jobs)
	require.Nil(t, cut.Early)
	for name, days := range map[string][]float64{
		"no early jobs":          month,
		"a gap of less than 10%": append([]float64{27}, month...),
		"too many early jobs":    append([]float64{1, 2, 3, 4, 5, 6}, month...),
		"few jobs":               {1, 30, 31},
	} {
		require.Nil(t, summaryOfText(t, datedRows(days...), trace.Options{}, trace.SummaryOptions{}).Early, name)
	}
}

// Only jobs of virtual clusters with nodes count in the load.
func TestLoadOfListedClusters(t *testing.T) {
	text := "id,vc,submit [s],duration [s],gpus\n1,a,0,7200,4\n2,b,0,7200,4\n3,a,3600,0,1\n"
	o := trace.SummaryOptions{}
	o.VCs, o.GPUsPerNode = []trace.VC{{Name: "a", Nodes: 1}}, 8
	sum := summaryOfText(t, text, trace.Options{}, o)
	require.InDelta(t, 16, sum.GPUHours, 1e-9)
	require.InDelta(t, 8, sum.Loading, 1e-9)
	require.InDelta(t, 1, *sum.Load, 1e-9, "8 GPU hours in an hour on 8 GPUs")
	sum = summaryOfText(t, text, trace.Options{}, trace.SummaryOptions{GPUs: 16})
	require.InDelta(t, 1, *sum.Load, 1e-9)
}
