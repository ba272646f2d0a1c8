package serve

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/internal/files"
	"graft/internal/parallel"
	"graft/report"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
)

// runLine holds what the list shows about a run.
type runLine struct {
	kind, network string
	seed          *uint64
	began         time.Time // zero means unknown
	said          bool      // the folder records whether the run has ended
	ended         bool
	figure        *report.QuantityReport // first quantity with a direction of improvement; nil for none
	summary       runs.Summary           // progress, trend and failure
	why           string                 // reason why it cannot be read; empty if it can
}

// lines returns the lines of runs in order. It reads only runs that have changed.
func (h *Handler) lines(sights []runState) []*runLine {
	list := make([]*runLine, len(sights))
	h.index.mu.Lock()
	for k, s := range sights {
		if e := h.index.runs[s.name]; e != nil && e.line != nil && e.read == s.tag {
			list[k] = e.line
		}
	}
	h.index.mu.Unlock()
	parallel.Do(len(sights), 0, func(k int) {
		if list[k] == nil {
			list[k] = readLine(h.index.fsys, sights[k].path)
			h.index.note(sights[k].name, sights[k].tag, list[k].ended, list[k])
		}
	})
	return list
}

func readLine(fsys files.FS, folder string) *runLine {
	r, err := runs.Open(fsys, folder)
	if err != nil {
		return &runLine{why: shortReason(strings.TrimPrefix(err.Error(), folder+": "))}
	}
	rep := report.NewRunReport(r)
	e := &runLine{kind: rep.Kind, network: rep.Network, ended: rep.Ended, seed: rep.Seed, summary: r.Summary(),
		said: rep.Created != nil || r.Kind == runs.TableKind}
	if rep.Created != nil {
		e.began = *rep.Created
	}
	if len(rep.Quantities) > 0 {
		at := max(0, slices.IndexFunc(rep.Quantities, func(q report.QuantityReport) bool {
			return q.Better != "" && !(strings.HasPrefix(q.Quantity,
				"failed") && q.Mean == 0) // no failure says nothing
		}))
		e.figure = &rep.Quantities[at]
	}
	return e
}

// maxReason limits the error of a run on the list, in characters; its page has the whole text.
const maxReason = 200

func shortReason(text string) string {
	runes := []rune(document.Printable(strings.Join(strings.Fields(text), " ")))
	if len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}
	return string(runes)
}

// State is the state of a run in the list of runs.
type State string

// States of a run.
const (
	Running State = "running"
	Done    State = "done"    // complete, with an outcome
	Stopped State = "stopped" // not complete, and no process writes it
	Failed  State = "failed"  // ended by an error
	Unknown State = "-"       // the folder does not record whether the run has ended
)

// states lists the states of runs in the order of counts and filters.
var states = []State{Running, Done, Stopped, Failed}

// state returns the state of a run. Active says that a process writes the run, or a run inside it.
func (h *Handler) state(s runState, e *runLine, active bool) State {
	switch {
	case !e.said:
		return Unknown
	case e.ended:
		return Done
	case e.summary.Failed != "" && !h.index.isHeld(filepath.Join(s.path, results.LockFile)): // otherwise it runs again
		return Failed
	case active:
		return Running
	}
	return Stopped
}

// listedRun is a run on the list.
type listedRun struct {
	runState
	*runLine
	state   State
	members []listedRun // runs inside the run
}

// left estimates the time to the end of a running run. The result is false if it is unknown.
func (l *listedRun) left(now time.Time) (time.Duration, bool) {
	if l.state != Running {
		return 0, false
	}
	return l.summary.Progress.Left(now)
}

// amount describes the total amount of work, such as "of 12 cells"; empty if it is unknown.
func (l *listedRun) amount() string {
	p := l.summary.Progress
	if p == nil || p.Unit == "" || !(p.Of > 0) {
		return ""
	}
	return fmt.Sprintf("of %s %s", document.ValueText(p.Of, ""), p.Unit)
}
