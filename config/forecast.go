package config

import (
	"errors"
	"fmt"
	"time"

	"graft/dataset"
	"graft/internal/decode"
	"graft/internal/words"
	"graft/model"
	"graft/trainer"
	"graft/trainer/clock"
)

// lateEvent is an up after which not all decisions fit in.
type lateEvent struct {
	at           int // in the timeline
	fits, wanted int // decisions
}

// lateEvents lists the ups whose decisions do not all fit in, for a job whose network is another one
// after its first decision; nil where that cannot be known.
func (j *Job) lateEvents(first, grown *model.Network) (late []lateEvent, decisions int) {
	p, err := j.Profile()
	if err != nil || p == nil || first == nil {
		return nil, j.Decisions()
	}
	o := j.Options()
	f := trainer.Forecast{Timeline: o.Timeline, Profile: p, Options: o, First: first, Grown: grown}
	f.Training, f.Validation = dataset.DeclaredCounts(j.Data)
	fits, known := f.Decisions()
	if !known {
		return nil, j.Decisions()
	}
	wanted := 1
	if o.Adapt.Every {
		wanted = o.Adapt.MaxDecisions
	}
	for k, e := range o.Timeline.Events {
		decisions += fits[k]
		if e.Change == trainer.Up && fits[k] < wanted {
			late = append(late, lateEvent{k, fits[k], wanted})
		}
	}
	return late, decisions
}

// lateText says which event comes too late, and what to do.
func (j *Job) lateText(l lateEvent, remedy string) string {
	t := j.Options().Timeline
	until := fmt.Sprintf("the end of the budget of %v", t.Budget)
	if l.at+1 < len(t.Events) {
		until = fmt.Sprintf("the next change at %v", t.Events[l.at+1].At)
	}
	return fmt.Sprintf("of %s after the up at %v only %d would come before %s; let the devices come earlier, %s",
		words.Plural(l.wanted, "decision"), t.Events[l.at].At, l.fits, until, remedy)
}

// lateDecisions warns of ups after which not all decisions fit in.
func (j *Job) lateDecisions() (warnings []string) {
	if j.Adapt.Decider == DecideNone {
		return nil
	}
	n, err := j.Declared(nil)
	if err != nil {
		return nil
	}
	late, _ := j.lateEvents(n, n)
	for _, l := range late {
		warnings = append(warnings, "time.events: "+j.lateText(l, "raise time.budget, or lower adapt.max_decisions"))
	}
	return warnings
}

// remedyOfScenarios ends the text about an event of a scenario.
const remedyOfScenarios = "raise time.budget, or set simulate.decisions lower"

// checkEvents blames an event after which not all decisions of a sequence fit in: it could not end.
func (m *Simulation) checkEvents(r *decode.Reading) {
	late, decisions := m.lateEvents(m.network, m.network)
	if decisions < m.decisions() && len(late) > 0 {
		r.Blame("time.events", m.lateText(late[0], remedyOfScenarios))
	}
}

// largestTree bounds the networks that are looked at for a warning.
const largestTree = 300

// errLargeTree ends a walk.
var errLargeTree = errors.New("the tree has more networks")

// lateGrown warns where only sequences whose networks take little time end in the budget.
func (m *Simulation) lateGrown() []string {
	p, err := m.Profile()
	if err != nil || p == nil || m.network == nil || m.decisions() < 2 {
		return nil
	}
	ground, seen := m.ground(m.network), 0
	ground.Decisions-- // the network after the last decision delays none
	var costliest *model.Network
	var most time.Duration
	o := m.Options()
	o.EnsureDefaults()
	err = ground.EachNetwork(func(n *model.Network) error {
		if seen++; seen > largestTree {
			return errLargeTree
		}
		if cost := p.Cost(clock.Work{Kind: clock.Steps, Count: 1, Rows: o.Batch, Network: n}); cost > most {
			costliest, most = n.Sketch(), cost
		}
		return nil
	})
	if err != nil {
		return nil
	}
	if late, decisions := m.lateEvents(m.network, costliest); decisions < m.decisions() && len(late) > 0 {
		return []string{"time.events: sequences that grow the most may not end: " + m.lateText(late[0],
			remedyOfScenarios)}
	}
	return nil
}
