package config

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/dataset"
	"graft/internal/decode"
	"graft/internal/words"
	"graft/model"
	"graft/net2net"
	"graft/trainer"
	"graft/trainer/clock"
)

// lateEvent is an up that leaves too little time for all its decisions.
type lateEvent struct {
	at           int // in the timeline
	fits, wanted int // decisions
}

// nextDecision holds the assumptions of a forecast about a decision: its action, and the network after it.
type nextDecision struct {
	action net2net.Action
	grown  *model.Network
}

func (d nextDecision) decide(*model.Network, int) (net2net.Action, *model.Network) {
	return d.action, d.grown
}

// surgeryOn assumes surgery after which the network has about the same costs.
func surgeryOn(n *model.Network) nextDecision { return nextDecision{net2net.Action{Kind: "deepen"}, n} }

// firstListed assumes the first listed action that changes the network, or surgery if no action is listed.
func (j *Job) firstListed(n *model.Network) nextDecision {
	changes := func(a net2net.Action) bool { return a.Kind != net2net.None }
	if k := slices.IndexFunc(j.Adapt.Actions, changes); k >= 0 {
		return nextDecision{j.Adapt.Actions[k], n}
	}
	if len(j.Adapt.Actions) > 0 {
		return nextDecision{grown: n}
	}
	return surgeryOn(n)
}

// lateEvents lists the ups that leave too little time for all their decisions, for a job whose network changes at its
// first decision. It returns nil if that is unknown.
func (j *Job) lateEvents(first *model.Network, d nextDecision) (late []lateEvent, decisions int) {
	p, err := j.Profile()
	if err != nil || p == nil || first == nil {
		return nil, j.Decisions()
	}
	o := j.Options()
	f := j.forecast(p, first)
	f.Decide = d.decide
	spans, known := f.Spans()
	if !known {
		return nil, j.Decisions()
	}
	wanted := 1
	if o.Adapt.Every {
		wanted = o.Adapt.MaxDecisions
	}
	for k, e := range o.Timeline.Events {
		fits := spans[k+1].Decisions - spans[k+1].Late
		decisions += fits
		if e.Change == trainer.Up && fits < wanted {
			late = append(late, lateEvent{k, fits, wanted})
		}
	}
	return late, decisions
}

// forecast returns the forecast of the job, whose network stays the same.
func (j *Job) forecast(p *clock.Profile, first *model.Network) trainer.Forecast {
	o := j.Options()
	f := trainer.Forecast{Timeline: o.Timeline, Profile: p, Options: o, First: first,
		Earlier: j.InitialWeights().Epochs}
	f.Training, f.Validation = dataset.DeclaredCounts(j.Data)
	if j.Program.On() {
		f.Training, f.Validation = j.facts.Steps*j.facts.Batch, j.Program.ValidationExamples
		f.PerDevice = j.Program.Restarts()
	}
	return f
}

// lateText describes an event that comes too late, with a remedy.
func (j *Job) lateText(l lateEvent, remedy string) string {
	t := j.Options().Timeline
	until := fmt.Sprintf("the end of the %v budget", t.Budget)
	if t.Stop > 0 && (l.at+1 == len(t.Events) || t.Stopped(t.Events[l.at+1].At)) {
		until, remedy = fmt.Sprintf("time.stop = %v", t.Stop), "or stop later"
	} else if l.at+1 < len(t.Events) {
		until = fmt.Sprintf("the next change at %v", t.Events[l.at+1].At)
	}
	return fmt.Sprintf("%s after the up event at %v fit before %s; move the event earlier, %s",
		fewOf(l.fits, l.wanted), t.Events[l.at].At, until, remedy)
}

// fewOf says that too few of the wanted decisions fit; a plural verb follows.
func fewOf(fits, wanted int) string {
	if fits == 0 {
		return "no decisions"
	}
	return fmt.Sprintf("only %d of %s", fits, words.Plural(wanted, "decision"))
}

