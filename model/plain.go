package model

import (
	"fmt"

	"graft/torch"
)

// Flatten turns an image into features. Each channel becomes one feature per position.
type Flatten struct{ passes }

// String returns the layer as PyTorch prints it.
func (Flatten) String() string { return "Flatten(start_dim=1, end_dim=-1)" }

// Infer returns a single dimension, the product of all input dimensions.
func (Flatten) Infer(in Shape) (Shape, error) { return Shape{in.Count()}, nil }

// Operations returns zero: the layer does no arithmetic.
func (Flatten) Operations(_, _ Shape) int64 { return 0 }

// Emit adds the flattening to a program.
func (Flatten) Emit(b *torch.Builder, x torch.Value, _ []*torch.Tensor) torch.Value {
	return b.Flatten(x, 1, -1)
}

// Dropout sets each value to zero with a given probability in train mode.
type Dropout struct {
	passes
	P       float64
	Inplace bool // whether PyTorch's print contains inplace=True; it has no effect
}

// String returns the layer as PyTorch prints it.
func (d Dropout) String() string {
	return fmt.Sprintf("Dropout(p=%s, inplace=%s)", python(d.P), python(d.Inplace))
}

// Infer returns the input shape.
func (d Dropout) Infer(in Shape) (Shape, error) {
	if d.P < 0 || d.P >= 1 {
		return nil, fmt.Errorf("%s: the probability must be at least 0 and below 1", d)
	}
	return in, nil
}

// Operations counts one operation per value.
func (d Dropout) Operations(in, _ Shape) int64 { return int64(in.Count()) }

// Emit adds the dropout to a program.
func (d Dropout) Emit(b *torch.Builder, x torch.Value, _ []*torch.Tensor) torch.Value {
	return b.Dropout(x, d.P)
}

// Identity is a layer that passes its input on.
type Identity struct{ passes }

// String returns the layer as PyTorch prints it.
func (Identity) String() string { return "Identity()" }

// Infer returns the input shape.
func (Identity) Infer(in Shape) (Shape, error) { return in, nil }

// Operations returns zero: the layer does no arithmetic.
func (Identity) Operations(_, _ Shape) int64 { return 0 }

// Emit returns the input and adds nothing to the program.
func (Identity) Emit(_ *torch.Builder, x torch.Value, _ []*torch.Tensor) torch.Value { return x }
