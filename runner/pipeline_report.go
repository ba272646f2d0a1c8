package main

import (
	"fmt"
	"io"
	"sync"

	"graft/results/document"
	"graft/results/report"
	"graft/results/runs"
	"graft/simulation"
	"graft/work"
)

// pipelineReport is what `graft pipeline --json` prints.
type pipelineReport struct {
	Folder  string                `json:"folder"`  // of the pipeline's run
	Policy  string                `json:"policy"`  // the file of the vote
	Stages  []stageReport         `json:"stages"`  // in their order
	Outcome *runs.PipelineOutcome `json:"outcome"` // how the policies fare
}

func (a *assembly) print(w io.Writer, o *runs.PipelineOutcome) error {
	if a.json {
		return document.PrintJSON(w, pipelineReport{a.folder, a.at(runs.PolicyName, votedFile), a.done, o})
	}
	p := &document.Printer{W: w}
	report.PrintPipeline(o, p)
	if skipped := a.skipped(); skipped != "" {
		p.Line("\nskipped: %s: nothing has changed", document.Printable(skipped))
	}
	p.Line("\nresults in %s, the policy in %s", a.folder, a.at(runs.PolicyName, votedFile))
	return p.Err
}

// leaveWatch is how far leaving out is, for bars.
type leaveWatch struct {
	mu   sync.Mutex
	now  simulation.LeaveOutProgress
	tell func(simulation.LeaveOutProgress) // nil tells nobody
}

func newLeaveWatch(tell func(simulation.LeaveOutProgress)) *leaveWatch {
	return &leaveWatch{tell: tell}
}

func (l *leaveWatch) note(p simulation.LeaveOutProgress) {
	l.mu.Lock()
	l.now = p
	l.mu.Unlock()
	if l.tell != nil {
		l.tell(p)
	}
}

func (l *leaveWatch) read() simulation.LeaveOutProgress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// scene is what bars draw of it.
func (l *leaveWatch) scene() work.Scene {
	return work.Scene{
		Part: func() (int64, int64) {
			p := l.read()
			return int64(p.Policies), int64(p.OfThem)
		},
		Right: func() string {
			p := l.read()
			return fmt.Sprintf("%d of %d policies", p.Policies, p.OfThem)
		},
		Facts: func(width int) string {
			return document.Fitting([]string{"left out: " + document.Printable(l.read().Group)}, width)
		},
	}
}
