package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/internal/stat"
	"graft/report/document"
)

// Schedulers with equal results in all settings have no rows of differences between settings.
func TestEqualInAllSettings(t *testing.T) {
	o := &study.Outcome{Metrics: []study.Metric{{Name: "jct", Unit: "s"}, {Name: "preemptions"}},
		Workloads:  []string{"w"},
		Schedulers: []study.Candidate{{Name: "fifo"}, {Name: "fair"}, {Name: "srtf"}, {Name: "none"}}}
	for _, point := range []string{"a", "b"} {
		for _, s := range []string{"fifo", "fair", "srtf"} {
			values := study.Values{"jct_s": 10, "preemptions": 0}
			if point == "b" && s == "fair" {
				values["jct_s"] = 8
			}
			if point == "b" && s == "srtf" {
				values["preemptions"] = 1
			}
			o.Cells = append(o.Cells, study.CellOutcome{Point: point, Workload: "w", Scheduler: s, Values: values})
			if point == "b" {
				o.Changes = append(o.Changes, study.PointChange{Point: "b", From: "a", Scheduler: s, Metric: "jct_s",
					Change: stat.OverSeeds{Mean: float64(values["jct_s"]) - 10, N: 1}})
			}
		}
	}
	d, b := &document.Document{}, &strings.Builder{}
	writeChanges(o, d)
	require.NoError(t, d.Print(b))
	require.Contains(t, b.String(), "b: fair")
	require.Contains(t, b.String(), "b: srtf")
	require.NotContains(t, b.String(), "b: fifo")
	require.Contains(t, b.String(), "Equal in all settings: fifo.")
}
