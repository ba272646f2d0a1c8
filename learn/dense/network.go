// Package dense computes small networks of fully connected layers, and their gradients, without LibTorch. A scheduler's
// decision is one example with many zeros, so a call into LibTorch would cost more than the arithmetic. Results are
// bit-identical on every processor.
package dense

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/internal/validate"
)

// Layer computes one layer of a [Network], forward and backward.
type Layer interface {
	// Outputs returns the number of outputs for the given number of inputs.
	Outputs(inputs int) int
	// Sizes returns the number of values in each parameter.
	Sizes(inputs int) []int
	// Init initializes the parameters.
	Init(params [][]float64, inputs int, random *rand.Rand)
	// Forward computes the outputs y of one example x.
	Forward(params [][]float64, x, y []float64)
	// Backward adds the gradients of the parameters to grads. The arguments are an example x, its outputs y and their
	// gradients dy. If dx is not nil, it sets dx to the gradients of the inputs.
	Backward(params, grads [][]float64, x, y, dy, dx []float64)
}

// Network is a stack of layers with its parameters.
type Network struct {
	Inputs int // number of values per example
	Layers []Layer
	Params [][]float64 // parameters of all layers, in order

	at     []int // index of each layer's first parameter
	widths []int // inputs of each layer, then the outputs of the last
}

// largest limits the values of a layer or parameter.
const largest = 1 << 24

// New creates a network with random parameters.
func New(inputs int, random *rand.Rand, layers ...Layer) (*Network, error) {
	n := &Network{Inputs: inputs, Layers: layers}
	if inputs < 1 || inputs > largest || len(layers) == 0 {
		return nil, fmt.Errorf("create a dense network: got %d inputs and %d layers, expected at least one of each "+
			"and at most %d inputs", inputs, len(layers), largest)
	}
	width := inputs
	for k, l := range layers {
		n.at, n.widths = append(n.at, len(n.Params)), append(n.widths, width)
		for _, size := range l.Sizes(width) {
			if size < 1 || size > largest {
				return nil, fmt.Errorf("create a dense network: a parameter of layer %d has %d values; expected 1 to "+
					"%d",
					k, size, largest)
			}
			n.Params = append(n.Params, make([]float64, size))
		}
		l.Init(n.Params[n.at[k]:], width, random)
		width = l.Outputs(width)
	}
	n.widths = append(n.widths, width)
	return n, nil
}

// Outputs returns the number of values that the network computes per example.
func (n *Network) Outputs() int { return n.widths[len(n.widths)-1] }

// Count returns the total number of parameter values.
func (n *Network) Count() (count int) {
	for _, p := range n.Params {
		count += len(p)
	}
	return count
}

// Pass holds the values of all layers for a batch. It can be reused for batches of the same size or smaller. Only one
// goroutine may use it at a time.
type Pass struct {
	network *Network
	room    int // largest batch
	batch   int
	values  [][]float64 // inputs of each layer, then the outputs of the last
	below   [][]float64 // gradients of values
	scratch scratch
}

// Batcher computes the outputs of a network, and the gradients of its parameters, for batches of examples.
type Batcher interface {
	// Forward computes the outputs of a batch. The slices hold all values of the first example, then all values of the
	// second example, and so on. The result is valid until the next call.
	Forward(inputs []float64) []float64
	// Backward takes the derivatives of the objective with respect to the outputs of the last Forward. It adds the
	// derivatives with respect to the parameters to the given gradients, which have the shape of the parameters.
	Backward(outputs []float64, gradients [][]float64) error
}

// Batches returns a Batcher for batches of any size, computed in Go.
func Batches(n *Network) (Batcher, error) { return &growing{network: n, pass: n.NewPass(1)}, nil }

type growing struct {
	network *Network
	pass    *Pass
}

// Forward implements [Batcher].
func (g *growing) Forward(inputs []float64) []float64 {
	if rows := len(inputs) / g.network.Inputs; rows > g.pass.Room() {
		g.pass = g.network.NewPass(rows)
	}
	return g.pass.Forward(inputs)
}

// Backward implements [Batcher].
func (g *growing) Backward(outputs []float64, gradients [][]float64) error {
	g.pass.Backward(outputs, gradients)
	return nil
}

