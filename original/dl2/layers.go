package dl2

import (
	"math/rand/v2"

	"graft/learn/dense"
)

// Constants of initial weights and of the normalisation layers.
const (
	firstScale  = 0.02  // standard deviation of initial weights
	affineEps   = 1e-5  // added to the variance of one
	affineNoise = 0.002 // standard deviation of initial factors
)

func full(width int) dense.Full { return dense.Full{Width: width, Scale: firstScale} }

// Stack returns the layers of a network: the value network if value is true, and the policy network otherwise. The
// observation matrix has the given number of rows. The policy network has perJob outputs for each job, and one output
// for the action that ends the slot.
func (o ShapeOptions) Stack(rows, perJob int, value bool) (all []dense.Layer) {
	o.EnsureDefaults()
	jobs, neurons := o.Size, o.Neurons
	if neurons == 0 {
		neurons = rows * jobs
	}
	first := o.first()
	switch o.Front {
	case ByJob:
		all = o.block(all, grouped{groups: jobs, width: rows, strided: true}, first)
	case ByAttribute:
		all = o.block(all, grouped{groups: rows, width: jobs}, first)
	}
	var trunk []dense.Layer
	if o.Front == ByJob || o.Front == ByAttribute {
		first = dense.ReLU{}
		trunk = o.affine(trunk)
	}
	for range o.Layers {
		trunk = o.block(trunk, full(neurons), first)
		first = dense.ReLU{}
	}
	outputs := perJob*jobs + 1
	if !o.Shortcut {
		if value {
			outputs = 1
		}
		return append(append(all, trunk...), full(outputs))
	}
	all = append(all, twice{})
	for _, l := range trunk {
		all = append(all, beside{rows * jobs, l})
	}
	all = append(all, heads{jobs: jobs, each: rows, width: perJob})
	if value {
		all = append(o.affine(append(all, dense.ReLU{})), full(1))
	}
	return all
}

// first returns the activation of the first layer.
func (o *ShapeOptions) first() dense.Layer {
	if o.FirstTanh {
		return dense.Tanh{}
	}
	return dense.ReLU{}
}

func (o *ShapeOptions) block(all []dense.Layer, l, activation dense.Layer) []dense.Layer {
	return o.affine(append(all, l, activation))
}

func (o *ShapeOptions) affine(all []dense.Layer) []dense.Layer {
	if o.NoAffine {
		return all
	}
	return append(all, dense.Affine{Eps: affineEps, Noise: affineNoise})
}

// grouped applies a separate full layer to each of several equal groups of inputs. Outputs are in the order of groups.
type grouped struct {
	groups, width int
	strided       bool // a group takes every groups-th input; false means adjacent inputs
}

// Outputs returns the total number of outputs of all groups.
func (g grouped) Outputs(int) int { return g.groups * g.width }

// Sizes returns the total number of weights of all groups, then the total number of biases.
func (g grouped) Sizes(inputs int) []int { return []int{inputs * g.width, g.groups * g.width} }

// of returns the parameters of a group, or their gradients.
func (g grouped) of(params [][]float64, k int) [][]float64 {
	size := len(params[0]) / g.groups
	return [][]float64{params[0][k*size:][:size], params[1][k*g.width:][:g.width]}
}

// Init initializes all matrices randomly.
func (g grouped) Init(params [][]float64, inputs int, random *rand.Rand) {
	for k := range g.groups {
		full(g.width).Init(g.of(params, k), inputs/g.groups, random)
	}
}

// inputs copies the inputs of a group.
func (g grouped) inputs(x []float64, k int, into []float64) []float64 {
	for at := range into {
		into[at] = x[g.at(k, at, len(into))]
	}
	return into
}

// at returns the index of a group's input among all inputs.
func (g grouped) at(k, at, size int) int {
	if g.strided {
		return at*g.groups + k
	}
	return k*size + at
}

// Forward implements [dense.Layer].
func (g grouped) Forward(params [][]float64, x, y []float64) {
	part := make([]float64, len(x)/g.groups)
	for k := range g.groups {
		full(g.width).Forward(g.of(params, k), g.inputs(x, k, part), y[k*g.width:][:g.width])
	}
}

// Backward implements [dense.Layer].
func (g grouped) Backward(params, grads [][]float64, x, _, dy, dx []float64) {
	part, below := make([]float64, len(x)/g.groups), make([]float64, len(x)/g.groups)
	if dx == nil {
		below = nil
	}
	for k := range g.groups {
		full(g.width).Backward(g.of(params, k), g.of(grads, k), g.inputs(x, k, part), nil,
			dy[k*g.width:][:g.width], below)
		for at, d := range below {
			dx[g.at(k, at, len(part))] = d
		}
	}
}

