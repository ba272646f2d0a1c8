package learning

import (
	"fmt"
	"math"

	"graft/decider"
	"graft/net2net"
	"graft/simulation"
)

// Linear is a policy that scores a choice by a weighted sum of the choice's features, with separate weights for each
// kind of action. It is a baseline: a structural policy that does not read the network.
type Linear struct {
	scale   decider.Scale
	weights map[net2net.Kind][]float64 // the last is the constant
}

// Number of steps of the fit, and its learning rate; Adam with the constants of Kingma and Ba 2015.
const (
	linearSteps = 300
	linearRate  = 0.05
)

// FitLinear fits a linear policy to trees by the exact gradient of the objective. It uses only the options Beta,
// Entropy, WeightDecay, Reward, Smooth and Pool.
func FitLinear(trees []*simulation.Tree, o Options) (*Linear, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("fit a linear policy: %w", err)
	}
	situations := simulation.Situations(trees)
	_, scale, err := decider.MeasureScales(situations)
	if err != nil {
		return nil, fmt.Errorf("fit a linear policy: %w", err)
	}
	l := &Linear{scale: scale, weights: map[net2net.Kind][]float64{}}
	inputs := l.inputs(situations)
	fit := &linearFit{Linear: l, first: map[net2net.Kind][]float64{}, second: map[net2net.Kind][]float64{}}
	rewards := o.allRewards(trees)
	for range linearSteps {
		fit.step(trees, inputs, rewards, o)
	}
	return l, nil
}

// input is a choice as read by a linear policy.
type input struct {
	kind   net2net.Kind
	values []float64 // the last is one
}

func (l *Linear) inputs(situations []decider.Situation) (all []input) {
	for _, s := range situations {
		rows := s.Features()
		l.scale.Apply(rows)
		for k, row := range rows {
			all = append(all, input{s.Choices[k].Action.Kind, append(row, 1)})
		}
	}
	return all
}

func (l *Linear) logits(inputs []input) []float64 {
	logits := make([]float64, len(inputs))
	for k, in := range inputs {
		for j, w := range l.weights[in.kind] {
			logits[k] += w * in.values[j]
		}
	}
	return logits
}

// linearFit is the state of a fit.
type linearFit struct {
	*Linear
	first, second map[net2net.Kind][]float64
	steps         int
}

func (f *linearFit) step(trees []*simulation.Tree, inputs []input, rewards [][]float64, o Options) {
	logits := f.logits(inputs)
	slope, at := make([]float64, len(logits)), 0
	for k, t := range trees {
		n := t.ChoiceCount()
		objective{o.Beta, o.Entropy}.value(t, logits[at:at+n], rewards[k], slope[at:at+n])
		at += n
	}
	gradients := map[net2net.Kind][]float64{}
	for k, in := range inputs {
		if gradients[in.kind] == nil {
			gradients[in.kind] = make([]float64, len(in.values))
		}
		for j, v := range in.values {
			gradients[in.kind][j] += slope[k] * v / float64(len(trees))
		}
	}
	f.steps++
	for kind, gradient := range gradients {
		f.move(kind, gradient, o.WeightDecay)
	}
}

// move takes a step of Adam, with decoupled weight decay as in AdamW.
func (f *linearFit) move(kind net2net.Kind, gradient []float64, decay float64) {
	if f.weights[kind] == nil {
		f.weights[kind], f.first[kind], f.second[kind] = make([]float64, len(gradient)), make([]float64, len(gradient)),
			make([]float64, len(gradient))
	}
	w, first, second, n := f.weights[kind], f.first[kind], f.second[kind], float64(f.steps)
	for j, g := range gradient {
		first[j] = 0.9*first[j] + 0.1*g
		second[j] = 0.999*second[j] + 0.001*g*g
		w[j] += linearRate * (first[j]/(1-math.Pow(0.9, n))/(math.Sqrt(second[j]/(1-math.Pow(0.999, n)))+1e-8) -
			decay*w[j])
	}
}

// Follow takes the most likely choice at each decision, and returns the index of the record that it reaches.
func (l *Linear) Follow(t *simulation.Tree) int {
	logits := l.logits(l.inputs(simulation.Situations([]*simulation.Tree{t})))
	starts, at := make([]int, len(t.Nodes)), 0
	for k, n := range t.Nodes {
		starts[k] = at
		at += len(n.Next)
	}
	return t.Follow(func(node int) int {
		return decider.Likeliest(logits[starts[node] : starts[node]+len(t.Nodes[node].Next)])
	})
}