// NewPass allocates a pass for batches of up to the given size.
func (n *Network) NewPass(batch int) *Pass {
	p := &Pass{network: n, room: batch}
	for _, width := range n.widths {
		p.values = append(p.values, make([]float64, batch*width))
	}
	return p
}

// Room returns the maximum batch size.
func (p *Pass) Room() int { return p.room }

// Forward computes the outputs of a batch. The slices hold all values of the first example, then all values of the
// second example, and so on. The result is valid until the next call.
func (p *Pass) Forward(inputs []float64) []float64 {
	n := p.network
	p.batch = len(inputs) / n.Inputs
	copy(p.values[0], inputs)
	for k, l := range n.Layers {
		in, out, params := n.widths[k], n.widths[k+1], n.Params[n.at[k]:]
		if f, ok := l.(batched); ok && f.forwardBatch(params, p.batch, p.values[k][:p.batch*in],
			p.values[k+1][:p.batch*out]) {
			continue
		}
		for b := range p.batch {
			l.Forward(params, p.values[k][b*in:][:in], p.values[k+1][b*out:][:out])
		}
	}
	return p.values[len(n.Layers)][:p.batch*n.Outputs()]
}

// Backward takes the derivatives of the objective with respect to the outputs of the last Forward. It adds the
// derivatives with respect to the parameters to the given gradients, which have the shape of the parameters.
func (p *Pass) Backward(outputs []float64, gradients [][]float64) {
	p.BackwardTo(nil, outputs, gradients)
}

// BackwardTo works like Backward. It also writes the derivatives with respect to the inputs of the last Forward to its
// first argument, unless this argument is nil.
func (p *Pass) BackwardTo(inputs, outputs []float64, gradients [][]float64) {
	n, above := p.network, outputs
	for k := len(n.Layers) - 1; k >= 0; k-- {
		below := inputs
		if k > 0 {
			below = p.slopes(k)
		}
		p.backward(k, gradients[n.at[k]:], above, below)
		above = below
	}
}

// slopes returns memory for the gradients of a layer's inputs.
func (p *Pass) slopes(layer int) []float64 {
	if p.below == nil {
		p.below = make([][]float64, len(p.values))
	}
	if p.below[layer] == nil {
		p.below[layer] = make([]float64, len(p.values[layer]))
	}
	return p.below[layer][:p.batch*p.network.widths[layer]]
}

// backward runs through one layer.
func (p *Pass) backward(k int, gradients [][]float64, above, below []float64) {
	n := p.network
	in, out, params := n.widths[k], n.widths[k+1], n.Params[n.at[k]:]
	x, y := p.values[k][:p.batch*in], p.values[k+1]
	if f, ok := n.Layers[k].(batched); ok && f.backwardBatch(&p.scratch, params, gradients, p.batch, x, above, below) {
		return
	}
	for b := range p.batch {
		var dx []float64
		if below != nil {
			dx = below[b*in:][:in]
		}
		n.Layers[k].Backward(params, gradients, x[b*in:][:in], y[b*out:][:out], above[b*out:][:out], dx)
	}
}

// NewGradients returns zero gradients in the shape of the parameters.
func (n *Network) NewGradients() [][]float64 { return like(n.Params) }

// Finite returns an error if a value is not finite. The error starts with the argument what, and contains the indices
// of the first such value and of its parameter.
func Finite(what string, values [][]float64) error {
	for k, list := range values {
		for at, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: value %d of parameter %d is %v; expected a finite number", what, at, k, v)
			}
		}
	}
	return nil
}

// SetParams copies the parameters of another network with the same shape.
func (n *Network) SetParams(params [][]float64) error {
	if len(params) != len(n.Params) {
		return fmt.Errorf("set parameters of a dense network: got %d parameters; expected %d", len(params),
			len(n.Params))
	}
	var faults validate.Faults
	for k, p := range params {
		if len(p) != len(n.Params[k]) {
			faults = append(faults, fmt.Errorf("set parameter %d of a dense network: got %d values, expected %d", k,
				len(p), len(n.Params[k])))
			continue
		}
		copy(n.Params[k], p)
	}
	return errors.Join(faults...)
}

// Outputs returns the number of values computed per example.
func (p *Pass) Outputs() int { return p.network.Outputs() }

// Inputs returns the number of input values per example.
func (p *Pass) Inputs() int { return p.network.Inputs }
