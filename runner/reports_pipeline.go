package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// pipelineDetail is the stages of a pipeline, and how its policies fare.
type pipelineDetail struct {
	Stages  []pipelineStage  `json:"stages"`  // in their order
	Outcome *pipelineOutcome `json:"outcome"` // null where it has not ended
}

// pipelineStage is what has become of a stage.
type pipelineStage struct {
	Stage   string     `json:"stage"`     // what it does, such as learn
	State   stageState `json:"state"`     // waits, begun, done or failed
	Began   *time.Time `json:"began"`     // when it was last begun; null where it was never
	Seconds float64    `json:"seconds"`   // that it took when it was last done
	Reused  int        `json:"reused"`    // how often it was skipped since
	Changed bool       `json:"changed"`   // what it made is not there any more as it was
	Parts   []string   `json:"part_runs"` // folders of the runs that it left
	Made    []string   `json:"made"`      // what came out of each of them, in words
	Why     string     `json:"why"`       // it failed; empty where it has not
}

func readPipelineDetail(r *runData, _ bool) (runDetail, error) {
	l, err := readLedger(r.fsys, filepath.Join(r.Path, ledgerName))
	if err != nil {
		return nil, err
	}
	d := &pipelineDetail{Stages: []pipelineStage{}}
	if r.Ended {
		if d.Outcome, err = readPipelineOutcome(r.fsys, r.Path); err != nil {
			return nil, err
		}
	}
	parts, _ := l.parts() // what is wrong with them was said when the run was read
	for _, e := range l.All {
		s := pipelineStage{Stage: e.Stage, State: e.State, Seconds: e.Seconds, Reused: e.Reused, Why: e.Why, Parts: []string{}, Made: []string{}}
		if !e.Began.IsZero() {
			s.Began = &e.Began
		}
		if e.State == stageDone {
			made, err := l.made(e)
			s.Changed = err != nil || made != e.Made
		}
		for _, p := range parts {
			if p.stage == e {
				s.Parts, s.Made = append(s.Parts, p.path), append(s.Made, p.words())
			}
		}
		d.Stages = append(d.Stages, s)
	}
	return d, nil
}

// mostWords is how many of a part's figures say what it came to.
const mostWords = 3

// words say what a part came to.
func (p part) words() string {
	switch {
	case p.run != nil:
	case p.none:
		return "-"
	default:
		return "cannot be read"
	}
	var list []string
	for _, q := range p.run.Quantities[:min(mostWords, len(p.run.Quantities))] {
		list = append(list, strings.TrimSpace(strings.ReplaceAll(q.Name, "_", " ")+" "+shownValue(*mean(q.Values), q.Unit)+" "+shownUnit(q.Unit)))
	}
	if !p.run.Ended {
		list = append(list, "not ended")
	}
	return strings.Join(list, ", ")
}

// stateWords is how far a stage is, for people.
func (s *pipelineStage) stateWords() string {
	switch {
	case s.Changed:
		return "changed since"
	case s.State == stageBegun:
		return "begun, not ended"
	}
	return string(s.State)
}

func (p *pipelineDetail) write(d *document) {
	d.head("stages")
	t := newTable("STAGE", "STATE", ">TOOK [s]", ">REUSED", "RUN", "WHAT IT MADE")
	var failed []string
	for _, s := range p.Stages {
		took := "-"
		if s.Seconds > 0 {
			took = shownValue(s.Seconds, unitSeconds)
		}
		cells := []string{s.Stage, s.stateWords(), took, fmt.Sprint(s.Reused)}
		for k, path := range s.Parts {
			t.add(append(cells, path, s.Made[k])...)
			cells = []string{"", "", "", ""}
		}
		if s.Why != "" {
			failed = append(failed, s.Stage+" failed: "+s.Why)
		}
	}
	d.show(t)
	d.say("REUSED is how often a stage was skipped since it was done, as nothing had changed; TOOK is of the process that ended it.")
	d.say(failed...)
	if p.Outcome == nil {
		d.say("It has come to no outcome yet: the same pipeline in the same folder goes on.")
		return
	}
	p.Outcome.write(d)
}

// write adds how the policies fare.
func (o *pipelineOutcome) write(d *document) {
	d.head("scenarios that were learned from")
	d.show(o.tableOfScenarios())
	d.say("In parentheses: regret, in points of accuracy below the best of the table.")
	writeStandings(d, plural(len(o.Tables), "table"), o.Floor, o.Standings, o.Against)
	if o.LeftOut != nil {
		o.LeftOut.write(d)
		return
	}
	d.say(seenAll, tooFew(len(o.Tables), "tables"))
}
