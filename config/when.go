package config

import (
	"cmp"
	"fmt"
	"slices"

	"graft/decider"
	"graft/internal/words"
	"graft/model"
	"graft/trainer"
)

// Undecided returns the key and the reason if a job with a decider never asks it, with a remedy. Both are empty if the
// job has decisions.
func (j *Job) Undecided() (key, why string) {
	if j.Decisions() > 0 {
		return "", ""
	}
	switch j.Adapt.When {
	case trainer.WhenPeriodic:
		return "adapt.interval", "no multiple of adapt.interval lies between time.start and the end of the budget, " +
			"so there are no decisions; lower adapt.interval"
	case trainer.WhenShare:
		return "adapt.at", "all shares lie before time.start, so there are no decisions; raise the shares"
	}
	return "time.events", "the timeline has no up event, so there are no decisions; add an up event, such as " +
		"events = [{at = \"30s\", change = \"up\"}], or set adapt.when to \"plateau\" or another time"
}

// moreDecisions names what gives the job more decisions.
func (j *Job) moreDecisions() string {
	switch j.Adapt.When {
	case trainer.WhenPeriodic:
		return "decisions with a higher adapt.max_decisions or a lower adapt.interval"
	case trainer.WhenShare:
		return "shares to adapt.at"
	case trainer.WhenPlateau:
		return "decisions with a higher adapt.max_decisions"
	}
	return "\"up\" events to time.events"
}

// lateMoment describes decisions whose times come too late, for a job whose network changes at its first decision. The
// text is empty if the wanted number of decisions fits before the end of the budget, or if that is unknown.
func (j *Job) lateMoment(first *model.Network, d nextDecision, wanted int, remedy string) string {
	moments := j.Options().Moments()
	p, err := j.Profile()
	if err != nil || p == nil || first == nil || len(moments) == 0 {
		return ""
	}
	f := j.forecast(p, first)
	f.Decide = d.decide
	spans, known := f.Spans()
	fits := 0
	for _, s := range spans {
		fits += s.Decisions - s.Late
	}
	if !known || fits >= wanted {
		return ""
	}
	end := fmt.Sprintf("the end of the %v budget", j.Time.Budget)
	if j.Time.Stop > 0 {
		end, remedy = fmt.Sprintf("time.stop = %v", j.Time.Stop), "or stop later"
	}
	return fmt.Sprintf("%s fit before %s; decision %d is due at %v; decide earlier, %s", fewOf(fits, wanted), end,
		fits+1, moments[fits], remedy)
}

// whenKey is the key that sets the times of decisions.
func (j *Job) whenKey() string {
	if j.Adapt.When == trainer.WhenPeriodic {
		return "adapt.interval"
	}
	return "adapt.at"
}

// firstDecision returns the first event at which the decider is asked, or an event without a change for another time.
// It returns false if the time depends on training, or if there is no decision.
func (j *Job) firstDecision() (at trainer.Event, known bool) {
	o := j.Options()
	if o.Adapt.Kind().Name != trainer.WhenDevices {
		moments := o.Moments()
		if len(moments) == 0 {
			return at, false
		}
		return trainer.Event{At: moments[0]}, true
	}
	up := slices.IndexFunc(o.Timeline.Events, func(e trainer.Event) bool { return e.Change == trainer.Up })
	if up < 0 {
		return at, false
	}
	return o.Timeline.Events[up], true
}

// noTrials warns if no trial of the decider fits into the rest of the budget, so that the network never changes.
func (j *Job) noTrials() []string {
	first, known := j.firstDecision()
	f, charged := j.expectation()
	if j.Adapt.Decider != decideTrials || !known || !charged {
		return nil
	}
	if f.Training < f.Options.Batch {
		return []string{fmt.Sprintf("adapt.decider: the network never changes, because trials need a full batch, but "+
			"train.batch is %d and %s; lower train.batch", f.Options.Batch,
			words.ThereAre(f.Training, "training image"))}
	}
	steps := cmp.Or(j.Adapt.TrialSteps, decider.DefaultTrialSteps)
	took, known := f.Trial(steps, f.Timeline.DevicesAt(first.At))
	left := j.Time.Budget - max(first.At, j.Time.Start)
	if !known || took <= left {
		return nil
	}
	return []string{fmt.Sprintf("adapt.trial_steps: the network never changes, because a trial of %s and the "+
		"evaluations after it take %v, but only %v of the budget is left at the first decision; lower "+
		"adapt.trial_steps, raise time.budget, or decide earlier", words.Plural(steps, "step"), wholeUp(took), left)}
}

// unusedActions warns of a script with more actions than decisions, for times that are known in advance or bounded.
func (j *Job) unusedActions() (list []string) {
	most, n := j.Decisions(), len(j.Adapt.Actions)
	if j.Adapt.Decider != DecideNone && most == 0 {
		key, why := j.Undecided()
		return []string{key + ": " + why}
	}
	if j.Adapt.When == trainer.WhenShare && most < len(j.Adapt.At) {
		list = append(list, fmt.Sprintf("adapt.at: %d of %s lie before time.start and are skipped",
			len(j.Adapt.At)-most, words.Plural(len(j.Adapt.At), "share")))
	}
	if j.Adapt.kind().Actions == ActionsInOrder && n > most {
		list = append(list, fmt.Sprintf("adapt.actions has %d actions, but with adapt.when = %q the job has at "+
			"most %s, so the last actions are not used; add %s, or remove actions", n, string(j.Adapt.When),
			words.Plural(most, "decision"), j.moreDecisions()))
	}
	return list
}
