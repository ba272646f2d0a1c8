package learn

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"graft/learn/dense"
)

// MLPOptions holds the options of an agent with two fully connected networks, one for logits and one for values.
type MLPOptions struct {
	Inputs, Actions int     // number of values per observation, and number of actions; required
	Hidden          []int   // widths of the hidden layers; empty means 64 and 64
	Rate            float64 // learning rate of Adam; zero means 0.0003
	Eps             float64 // epsilon of Adam; zero means 1e-5
}

// MLP is a [Model] with two fully connected networks.
type MLP struct {
	policy, value         *dense.Network
	policyPass, valuePass *dense.Pass
	optimizer             *dense.Adam
	gradients             [][]float64 // gradients of policy and value, made by the first Descend
}

// NewMLP creates an agent with random parameters. Layers are initialized to orthogonal matrices: hidden layers with a
// gain of √2, logits with a gain of 0.01 and values with a gain of 1 (Engstrom et al., Implementation Matters in Deep
// RL, ICLR 2020).
func NewMLP(o MLPOptions, random *rand.Rand) (*MLP, error) {
	if len(o.Hidden) == 0 {
		o.Hidden = []int{64, 64}
	}
	m := &MLP{optimizer: &dense.Adam{Rate: cmp.Or(o.Rate, 3e-4), Eps: cmp.Or(o.Eps, 1e-5), Corrected: true}}
	layers := func(outputs int, gain float64) (all []dense.Layer) {
		for _, width := range o.Hidden {
			all = append(all, dense.Full{Width: width, Gain: math.Sqrt2}, dense.Tanh{})
		}
		return append(all, dense.Full{Width: outputs, Gain: gain})
	}
	var err error
	if m.policy, err = dense.New(o.Inputs, random, layers(o.Actions, 0.01)...); err != nil {
		return nil, err
	}
	if m.value, err = dense.New(o.Inputs, random, layers(1, 1)...); err != nil {
		return nil, err
	}
	m.room(1)
	return m, nil
}

// room allocates passes for a batch.
func (m *MLP) room(batch int) {
	m.policyPass, m.valuePass = m.policy.NewPass(batch), m.value.NewPass(batch)
}

// Twin returns an agent that shares the weights, for use in another goroutine.
func (m *MLP) Twin() Agent {
	twin := *m
	twin.room(1)
	return &twin
}

// Score returns the logits and the value of one state.
func (m *MLP) Score(o Observation) (logits []float64, value float64) {
	return m.policyPass.Forward(o.Values), m.valuePass.Forward(o.Values)[0]
}

// Forward returns the logits and values of a batch of states.
func (m *MLP) Forward(states []Observation) (logits [][]float64, values []float64) {
	if len(states) > m.policyPass.Room() {
		m.room(len(states))
	}
	var inputs []float64
	for _, s := range states {
		inputs = append(inputs, s.Values...)
	}
	var all []float64
	m.both(len(states), func() { values = m.valuePass.Forward(inputs) }, func() { all = m.policyPass.Forward(inputs) })
	width := m.policy.Outputs()
	for k := range states {
		logits = append(logits, all[k*width:][:width])
	}
	return logits, values
}

// leastShared is the minimum number of products, over a batch with all parameters, for running each network in its own
// goroutine: waking one can take 100 µs on a virtual machine.
const leastShared = 1 << 21

// both computes the networks for a batch, in parallel if there is enough work.
func (m *MLP) both(batch int, value, policy func()) {
	if batch*(m.policy.Count()+m.value.Count()) < leastShared {
		value()
		policy()
		return
	}
	var wait sync.WaitGroup
	wait.Go(value)
	policy()
	wait.Wait()
}

// Descend takes an optimizer step with Adam.
func (m *MLP) Descend(logits [][]float64, values []float64, clip float64) error {
	var flat []float64
	for _, row := range logits {
		flat = append(flat, row...)
	}
	if m.gradients == nil {
		m.gradients = append(m.policy.NewGradients(), m.value.NewGradients()...)
	}
	for _, g := range m.gradients {
		clear(g)
	}
	policy, value := m.gradients[:len(m.policy.Params)], m.gradients[len(m.policy.Params):]
	m.both(len(logits), func() { m.valuePass.Backward(values, value) }, func() { m.policyPass.Backward(flat, policy) })
	if norm := dense.ClipNorm(m.gradients, clip); math.IsNaN(norm) {
		return fmt.Errorf("optimizer step %d: the gradient norm is not a number; lower the learning rate",
			m.optimizer.Steps+1)
	}
	return m.optimizer.Step(params(m.networks()), m.gradients)
}
