package learn

import (
	"math"
	"math/rand/v2"

	"graft/internal/stat"
	"graft/learn/dense"
)

// actionNet computes values of actions.
type actionNet interface {
	// values returns the values of all actions, state after state; valid until the next call.
	values(states []Observation) []float64
	// descend moves the parameters against the derivatives with respect to the results of the last call of values.
	descend(slope []float64, clip float64) error
	// adopt copies the parameters of a network of the same kind.
	adopt(other actionNet) error
}

func newActionNet(o *DQNOptions, random *rand.Rand) (actionNet, error) {
	if o.Graph != nil {
		m, err := NewGraphNet(*o.Graph, random)
		return &graphValues{m}, err
	}
	var layers []dense.Layer
	for _, width := range o.Hidden {
		layers = append(layers, dense.Full{Width: width, Gain: math.Sqrt2}, dense.ReLU{})
	}
	if o.Duel {
		layers = append(layers, dense.Full{Width: o.Actions + 1, Gain: 1}, dense.Duel{})
	} else {
		layers = append(layers, dense.Full{Width: o.Actions, Gain: 1})
	}
	n, err := dense.New(o.Inputs, random, layers...)
	if err != nil {
		return nil, err
	}
	return &denseValues{n, n.NewPass(o.Batch), &dense.Adam{Rate: o.Rate, Corrected: true}}, nil
}

// denseValues computes values from the values of observations.
type denseValues struct {
	*dense.Network
	pass      *dense.Pass
	optimizer *dense.Adam
}

func (d *denseValues) values(states []Observation) []float64 {
	var flat []float64
	for _, s := range states {
		flat = append(flat, s.Values...)
	}
	return d.pass.Forward(flat)
}

func (d *denseValues) descend(slope []float64, clip float64) error {
	gradients := d.NewGradients()
	d.pass.Backward(slope, gradients)
	dense.ClipNorm(gradients, clip)
	return d.optimizer.Step(d.Params, gradients)
}

func (d *denseValues) adopt(other actionNet) error {
	return d.SetParams(other.(*denseValues).Params)
}

// graphValues computes values from graphs: the value of a state plus the advantage of each action minus their mean
// (Wang et al., Dueling network architectures, 2016).
type graphValues struct{ *GraphNet }

func (g *graphValues) values(states []Observation) (all []float64) {
	logits, values := g.Forward(states)
	for k, row := range logits {
		mean := stat.Mean(row)
		for _, v := range row {
			all = append(all, values[k]+v-mean)
		}
	}
	return all
}

func (g *graphValues) descend(slope []float64, clip float64) error {
	a := g.o.Actions
	logits, values := make([][]float64, len(slope)/a), make([]float64, len(slope)/a)
	for k := range logits {
		row := slope[k*a:][:a]
		mean := stat.Mean(row)
		values[k] = mean * float64(a)
		for _, v := range row {
			logits[k] = append(logits[k], v-mean)
		}
	}
	return g.Descend(logits, values, clip)
}

func (g *graphValues) adopt(other actionNet) error {
	from := other.(*graphValues).Params()
	for k, p := range g.Params() {
		copy(p, from[k])
	}
	g.changed()
	return nil
}
