package config

import (
	"fmt"

	"graft/internal/words"
	"graft/model"
	"graft/net2net"
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
func (j *Job) lateMoment(first, grown *model.Network, wanted int, remedy string) string {
	moments := j.Options().Moments()
	p, err := j.Profile()
	if err != nil || p == nil || first == nil || len(moments) == 0 {
		return ""
	}
	f := j.forecast(p, first)
	f.Decide = func(*model.Network, int) (net2net.Action, *model.Network) { return net2net.Action{}, grown }
	spans, known := f.Spans()
	fits := 0
	for _, s := range spans {
		fits += s.Decisions
	}
	if !known || fits >= wanted {
		return ""
	}
	end := fmt.Sprintf("the end of the %v budget", j.Time.Budget)
	if j.Time.Stop > 0 {
		end, remedy = fmt.Sprintf("time.stop = %v", j.Time.Stop), "or stop later"
	}
	return fmt.Sprintf("only %d of %s fit before %s; decision %d is due at %v; decide earlier, %s", fits,
		words.Plural(wanted, "decision"), end, fits+1, moments[fits], remedy)
}

// whenKey is the key that sets the times of decisions.
func (j *Job) whenKey() string {
	if j.Adapt.When == trainer.WhenPeriodic {
		return "adapt.interval"
	}
	return "adapt.at"
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
