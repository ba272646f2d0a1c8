package trainer

import (
	"errors"
	"fmt"

	"graft/model"
	"graft/net2net"
	"graft/trainer/clock"
)

// CoveredBy returns an error if a profile lacks the cost of the steps and evaluations of a job. It checks the job's
// network and the network after each of the actions. The network needs no weights and is not changed.
func (o Options) CoveredBy(p *clock.Profile, n *model.Network, actions []net2net.Action) error {
	if !p.Closed() {
		return nil
	}
	o.EnsureDefaults()
	n = n.Sketch()
	for k := -1; k < len(actions); k++ {
		if k >= 0 {
			if _, err := net2net.Apply(n, actions[k], o.Adapt.Surgery); err != nil {
				return err
			}
		}
		err := errors.Join(o.stepsCoveredBy(p, n),
			p.Knows(clock.Work{Kind: clock.Batches, Rows: o.EvalBatch, Network: n}))
		if err != nil && k >= 0 {
			err = fmt.Errorf("after action %s: %w", actions[k], err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stepsCoveredBy returns an error if a profile lacks the cost of a network's steps on the smallest or the largest batch
// with the devices of the timeline.
func (o Options) stepsCoveredBy(p *clock.Profile, n *model.Network) error {
	for _, batch := range []int{o.Batch, max(o.Batch, o.AdaptiveBatch.Most)} {
		for _, e := range append([]Event{{Devices: o.Timeline.First()}}, o.Timeline.Events...) {
			if err := p.Knows(o.stepWork(n, batch, max(1, e.Devices))); err != nil {
				return err
			}
		}
	}
	return nil
}
