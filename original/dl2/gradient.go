package dl2

import (
	"math"

	"graft/learn/dense"
)

// gradient is the gradient of an agent's losses, with statistics.
type gradient struct {
	policy, value [][]float64 // value is nil in imitation and without a critic
	figures       map[string]float64
}

// gradient computes the next gradient, with the networks that were sent.
func (a *agent) gradient(newest nets) (gradient, error) {
	if a.sent != nil {
		newest = *a.sent
	}
	if err := a.policy.SetParams(newest.policy.Params); err != nil {
		return gradient{}, err
	}
	if err := a.value.SetParams(newest.value.Params); err != nil {
		return gradient{}, err
	}
	a.since = 0
	a.updates++
	if a.imitates {
		return a.imitate()
	}
	return a.reinforce()
}

// gather joins the states of transitions.
func (a *agent) gather(places []int) (states []float64) {
	for _, place := range places {
		states = append(states, a.memory.Item(place).state...)
	}
	return states
}

// imitate computes the gradient of the imitation loss.
func (a *agent) imitate() (g gradient, err error) {
	n := a.o.Supervised.Batch / a.o.Agents
	d, err := a.memory.Sample(n, a.random)
	if err != nil {
		return g, err
	}
	pass, width := a.policy.NewPass(n), a.policy.Outputs()
	p := probabilities(pass, a.gather(d.Places))
	labels := make([]float64, len(p))
	for k, place := range d.Places {
		if action := a.memory.Item(place).action; action >= 0 {
			labels[k*width+action] = 1
		}
	}
	loss, logits := SupervisedLosses[a.o.Supervised.Loss](p, labels, n)
	g.policy = a.policy.NewGradients()
	pass.Backward(logits, g.policy)
	g.figures = map[string]float64{"imitation_loss": loss, "entropy": -Entropy(p) * float64(width)}
	return g, nil
}

// reinforce computes the gradients of the policy loss and the value loss.
func (a *agent) reinforce() (g gradient, err error) {
	n := a.o.Reinforced.Batch / a.o.Agents
	d, err := a.memory.Sample(n, a.random)
	if err != nil {
		return g, err
	}
	g.figures = map[string]float64{}
	var stored, rewards []float64
	var actions []int
	for _, place := range d.Places {
		t := a.memory.Item(place)
		stored, actions, rewards = append(stored, t.probabilities...), append(actions, t.action),
			append(rewards, t.reward)
	}
	states := a.gather(d.Places)
	off := a.offs(&g, states, rewards)
	advantages, sum := make([]float64, n), 0.0
	for k := range off {
		if advantages[k] = off[k]; !a.o.Reinforced.NoCritic {
			advantages[k] *= d.Weights[k]
		}
		sum += math.Abs(off[k]) / float64(n)
	}
	pass := a.policy.NewPass(n)
	p := probabilities(pass, states)
	loss, logits := PolicyLoss(stored, actions, advantages, max(0, a.o.Reinforced.Entropy))
	g.policy = a.policy.NewGradients()
	pass.Backward(logits, g.policy)
	g.figures["policy_loss"], g.figures["error"], g.figures["entropy"] = loss, sum,
		-Entropy(p)*float64(a.policy.Outputs())
	for k, place := range d.Places {
		if err := a.memory.Learned(place, off[k]); err != nil {
			return g, err
		}
	}
	return g, nil
}

// offs returns the rewards minus the baseline. With a critic it also stores the gradient of the critic's loss.
func (a *agent) offs(g *gradient, states, rewards []float64) []float64 {
	off := make([]float64, len(rewards))
	copy(off, rewards)
	r := a.o.Reinforced
	if r.NoCritic {
		if !r.NoMean {
			mean := a.memory.MeanReward()
			for k := range off {
				off[k] -= mean
			}
		}
		return off
	}
	pass := a.value.NewPass(len(rewards))
	values := pass.Forward(states)
	for k, v := range values {
		off[k] -= v
	}
	loss, slopes := ValueLoss(values, rewards)
	g.figures["value_loss"] = loss
	g.value = a.value.NewGradients()
	pass.Backward(slopes, g.value)
	return off
}

// meanGradient averages gradients and statistics.
func meanGradient(all []gradient) gradient {
	mean := all[0]
	if len(all) == 1 {
		return mean
	}
	share := 1 / float64(len(all))
	average := func(into [][]float64, of func(g *gradient) [][]float64) {
		for k, list := range into {
			for at := range list {
				sum := 0.0
				for i := range all {
					sum += of(&all[i])[k][at]
				}
				list[at] = sum * share
			}
		}
	}
	average(mean.policy, func(g *gradient) [][]float64 { return g.policy })
	average(mean.value, func(g *gradient) [][]float64 { return g.value })
	for name := range mean.figures {
		sum := 0.0
		for i := range all {
			sum += all[i].figures[name]
		}
		mean.figures[name] = sum * share
	}
	return mean
}

// optimizer is [dense.Adam] or [dense.RMSProp].
type optimizer interface {
	Step(params, gradients [][]float64) error
}

func newOptimizer(rule string, rate float64) optimizer {
	if rule == RMSProp {
		return &dense.RMSProp{Rate: rate}
	}
	return &dense.Adam{Rate: rate}
}

// optimizerState returns pointers to the learning rate, the number of steps and the moments of the parameters.
func optimizerState(o optimizer, params [][]float64) (rate *float64, steps *int, moments [][][]float64) {
	if r, ok := o.(*dense.RMSProp); ok {
		return &r.Rate, &r.Steps, [][][]float64{r.Means(params)}
	}
	a := o.(*dense.Adam)
	first, second := a.Moments(params)
	return &a.Rate, &a.Steps, [][][]float64{first, second}
}
