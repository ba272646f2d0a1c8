package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"graft/simulation/evaluation"
)

// pipelineOutcome is how policies fare that a pipeline has made, as outcome.json has it.
type pipelineOutcome struct {
	Learned                string `json:"learned"` // the chooser that is what was learned: all seeds voting
	*evaluation.Comparison        // in the tables that were learned from
	// LeftOut judges policies by tables that they did not learn from; null where nothing
	// is left out.
	LeftOut *leaveReport `json:"left_out"`
}

// pipelineReport is what `graft pipeline --json` prints.
type pipelineReport struct {
	Folder  string           `json:"folder"`  // of the pipeline's run
	Policy  string           `json:"policy"`  // the file of the vote
	Stages  []stageReport    `json:"stages"`  // in their order
	Outcome *pipelineOutcome `json:"outcome"` // how the policies fare
}

func (a *assembly) print(w io.Writer, o *pipelineOutcome) error {
	if a.json {
		return printJSON(w, pipelineReport{a.folder, a.at(policyName, votedFile), a.done, o})
	}
	p := &printer{w: w}
	o.print(p)
	if skipped := a.skipped(); skipped != "" {
		p.line("\nskipped: %s: nothing has changed", printable(skipped))
	}
	p.line("\nresults in %s, the policy in %s", a.folder, a.at(policyName, votedFile))
	return p.err
}

// print writes how the policies fare.
func (o *pipelineOutcome) print(p *printer) {
	p.table(o.tableOfScenarios())
	p.line("In parentheses: regret, in points of accuracy below the best of the table.\n\nover %s, where chance leaves %.2f points to be regretted",
		plural(len(o.Tables), "table"), o.Floor)
	p.standings(o.Standings, o.Against)
	if o.LeftOut == nil {
		p.line("\n%s", seenAll)
		p.tooFew(len(o.Tables), "tables")
		return
	}
	p.line("\nThese tables were learned from. Judged by what was not:\n")
	if p.err == nil {
		p.err = o.LeftOut.print(p.w)
	}
}

// seenAll says that nothing was left out.
const seenAll = "The policies and the best fixed sequence have seen all these tables: for neither is this a test; evaluate.leave_out makes one."

// besideLearned are the rivals that stand beside what was learned.
var besideLearned = []string{"never", "random", "best fixed", "optimum"}

// tableOfScenarios has a line for each table.
func (o *pipelineOutcome) tableOfScenarios() *table {
	columns := []string{"SCENARIO", ">SEQUENCES", "LEARNED", ">LEARNED"}
	for _, name := range besideLearned {
		columns = append(columns, ">"+strings.ToUpper(name))
	}
	columns[2] = "WHAT WAS LEARNED"
	t := newTable(columns...)
	for _, trial := range o.Tables {
		cells := []string{printable(trial.Scenario), fmt.Sprint(trial.Sequences), "-"}
		for _, name := range append([]string{o.Learned}, besideLearned...) {
			k := slices.IndexFunc(trial.Scores, func(v evaluation.Score) bool { return v.Policy == name })
			if k < 0 {
				cells = append(cells, "-")
				continue
			}
			v := trial.Scores[k]
			if name == o.Learned {
				cells[2] = printable(strings.Join(v.Sequence, ", "))
			}
			cells = append(cells, fmt.Sprintf("%s (%.2f)", percentText(v.Accuracy), v.Regret))
		}
		t.add(cells...)
	}
	return t
}

// leaveWatch is how far leaving out is, for bars.
type leaveWatch struct {
	mu   sync.Mutex
	now  evaluation.LeaveOutProgress
	tell func(evaluation.LeaveOutProgress) // nil tells nobody
}

func newLeaveWatch(tell func(evaluation.LeaveOutProgress)) *leaveWatch {
	return &leaveWatch{tell: tell}
}

func (l *leaveWatch) note(p evaluation.LeaveOutProgress) {
	l.mu.Lock()
	l.now = p
	l.mu.Unlock()
	if l.tell != nil {
		l.tell(p)
	}
}

func (l *leaveWatch) read() evaluation.LeaveOutProgress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// scene is what bars draw of it.
func (l *leaveWatch) scene() scene {
	return scene{
		part: func() (int64, int64) {
			p := l.read()
			return int64(p.Policies), int64(p.OfThem)
		},
		right: func() string {
			p := l.read()
			return fmt.Sprintf("%d of %d policies", p.Policies, p.OfThem)
		},
		facts: func(width int) string { return fitting([]string{"left out: " + printable(l.read().Group)}, width) },
	}
}