// twice repeats its inputs.
type twice struct{}

// Outputs returns twice the number of inputs.
func (twice) Outputs(inputs int) int { return 2 * inputs }

// Sizes returns nil, since the layer has no parameters.
func (twice) Sizes(int) []int { return nil }

// Init does nothing, since the layer has no parameters.
func (twice) Init([][]float64, int, *rand.Rand) {}

// Forward writes two copies of the inputs to y.
func (twice) Forward(_ [][]float64, x, y []float64) { copy(y[copy(y, x):], x) }

// Backward sets the gradient of each input to the sum of the gradients of its two copies.
func (twice) Backward(_, _ [][]float64, x, _, dy, dx []float64) {
	for k := range dx {
		dx[k] = dy[k] + dy[len(x)+k]
	}
}

// beside applies a layer to all inputs except the first ones, which it passes through.
type beside struct {
	keep int
	dense.Layer
}

// Outputs returns the number of inputs that the layer passes on, plus the number of outputs of the inner layer.
func (b beside) Outputs(inputs int) int { return b.keep + b.Layer.Outputs(inputs-b.keep) }

// Sizes returns the sizes of the layer's parameters.
func (b beside) Sizes(inputs int) []int { return b.Layer.Sizes(inputs - b.keep) }

// Init initializes the layer's parameters randomly.
func (b beside) Init(params [][]float64, inputs int, random *rand.Rand) {
	b.Layer.Init(params, inputs-b.keep, random)
}

// Forward implements [dense.Layer].
func (b beside) Forward(params [][]float64, x, y []float64) {
	copy(y, x[:b.keep])
	b.Layer.Forward(params, x[b.keep:], y[b.keep:])
}

// Backward implements [dense.Layer]. The layer is never the first layer of a network, so dx is never nil.
func (b beside) Backward(params, grads [][]float64, x, y, dy, dx []float64) {
	copy(dx, dy[:b.keep])
	b.Layer.Backward(params, grads, x[b.keep:], y[b.keep:], dy[b.keep:], dx[b.keep:])
}

// heads compute the outputs of each job from its own inputs, which come first, and the shared inputs, which follow all
// jobs' inputs. One last output depends only on the shared inputs.
type heads struct{ jobs, each, width int }

// Outputs returns the number of outputs of all jobs, plus one.
func (h heads) Outputs(int) int { return h.jobs*h.width + 1 }

// Sizes returns the numbers of weights and biases: first for the outputs of all jobs, then for the last output.
func (h heads) Sizes(inputs int) []int {
	trunk := inputs - h.jobs*h.each
	return []int{h.jobs * (h.each + trunk) * h.width, h.jobs * h.width, trunk, 1}
}

func (h heads) group() grouped { return grouped{groups: h.jobs, width: h.width} }

// Init initializes all matrices randomly.
func (h heads) Init(params [][]float64, inputs int, random *rand.Rand) {
	trunk := inputs - h.jobs*h.each
	h.group().Init(params, h.jobs*(h.each+trunk), random)
	full(1).Init(params[2:], trunk, random)
}

// join copies the inputs of all jobs, each followed by the shared inputs.
func (h heads) join(x []float64) (joined []float64) {
	for k := range h.jobs {
		joined = append(append(joined, x[k*h.each:][:h.each]...), x[h.jobs*h.each:]...)
	}
	return joined
}

// Forward implements [dense.Layer].
func (h heads) Forward(params [][]float64, x, y []float64) {
	h.group().Forward(params, h.join(x), y[:h.jobs*h.width])
	full(1).Forward(params[2:], x[h.jobs*h.each:], y[h.jobs*h.width:])
}

// Backward implements [dense.Layer]. The layer is never the first layer of a network, so dx is never nil.
func (h heads) Backward(params, grads [][]float64, x, _, dy, dx []float64) {
	own := h.jobs * h.each
	joined, trunk := h.join(x), dx[own:]
	below := make([]float64, len(joined))
	h.group().Backward(params, grads, joined, nil, dy[:h.jobs*h.width], below)
	full(1).Backward(params[2:], grads[2:], x[own:], nil, dy[h.jobs*h.width:], trunk)
	for k := range h.jobs {
		part := below[k*(h.each+len(trunk)):]
		copy(dx[k*h.each:][:h.each], part)
		for at := range trunk {
			trunk[at] += part[h.each+at]
		}
	}
}
