// Package tensors computes batches of small networks, and their gradients, with LibTorch: a batch is one call of a few
// large operations. Playing stays in Go, because a call per state would cost more than its arithmetic. Results depend
// on LibTorch and the machine, and differ from package dense by rounding.
package tensors

import (
	"errors"
	"fmt"

	"graft/learn/dense"
	"graft/torch"
)

// Batches returns a function that creates a batcher on a device. If LibTorch fails in Forward, outputs are zero and
// Backward returns the error.
func Batches(device torch.Device) func(n *dense.Network) (dense.Batcher, error) {
	return func(n *dense.Network) (dense.Batcher, error) {
		for k, l := range n.Layers {
			switch l.(type) {
			case dense.Full, dense.ReLU, dense.Tanh:
			default:
				return nil, fmt.Errorf("compute batches with LibTorch: layer %d is %T; expected a fully connected "+
					"layer, ReLU or tanh", k, l)
			}
		}
		return &batcher{network: n, device: device}, nil
	}
}

// batcher computes a network. Backward recomputes the outputs, since no tensor outlives its scope.
type batcher struct {
	network *dense.Network
	device  torch.Device
	inputs  []float64 // inputs of the last Forward
	err     error
}

// Forward implements [dense.Batcher].
func (b *batcher) Forward(inputs []float64) []float64 {
	b.inputs = append(b.inputs[:0], inputs...)
	outputs := make([]float64, len(inputs)/b.network.Inputs*b.network.Outputs())
	if len(outputs) == 0 {
		return outputs
	}
	b.err = torch.With(func(s *torch.Scope) (err error) {
		s.NoGrad(func() {
			y, _ := b.graph(s, false)
			if err = s.Err(); err != nil {
				return
			}
			var values []float64
			if values, err = torch.Values[float64](y); err == nil {
				copy(outputs, values)
			}
		})
		return err
	})
	return outputs
}

// graph computes the outputs of the last inputs, and returns them with the parameters.
func (b *batcher) graph(s *torch.Scope, slopes bool) (y *torch.Tensor, params []*torch.Tensor) {
	n := b.network
	width := n.Inputs
	y = torch.FromOn(s, b.device, b.inputs, len(b.inputs)/width, width)
	at := 0
	for _, l := range n.Layers {
		switch l.(type) {
		case dense.Full:
			weight := torch.FromOn(s, b.device, n.Params[at], width, l.Outputs(width))
			bias := torch.FromOn(s, b.device, n.Params[at+1], 1, l.Outputs(width))
			if slopes {
				weight, bias = s.RequireGrad(weight, true), s.RequireGrad(bias, true)
			}
			params = append(params, weight, bias)
			y = s.Add(s.MatMul(y, weight), bias)
			at += 2
		case dense.ReLU:
			y = s.ReLU(y)
		case dense.Tanh:
			y = s.Tanh(y)
		}
		width = l.Outputs(width)
	}
	return y, params
}

// Backward implements [dense.Batcher].
func (b *batcher) Backward(outputs []float64, gradients [][]float64) error {
	if len(outputs) == 0 {
		return b.err
	}
	return errors.Join(b.err, torch.With(func(s *torch.Scope) error {
		y, params := b.graph(s, true)
		width := b.network.Outputs()
		s.Backward(s.Sum(s.Mul(y, torch.FromOn(s, b.device, outputs, len(outputs)/width, width))))
		if err := s.Err(); err != nil {
			return err
		}
		for k, p := range params {
			values, err := torch.Values[float64](s.Grad(p))
			if err != nil {
				return fmt.Errorf("compute gradients with LibTorch: %w", err)
			}
			for i, v := range values {
				gradients[k][i] += v
			}
		}
		return nil
	}))
}
