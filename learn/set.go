package learn

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/learn/dense"
)

// SetOptions shape an agent whose actions are candidates, any number of them, and one that takes
// none. An observation has the globals first, then the features of each candidate.
type SetOptions struct {
	Globals, Features int     // values of the state as a whole, and of a candidate; required
	Hidden            int     // width of the hidden layers; zero means 32
	Rate              float64 // Adam's learning rate; zero means 0.001
	Eps               float64 // Adam's; zero means 1e-5
}

// Set is a [Model] that scores each candidate by the same network, so that neither their order nor
// their number matters. The score of taking none, and the value, come from the globals and the mean of
// the candidates.
type Set struct {
	o         SetOptions
	networks  [3]*dense.Network // of candidates, of none, of values
	passes    [3]*dense.Pass
	counts    []int // candidates of each state of the last Forward
	optimizer *dense.Adam
}

// The networks of a Set.
const (
	ofCandidates = iota
	ofNone
	ofValues
)

// NewSet draws an agent.
func NewSet(o SetOptions, random *rand.Rand) (*Set, error) {
	o.Hidden = cmp.Or(o.Hidden, 32)
	m := &Set{o: o, optimizer: &dense.Adam{Rate: cmp.Or(o.Rate, 1e-3), Eps: cmp.Or(o.Eps, 1e-5), Corrected: true}}
	for k, gain := range []float64{ofCandidates: 0.01, ofNone: 0.01, ofValues: 1} {
		var err error
		m.networks[k], err = dense.New(o.Globals+o.Features, random, dense.Full{Width: o.Hidden, Gain: math.Sqrt2}, dense.ReLU{},
			dense.Full{Width: o.Hidden, Gain: math.Sqrt2}, dense.ReLU{}, dense.Full{Width: 1, Gain: gain})
		if err != nil {
			return nil, fmt.Errorf("make an agent of candidates: %w", err)
		}
		m.passes[k] = m.networks[k].NewPass(1)
	}
	return m, nil
}

// Twin is an agent that shares the weights, for another goroutine.
func (m *Set) Twin() Agent {
	twin := *m
	for k, n := range m.networks {
		twin.passes[k] = n.NewPass(1)
	}
	return &twin
}

// Score scores one state.
func (m *Set) Score(o Observation) (logits []float64, value float64) {
	all, values := m.Forward([]Observation{o})
	return all[0], values[0]
}

// Forward scores a batch. The last logit of each state is that of taking none.
func (m *Set) Forward(states []Observation) (logits [][]float64, values []float64) {
	var candidates, pooled []float64
	m.counts = m.counts[:0]
	for _, s := range states {
		globals, rows := s.Values[:m.o.Globals], s.Values[m.o.Globals:]
		n := len(rows) / m.o.Features
		m.counts = append(m.counts, n)
		mean := make([]float64, m.o.Features)
		for at := 0; at < len(rows); at += m.o.Features {
			row := rows[at : at+m.o.Features]
			candidates = append(append(candidates, globals...), row...)
			for k, v := range row {
				mean[k] += v / float64(n)
			}
		}
		pooled = append(append(pooled, globals...), mean...)
	}
	scores, none := m.run(ofCandidates, candidates), m.run(ofNone, pooled)
	for k, n := range m.counts {
		logits = append(logits, append(append([]float64{}, scores[:n]...), none[k]))
		scores = scores[n:]
	}
	return logits, m.run(ofValues, pooled)
}

// run computes the outputs of a network.
func (m *Set) run(which int, inputs []float64) []float64 {
	n := m.networks[which]
	if rows := len(inputs) / n.Inputs; rows > m.passes[which].Room() {
		m.passes[which] = n.NewPass(rows)
	}
	return m.passes[which].Forward(inputs)
}

// Descend takes a step of Adam.
func (m *Set) Descend(logits [][]float64, values []float64, clip float64) error {
	var slopes [3][]float64
	slopes[ofValues] = values
	for k, n := range m.counts {
		slopes[ofCandidates] = append(slopes[ofCandidates], logits[k][:n]...)
		slopes[ofNone] = append(slopes[ofNone], logits[k][n])
	}
	var params, gradients [][]float64
	for k, n := range m.networks {
		own := n.NewGradients()
		m.passes[k].Backward(slopes[k], own)
		params, gradients = append(params, n.Params...), append(gradients, own...)
	}
	dense.ClipNorm(gradients, clip)
	return m.optimizer.Step(params, gradients)
}
