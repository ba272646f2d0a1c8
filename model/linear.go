package model

import (
	"errors"
	"fmt"

	"graft/torch"
)

// Linear is a fully connected layer with a weight matrix and a bias.
type Linear struct {
	In, Out int
	Bias    bool
}

// NewLinear creates a linear layer with a bias.
func NewLinear(in, out int) Linear { return Linear{In: in, Out: out, Bias: true} }

// String returns the layer as PyTorch prints it.
func (l Linear) String() string {
	return fmt.Sprintf("Linear(in_features=%d, out_features=%d, bias=%s)", l.In, l.Out, python(l.Bias))
}

// Slots returns the weight and the bias.
func (l Linear) Slots() []Slot {
	slots := []Slot{{Name: "weight", Role: Weight, Shape: []int{l.Out, l.In}, Axes: []Axis{Out, In}}}
	if l.Bias {
		slots = append(slots, Slot{Name: "bias", Role: Bias, Shape: []int{l.Out}, Axes: []Axis{Out}})
	}
	return slots
}

// Infer returns the shape of the output features. The input must be a list of features, not an image.
func (l Linear) Infer(in Shape) (Shape, error) {
	switch {
	case l.In < 1 || l.Out < 1:
		return nil, errors.New("a linear layer must have at least one input and one output feature")
	case len(in) != 1:
		return nil, fmt.Errorf("%s expects features, got an image of shape %v; add a Flatten() before the linear layer",
			l, in)
	case in[0] != l.In:
		return nil, fmt.Errorf("%s expects %d features, got %d", l, l.In, in[0])
	}
	return Shape{l.Out}, nil
}

// Operations counts two operations for each multiply-add of the matrix, and one for each addition of the bias.
func (l Linear) Operations(_, _ Shape) int64 { return int64(l.Out) * int64(2*l.In+count(l.Bias)) }

// Channels reports that the layer creates new channels.
func (l Linear) Channels() Channels { return Channels{Opens: true} }

// Resize returns the layer with different numbers of features.
func (l Linear) Resize(in, out int) Layer {
	l.In, l.Out = in, out
	return l
}

// Emit adds the linear layer to a program.
func (l Linear) Emit(b *torch.Builder, x torch.Value, w []*torch.Tensor) torch.Value {
	return b.Linear(x, w[0], at(w, 1))
}
