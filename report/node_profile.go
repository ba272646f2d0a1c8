package report

import (
	"fmt"
	"io"

	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// PrintNodeProfile writes the measurements of tasks as text.
func PrintNodeProfile(o *runs.NodeProfileOutcome, w io.Writer) error {
	d := &document.Document{}
	writeNodeProfile(o, d)
	if o.Folder != "" {
		d.Say("results in " + o.Folder + "; input for machine.profiles: " + runs.NodePairsFile)
	}
	return d.Print(w)
}

func writeNodeProfile(o *runs.NodeProfileOutcome, d *document.Document) {
	d.Say(fmt.Sprintf("%s on %s, %s, mean, minimum and maximum over %s", words.Plural(len(o.Tasks), "task"), o.Device,
		words.Plural(len(o.Pairs), "pair"), words.Plural(o.Repeats, "repeat")))
	t := document.NewTable("task").Numbers("", "", "runs").Numbers("", "%.3f", "seconds", "min", "max").
		Numbers("", "", "label").Numbers("", "%.0f", "busy %", "MiB").Numbers("", "%.1f", "W")
	for _, one := range o.Tasks {
		score := document.Missing()
		if one.Label != nil {
			score = document.Value(float64(*one.Label), "").As("%.0f")
		}
		t.Add(one.Task, one.Runs, one.Seconds.Mean, one.Seconds.Low, one.Seconds.High, score, one.Utilization,
			one.Memory, one.Watts)
	}
	d.Show(t)
	d.Show(nodePairTable(o.Pairs))
	d.Say("SPEED is relative to the speed of the task alone. LABEL rates how much a task slows its partners: " +
		"0 for a mean speed of partners of at least 0.95, 1 for at least 0.85, 2 for less.")
	for _, f := range o.Left {
		name := f.First
		if f.Second != "" {
			name += " with " + f.Second
		}
		d.Say(fmt.Sprintf("Not measured: %s: %s.", name, f.Reason))
	}
	if o.Note != "" {
		d.Say("Note: " + o.Note + ".")
	}
}

// nodePairTable has a row per pair.
func nodePairTable(pairs []runs.NodeProfilePair) *document.Table {
	t := document.NewTable("first", "second").Numbers("", "%.3f", "speed of first", "min", "max", "of second", "min",
		"max", "sum").Numbers("", "%.0f", "busy %", "MiB").Numbers("", "%.1f", "W")
	for _, p := range pairs {
		t.Add(p.First, p.Second, p.Speed1.Mean, p.Speed1.Low, p.Speed1.High, p.Speed2.Mean, p.Speed2.Low, p.Speed2.High,
			p.Speed1.Mean+p.Speed2.Mean, p.Utilization, p.Memory, p.Watts)
	}
	return t
}

// nodeProfileDetail is the outcome of measured tasks.
type nodeProfileDetail struct{ *runs.NodeProfileOutcome }

func readNodeProfileDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.NodeProfileOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &nodeProfileDetail{o}, nil
}

func (n *nodeProfileDetail) write(d *document.Document) {
	d.Head("tasks")
	writeNodeProfile(n.NodeProfileOutcome, d)
}
