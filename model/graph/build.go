package graph

import (
	"fmt"
	"slices"
	"strings"

	"graft/torch/weights"
)

// Builder builds a graph in the form that torch.export writes. It names values after their operators.
type Builder struct {
	Graph *Graph
	DType weights.DType // data type of the parameters
	count map[string]int
	path  string // path of the current module
}

// NewBuilder starts the graph of a network with the given class name. If a size of the input has a name, such as
// "batch", the size is variable.
func NewBuilder(class string, input Input, dtype weights.DType) *Builder {
	return &Builder{Graph: &Graph{Name: class, Input: input, Modules: []Module{{Class: class}}}, DType: dtype,
		count: map[string]int{}}
}

// Module adds a child to the current module, and calls code, which adds the child's operators and modules.
// [Graph.Recover] later sets the text that PyTorch prints for the child.
func (b *Builder) Module(name, class string, code func()) {
	outer := b.path
	b.path = join(outer, name)
	b.Graph.Modules = append(b.Graph.Modules, Module{Path: b.path, Class: class})
	code()
	b.path = outer
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Parameter adds a parameter to the current module.
func (b *Builder) Parameter(name, init string, shape ...int) Weight {
	return b.Tensor(Tensor{Name: name, Role: Parameter, DType: b.DType, Shape: shape, Init: init})
}

// Tensor adds a tensor to the current module.
func (b *Builder) Tensor(t Tensor) Weight {
	t.Name = join(b.path, t.Name)
	b.Graph.Tensors = append(b.Graph.Tensors, t)
	return Weight(t.Name)
}

// Call adds a call to an operator. The arguments alternate between name and value; an argument whose value is nil is
// omitted.
func (b *Builder) Call(operator string, arguments ...any) Value {
	return b.Calls(operator, 1, arguments...)[0]
}

// StochasticDepth adds a module that drops a branch for whole examples in train mode (Huang et al. 2016), as in
// torchvision's StochasticDepth. It is implemented as a dropout of channels with one channel per example. If the
// probability p is zero, no module is added.
func (b *Builder) StochasticDepth(name string, x Value, p float64) Value {
	if p == 0 {
		return x
	}
	b.Module(name, "StochasticDepth", func() {
		one := b.Call("unsqueeze.default", "self", x, "dim", 1)
		x = b.Call("squeeze.dim", "self", b.Call("feature_dropout.default", "input", one, "p", p), "dim", 1)
	})
	return x
}

// Calls adds a call to an operator that has several results.
func (b *Builder) Calls(operator string, results int, arguments ...any) []Value {
	n := Node{Operator: operator, Module: b.path}
	for k := 0; k+1 < len(arguments); k += 2 {
		if value := plain(arguments[k+1]); value != nil {
			n.Args = append(n.Args, Arg{Name: arguments[k].(string), Value: value})
		}
	}
	stem, _, _ := strings.Cut(operator, ".")
	for range results {
		n.Results = append(n.Results, b.name(stem))
	}
	b.Graph.Nodes = append(b.Graph.Nodes, n)
	return slices.Clone(n.Results)
}

// plain converts Go's numbers and lists to types of arguments.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case []int:
		list := make([]any, len(v))
		for k := range v {
			list[k] = int64(v[k])
		}
		return list
	case []Value:
		list := make([]any, len(v))
		for k := range v {
			list[k] = v[k]
		}
		return list
	case Weight:
		if v == "" {
			return nil
		}
	case Value:
		if v == "" {
			return nil
		}
	}
	return value
}

func (b *Builder) name(stem string) Value {
	k := b.count[stem]
	b.count[stem]++
	if k == 0 {
		return Value(stem)
	}
	return Value(fmt.Sprintf("%s_%d", stem, k))
}
