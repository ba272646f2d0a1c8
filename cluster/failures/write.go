package failures

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Write writes a trace in the JSON format that Read reads. Open faults have no end. The first event has the observed
// nodes and days.
func (t *Trace) Write(w io.Writer) error {
	type change struct {
		at   int64
		text string
	}
	observed := fmt.Sprintf(`, "observed_nodes": %d, "observed_days": %.6f}`, t.Total, float64(t.Period)/secondsOfDay)
	var changes []change
	for _, n := range t.Nodes {
		for _, f := range n.Faults {
			changes = append(changes, change{f.From, eventText(n.ID, f.From, "fault_start", f)})
			if !f.Open {
				changes = append(changes, change{f.To, eventText(n.ID, f.To, "fault_end", f)})
			}
		}
	}
	// Stable, so that the events of a node at one time keep their order.
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	out := bufio.NewWriter(w)
	_, _ = out.WriteString("[\n") // Flush returns the first error
	for k, c := range changes {
		if k == 0 {
			c.text = strings.TrimSuffix(c.text, "}") + observed
		}
		_, _ = out.WriteString("  " + c.text)
		if k+1 < len(changes) {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('\n')
	}
	_, _ = out.WriteString("]\n")
	return out.Flush()
}

// eventText returns an event as one line. Six decimals of a day identify a second.
func eventText(node string, at int64, what string, f Fault) string {
	quote := func(text string) string {
		b, _ := json.Marshal(text) // a string is always valid
		return string(b)
	}
	return fmt.Sprintf(`{"node_id": %s, "event_time": %.6f, "event_type": "%s", "fault_type": {"Level": %s, `+
		`"Class": %s, "Desc": %s}}`, quote(node), float64(at)/secondsOfDay, what, quote(f.Level), quote(f.Class),
		quote(f.Text))
}