// missedEvents warns of events that the job never reaches. Up events of a job with a decider are late decisions.
func (j *Job) missedEvents() (warnings []string) {
	e, known := j.Expected()
	if !known {
		return nil
	}
	decides := j.Adapt.Decider != DecideNone && j.Adapt.Kind().Name == trainer.WhenDevices
	for _, event := range j.Options().Timeline.Missed(e.Spans) {
		if event.Change == trainer.Up && decides {
			continue
		}
		why := fmt.Sprintf("too little of the %v budget is left then for a training step", j.Time.Budget)
		if j.Time.Stop > 0 {
			why = fmt.Sprintf("no training step fits between it and time.stop = %v", j.Time.Stop)
		}
		if n := j.Train.Epochs; n > 0 && e.Epochs()+j.InitialWeights().Epochs >= n {
			why = fmt.Sprintf("the job ends after %s (train.epochs)", words.Plural(n, "epoch"))
		}
		warnings = append(warnings, fmt.Sprintf("time.events: the %s event at %v is never reached, because %s; "+
			"move it earlier, or remove it", event.Change, event.At, why))
	}
	return warnings
}

// lateDecisions warns of ups that leave too little time for all their decisions.
func (j *Job) lateDecisions() (warnings []string) {
	if j.Adapt.Decider == DecideNone {
		return nil
	}
	n, err := j.Declared(nil)
	if err != nil {
		return nil
	}
	if text := j.lateMoment(n, j.firstListed(n), j.Decisions(), "or raise time.budget"); text != "" {
		return []string{j.whenKey() + ": " + text}
	}
	if j.Adapt.Kind().Name != trainer.WhenDevices {
		return nil
	}
	late, _ := j.lateEvents(n, j.firstListed(n))
	for _, l := range late {
		warnings = append(warnings, "time.events: "+j.lateText(l, "raise time.budget or lower adapt.max_decisions"))
	}
	return warnings
}

// remedyOfScenarios is the remedy for a late event or decision of a scenario.
const remedyOfScenarios = "raise time.budget or lower simulate.decisions"

// checkEvents reports an event that leaves too little time for all decisions: no sequence could end.
func (m *Simulation) checkEvents(r *decode.Reading) {
	if m.Adapt.Kind().Name != trainer.WhenDevices {
		text := m.lateMoment(m.network, nextDecision{grown: m.network}, m.decisions(), remedyOfScenarios)
		if text != "" {
			r.Blame(m.whenKey(), text)
		}
		return
	}
	late, decisions := m.lateEvents(m.network, nextDecision{grown: m.network})
	if decisions < m.decisions() && len(late) > 0 {
		r.Blame("time.events", m.lateText(late[0], remedyOfScenarios))
	}
}

// largestTree limits the networks to examine for a warning.
const largestTree = 300

// errLargeTree stops a walk.
var errLargeTree = errors.New("the scenario has too many different networks; their times were not predicted")

// lateGrown warns if only sequences of fast networks end within the budget.
func (m *Simulation) lateGrown() []string {
	p, err := m.Profile()
	if err != nil || p == nil || m.network == nil || m.decisions() < 2 {
		return nil
	}
	ground, seen := m.ground(m.network), 0
	ground.Decisions-- // the network after the last decision delays no other decision
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
	if m.Adapt.Kind().Name != trainer.WhenDevices {
		if text := m.lateMoment(m.network, surgeryOn(costliest), m.decisions(), remedyOfScenarios); text != "" {
			return []string{m.whenKey() + ": sequences with the costliest networks may not reach all decisions: " +
				text}
		}
		return nil
	}
	if late, decisions := m.lateEvents(m.network, surgeryOn(costliest)); decisions < m.decisions() && len(late) > 0 {
		return []string{"time.events: sequences with the costliest networks may not reach all decisions: " +
			m.lateText(late[0], remedyOfScenarios)}
	}
	return nil
}
