package node

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"graft/cluster/node"
)

// cell quotes a name for CSV if necessary.
func cell(name string) string {
	if !strings.ContainsAny(name, "\",\r\n") {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// spans returns the table of periods in which tasks ran. The group of a task is its kind, or else its flow. Lanes are
// rows of a GPU in a figure: concurrent tasks have different lanes.
func spans(r *node.Result, s *node.Study) string {
	var b strings.Builder
	b.WriteString("task,gpu,lane,from_seconds,to_seconds,cores,memory_mb,end,group\n")
	last := map[int]time.Duration{}
	for _, span := range r.Spans {
		last[span.Task] = max(last[span.Task], span.To)
	}
	for k, lane := range node.Lanes(r.Spans) {
		span := r.Spans[k]
		end := "stopped"
		if last[span.Task] == span.To {
			end = map[bool]string{false: "completed", true: "failed"}[r.Tasks[span.Task].Failed]
		}
		t := &s.Tasks[span.Task]
		fmt.Fprintf(&b, "%s,%d,%d,%v,%v,%v,%v,%s,%s\n", cell(r.Tasks[span.Task].Name), span.Device, lane,
			span.From.Seconds(), span.To.Seconds(), t.Cores, t.Memory, end, cell(cmp.Or(t.Kind, t.Flow)))
	}
	return b.String()
}
