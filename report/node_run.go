package report

import (
	"fmt"
	"io"
	"strings"

	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// mostTaskRows is the maximum number of tasks in text; JSON has all.
const mostTaskRows = 50

// PrintNodeRun writes the outcome of a run of tasks on one machine as text.
func PrintNodeRun(o *runs.NodeRunOutcome, w io.Writer) error {
	d := &document.Document{}
	writeNodeRun(o, d, false)
	if o.Folder != "" {
		d.Say("results in " + o.Folder)
	}
	return d.Print(w)
}

func writeNodeRun(o *runs.NodeRunOutcome, d *document.Document, all bool) {
	d.Say(fmt.Sprintf("%d of %s completed under %s on %s", o.Completed, words.Plural(o.Tasks, "task"), o.Scheduler,
		strings.Join(o.Devices, ", ")))
	t := document.NewTable("task").Numbers("", "", "device").Numbers("", "%.2f", "began", "ended", "run").
		Numbers("", "", "starts", "attempts").Texts("end").Numbers("", "", "exit").
		Numbers("", "%.1f", "J", "net J").Texts("energy")
	left := 0
	for k := range o.Cells {
		c := &o.Cells[k]
		if !all && k >= mostTaskRows && c.End == "done" {
			left++
			continue
		}
		end := c.End
		if c.Reason != "" && c.End != "done" {
			end += ": " + c.Reason
		}
		t.Add(c.Name, c.Device, c.Began, c.Ended, c.Run, c.Starts, c.Attempts, end, c.Exit, c.Joules, c.Net, c.Method)
	}
	d.Show(t)
	if left > 0 {
		d.Say(fmt.Sprintf("%d more tasks completed; 'graft report --all' and outcome.json list them.", left))
	}
	d.Say(fmt.Sprintf(
		"Mean turnaround %.2f s, 95th percentile %.2f s, mean time without a device %.2f s; makespan %.2f s; "+
			"%s, %s retried.", o.Turnaround, o.Tail, o.Wait, o.Makespan, words.Plural(o.Stops, "stop"),
		words.Plural(o.Retries, "failed attempt")))
	if o.Note != "" {
		d.Say("Note: " + o.Note + ".")
	}
}

// PrintNodePlan writes the planned task starts of graft node run as text.
func PrintNodePlan(p *runs.NodePlan, w io.Writer) error {
	d := &document.Document{}
	t := document.NewTable("task").Texts("device").Numbers("", "%.2f", "at", "until").Numbers("", "", "starts").
		Texts("command", "env")
	for _, s := range p.Starts {
		t.Add(s.Task, s.Device, s.At, s.Until, s.Starts,
			strings.Join(append([]string{s.Program}, s.Command[1:]...), " "), strings.Join(s.Env, " "))
	}
	d.Show(t)
	d.Say(fmt.Sprintf("Planned placement by %s, from estimated durations (a minute for tasks without an estimate); "+
		"the last task ends after %.2f s. No tasks were started.", p.Scheduler, p.Makespan))
	if p.Note != "" {
		d.Say("Note: " + p.Note + ".")
	}
	return d.Print(w)
}

// nodeRunDetail is the outcome of executed tasks.
type nodeRunDetail struct {
	*runs.NodeRunOutcome
	all bool
}

func readNodeRunDetail(r *runs.Run, all bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.NodeRunOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &nodeRunDetail{o, all}, nil
}

func (n *nodeRunDetail) write(d *document.Document) {
	d.Head("tasks")
	writeNodeRun(n.NodeRunOutcome, d, n.all)
}
