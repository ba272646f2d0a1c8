package trainer

import (
	"fmt"
	"time"

	"graft/model"
	"graft/net2net"
	"graft/trainer/clock"
)

// late returns the reason if no training step can follow an action, so that the grown network would stay untrained. It
// is empty if a step can follow, if the times are unknown, and with Overrun, because results then describe the network
// of the last whole epoch. Timeline.Stop has no effect: the job is the first part of a job without it.
func (a *adaptation) late(action net2net.Action) string {
	if a.Overrun || action.Kind == net2net.None {
		return ""
	}
	grown := a.Network.Bare()
	if _, err := net2net.Apply(grown, action, a.surgery()); err != nil {
		return "" // the surgery reports it
	}
	if a.Epochs > 0 && a.Epoch+1 >= a.Epochs && a.Step == a.perEpoch() {
		return fmt.Sprintf("the job ends after %d epochs, so no training step follows", a.Epochs)
	}
	spends := []clock.Work{{Kind: clock.Surgery, Count: 1, Network: grown}}
	if a.remote == nil && virtual(a.Clock) && a.Adapt.starting(action) {
		spends = append(spends, a.gradientWork(a.Network))
	}
	if left, one := a.leftFor(grown, spends...); left < max(one, 1) {
		return fmt.Sprintf("a training step of the new network takes %v, but only %v are left for training", one,
			max(0, left))
	}
	return ""
}

// leftFor returns the time for training that is left after some work and, at the end of an epoch, its evaluation, and
// the time of one step, with another network. The time left is unlimited if the clock lacks these times.
func (a *adaptation) leftFor(n *model.Network, spends ...clock.Work) (left, one time.Duration) {
	step, evaluation := a.workOn(n, a.batch()), a.evaluating(a.Data.Validation)
	evaluation.Network = n
	if clock.Knows(a.Clock, append(spends, step, evaluation)...) != nil {
		return 1<<63 - 1, 0
	}
	end := a.Scheduler.Budget() - a.Clock.Cost(evaluation)
	if a.Step == a.perEpoch() {
		spends = append(spends, evaluation)
	}
	left = end - a.Clock.Now()
	for _, w := range spends {
		left -= a.Clock.Cost(w)
	}
	return left, a.Clock.Cost(step)
}
