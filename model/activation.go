package model

import (
	"fmt"
	"strings"

	"graft/torch"
)

// Activation is a layer that applies a function to each value. The zero Activation means no activation.
type Activation struct {
	passes
	Kind torch.Activation
	// Parameter is the negative slope of LeakyReLU, or the factor α of ELU.
	Parameter float64
	Inplace   bool // whether PyTorch's print contains inplace=True; it has no effect
}

// activation describes a kind of activation.
type activation struct {
	kind       torch.Activation
	name       string  // name in PyTorch
	parameter  string  // name of the parameter
	usual      float64 // default of the parameter
	idempotent bool
	inplace    bool // PyTorch prints the option; Hardswish has it but does not print it
}

var activations = []activation{
	{torch.ReLU, "ReLU", "", 0, true, true},
	{torch.ReLU6, "ReLU6", "", 0, true, true},
	{torch.LeakyReLU, "LeakyReLU", "negative_slope", 0.01, false, true},
	{torch.Sigmoid, "Sigmoid", "", 0, false, false},
	{torch.Tanh, "Tanh", "", 0, false, false},
	{torch.GELU, "GELU", "", 0, false, false},
	{torch.SiLU, "SiLU", "", 0, false, true},
	{torch.Hardswish, "Hardswish", "", 0, false, false},
	{torch.ELU, "ELU", "alpha", 1, false, true},
}

// describe returns the table's entry for a kind; its zero value if there is none.
func (a Activation) describe() activation {
	for _, known := range activations {
		if known.kind == a.Kind {
			return known
		}
	}
	return activation{}
}

// Activate creates an activation with PyTorch's default parameter.
func Activate(kind torch.Activation) Activation {
	a := Activation{Kind: kind}
	a.Parameter = a.describe().usual
	return a
}

// String returns the layer as PyTorch prints it.
func (a Activation) String() string {
	known := a.describe()
	if known.name == "" {
		return fmt.Sprintf("Activation(%d)", int(a.Kind))
	}
	var arguments []string
	if known.parameter != "" {
		arguments = append(arguments, known.parameter+"="+python(a.Parameter))
	}
	if a.Kind == torch.GELU {
		arguments = append(arguments, "approximate='none'")
	}
	if a.Inplace && known.inplace {
		arguments = append(arguments, "inplace=True")
	}
	return known.name + "(" + strings.Join(arguments, ", ") + ")"
}

// Notation formats the layer as String does, but with all arguments.
func (a Activation) Notation() string {
	if a.Kind == torch.Hardswish && a.Inplace {
		return "Hardswish(inplace=True)"
	}
	return a.String()
}

// Idempotent reports whether applying the activation twice has the same result as applying it once.
func (a Activation) Idempotent() bool { return a.describe().idempotent }

// Infer returns the input shape.
func (a Activation) Infer(in Shape) (Shape, error) { return in, nil }

// Operations counts one operation per value.
func (a Activation) Operations(in, _ Shape) int64 { return int64(in.Count()) }

// Emit adds the activation to a program.
func (a Activation) Emit(b *torch.Builder, x torch.Value, _ []*torch.Tensor) torch.Value {
	return b.Activate(x, a.Kind, a.Parameter)
}
