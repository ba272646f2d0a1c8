package config

import (
	"fmt"
	"time"

	"graft/decider"
	"graft/internal/decode"
	"graft/internal/words"
	"graft/model"
	"graft/net2net"
	"graft/trainer"
	"graft/trainer/clock"
)

// Expected is the work that a job is expected to do on its virtual clock.
type Expected struct {
	Spans []trainer.Span // between the changes of devices
	Open  bool           // the decider may change the network in ways that the spans do not cover
}

// Steps returns the number of training steps.
func (e Expected) Steps() (steps int64) {
	for _, s := range e.Spans {
		steps += s.Steps
	}
	return steps
}

// Epochs returns the number of complete epochs.
func (e Expected) Epochs() (epochs int) {
	for _, s := range e.Spans {
		epochs += s.Epochs
	}
	return epochs
}

// Expected returns the expected work of a valid job. It returns false if the work is unknown, for example if the job
// uses the wall clock. It assumes that every scripted action is applied, that all other decisions leave the network
// unchanged, and that decisions whose times depend on training do not happen.
func (j *Job) Expected() (Expected, bool) {
	f, known := j.expectation()
	if !known {
		return Expected{}, false
	}
	spans, known := f.Spans()
	open := j.Adapt.Decider != DecideNone && (!j.Adapt.rehearsed() || j.Adapt.Kind().Trained)
	return Expected{Spans: spans, Open: open}, known
}

// Expected returns the expected work of a run in which every action is "none", so the network does not change.
func (m *Simulation) Expected() (Expected, bool) {
	f, known := m.Job.expectation()
	if !known {
		return Expected{}, false
	}
	if rated := m.Rated(); rated != nil {
		f.Gains = func(n *model.Network) int {
			actions, _ := rated(n) // an action that does not fit was reported before
			return len(actions)
		}
	}
	spans, known := f.Spans()
	return Expected{Spans: spans, Open: true}, known
}

// expectation returns the forecast of the job with the decisions that are known in advance.
func (j *Job) expectation() (trainer.Forecast, bool) {
	p, err := j.Profile()
	if err != nil || p == nil {
		return trainer.Forecast{}, false
	}
	n, err := j.Declared(nil)
	if err != nil {
		return trainer.Forecast{}, false
	}
	f := j.forecast(p, n)
	if j.Adapt.rehearsed() {
		f.Decide = j.decided
	}
	f.Gains = j.gains
	return f, true
}

// gains returns the number of gains that the decider computes before a decision.
func (j *Job) gains(n *model.Network) int {
	var rated []net2net.Action
	switch {
	case j.Adapt.Decider == decideGradient:
		rated, _ = decider.Gradient{Random: j.random()}.Rated(n)
	case j.policy != nil && j.policy.structural != nil:
		rated = j.policy.structural.Rated(n)
	}
	return len(rated)
}

// decided returns an action that is known in advance, and the network after it. An action that does not fit is skipped.
func (j *Job) decided(n *model.Network, decision int) (net2net.Action, *model.Network) {
	if j.Adapt.kind().Actions == OneAction {
		decision = 0
	}
	a := scripted(j.Adapt.Actions, decision)
	if a.Kind == "" || a.Kind == net2net.None {
		return net2net.Action{}, n
	}
	grown := n.Sketch()
	if _, err := net2net.Apply(grown, a, j.Adapt.Surgery); err != nil {
		return net2net.Action{}, n
	}
	return a, grown
}

// checkBudget reports a budget that ends before the first step.
func (j *Job) checkBudget(r *decode.Reading) {
	e, known := j.Expected()
	if !known || e.Steps() > 0 || j.Time.Start >= j.Time.Budget {
		return
	}
	f, _ := j.expectation()
	if j.Train.Epochs > 0 && f.Earlier >= j.Train.Epochs {
		return
	}
	if j.Time.Stop > 0 {
		r.Blame("time.stop", fmt.Sprintf("time.stop = %v ends the job before its first training step; set a later "+
			"time", j.Time.Stop))
		return
	}
	if least, known := f.Least(); known {
		r.Blame("time.budget", fmt.Sprintf(
			"the budget ends before the first training step: with the profile %s, one step "+
				"and the evaluation after it take %v, and the job starts at %v; set time.budget to at least %v",
			f.Profile.Name, least, j.Time.Start, wholeUp(j.Time.Start+least)))
	}
}

// wholeUp rounds up to milliseconds.
func wholeUp(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// shortBudget warns of a budget that ends within the first epoch.
func (j *Job) shortBudget() []string {
	e, known := j.Expected()
	if !known || e.Epochs() > 0 || e.Steps() == 0 {
		return nil
	}
	steps := words.Plural(e.Steps(), "step")
	if j.Time.Stop > 0 {
		return []string{fmt.Sprintf("time.stop = %v ends the job in the first epoch, after %s; set a later time to "+
			"train whole epochs", j.Time.Stop, steps)}
	}
	return []string{fmt.Sprintf("time.budget: the budget of %v ends in the first epoch, after %s; raise it to train "+
		"whole epochs", j.Time.Budget, steps)}
}

// fewEpochs warns of a job that grows and trains for a few epochs only.
func (j *Job) fewEpochs() []string {
	e, known := j.Expected()
	if !known || j.Adapt.Decider == DecideNone {
		return nil
	}
	decisions := 0
	for _, s := range e.Spans {
		decisions += s.Decisions
	}
	if advice := trainer.GrowthAdvice(e.Epochs()); advice != "" && (decisions > 0 || e.Open) {
		return []string{advice}
	}
	return nil
}

// checkCosts reports a profile that lacks the costs of the job's networks.
func (j *Job) checkCosts(first *model.Network, r *decode.Reading) {
	p, err := j.Profile()
	if err != nil || p == nil {
		return
	}
	if err := j.CoveredBy(p, first); err != nil {
		r.Blame("time.profile", err.Error())
	}
}

// CoveredBy returns an error if a profile lacks the cost of a step or evaluation of a network that is known before the
// job starts. CoveredBy also returns an error if the decider may create any network and the profile has no rates, from
// which the costs of other networks could be predicted.
func (j *Job) CoveredBy(p *clock.Profile, first *model.Network) error {
	if p.Closed() && j.MayMakeAnyNetwork() {
		return fmt.Errorf("the profile %s has no cost rates and covers only measured networks, but the decider %s may "+
			"create other networks; run 'graft profile' with the job file, or use a profile with cost rates", p.Name,
			j.Adapt.Decider)
	}
	return j.Options().CoveredBy(p, first, j.Adapt.Actions)
}
