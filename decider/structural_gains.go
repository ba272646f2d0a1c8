package decider

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"graft/internal/stat"
	"graft/model"
	"graft/net2net"
)

// Names of the inputs that describe the gains of choices.
const (
	gainShare = "gain_share" // gain of the choice divided by the largest gain
	gainRate  = "gain_rate"  // gain per cost of the choice divided by the largest gain per cost
	gainLevel = "gain"       // logarithm of the gain
)

// rates reports whether the gain of a choice is known and can be compared with other choices. The action "none" has a
// gain of zero.
func (s Situation) rates(c Choice) bool {
	return s.Gains != nil && (c.Gain > 0 || c.Action.Kind == net2net.None) && s.largest(gainOf) > 0
}

func gainOf(c Choice) float64 { return c.Gain }

// gainPerCost divides the gain of a choice by the operations that it adds, or else by the parameters; zero without a
// gain. Both are known for every network, unlike times.
func (s Situation) gainPerCost(c Choice) float64 {
	cost := float64(c.Operations)
	if cost <= 0 {
		cost = float64(c.Parameters)
	}
	if c.Gain <= 0 || cost <= 0 {
		return 0
	}
	return c.Gain / cost
}

// largest returns the largest value over the choices; zero if gains are unknown.
func (s Situation) largest(of func(c Choice) float64) (most float64) {
	if s.Gains == nil {
		return 0
	}
	for k, c := range s.Choices {
		c.Gain = s.Gains[k]
		most = max(most, of(c))
	}
	return most
}

// ReadsGains reports whether the policy was trained on tables with gains, and therefore needs the gains of its choices.
func (p *Structural) ReadsGains() bool {
	if len(p.Forest) == 0 {
		return false
	}
	gains := []string{gainShare, gainRate, gainLevel}
	for k, name := range InputNames()[:len(p.Rows.Deviation)] {
		if slices.Contains(gains, name) && p.Rows.Deviation[k] > 0 {
			return true
		}
	}
	return false
}

// rates reports whether an action has a gain. The network needs no weights.
func (p *Structural) rates(n *model.Network, a net2net.Action) bool {
	return a.Kind != net2net.None && net2net.CheckGain(n.Bare(), a, p.Surgery) == nil
}

// Rated returns the actions whose gains the policy computes before a decision; nil for a policy that reads no gains, or
// that cannot read the network.
func (p *Structural) Rated(n *model.Network) (rated []net2net.Action) {
	if !p.ReadsGains() {
		return nil
	}
	seen, err := p.observe(n)
	if err != nil {
		return nil
	}
	for _, c := range seen.Choices {
		if p.rates(n, c.Action) {
			rated = append(rated, c.Action)
		}
	}
	return rated
}

// rate computes the gains of all choices of a policy that reads gains. Gains stay unknown if the job cannot compute
// them or has no time for them.
func (p *Structural) rate(ctx context.Context, s *Situation) ([]Gain, error) {
	if s.Gain == nil || !p.ReadsGains() {
		return nil, nil
	}
	values, list := make([]float64, len(s.Choices)), []Gain{}
	for k, c := range s.Choices {
		if !p.rates(s.Network, c.Action) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		gain, err := s.State.Gain(c.Action)
		if errors.Is(err, ErrNoTime) {
			return nil, nil
		}
		if err == nil && !stat.Finite(gain) {
			err = fmt.Errorf("the gain is %v, so training diverges; lower the learning rate", gain)
		}
		if err != nil {
			return nil, fmt.Errorf("decide with a policy: gain of %s: %w", c.Action, err)
		}
		values[k] = gain
		list = append(list, Gain{Action: c.Action, Gain: gain, Cost: float64(c.Operations), Unit: Operations})
	}
	s.Gains = values
	return list, nil
}
