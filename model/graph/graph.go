package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/torch/weights"
)

// Graph is a network. graft itself runs only networks with one input and one output; see Single.
type Graph struct {
	Name   string // class name of the network
	Input  Input
	Output Value
	// additional inputs and outputs; a network that has any can run only in an external program
	MoreInputs  []Input
	MoreOutputs []Value

	Modules []Module // modules in PyTorch's order of registration; the first is the network itself
	Tensors []Tensor // parameters, buffers and constants
	Nodes   []Node   // operator calls in running order
	// Foreign reports whether the operators of the graph were read from a file. Such a graph may crash LibTorch, so
	// package trial runs it in another process first.
	Foreign bool
}

// Inputs returns all inputs.
func (g *Graph) Inputs() []Input { return append([]Input{g.Input}, g.MoreInputs...) }

// Outputs returns all outputs.
func (g *Graph) Outputs() []Value { return append([]Value{g.Output}, g.MoreOutputs...) }

// Single returns an error if the graph has several inputs or outputs.
func (g *Graph) Single() error {
	if in, out := len(g.Inputs()), len(g.Outputs()); in+out > 2 {
		return fmt.Errorf("the network has %d inputs and %d outputs, but graft itself runs only networks with one "+
			"input and one output; export a network that creates the other inputs and returns only its logits, or "+
			"let a program train the network (program.command)", in, out)
	}
	return nil
}

// Input is an input of the network. The first input is a batch of examples.
type Input struct {
	Value Value
	DType weights.DType
	Shape []Size
}

// Size is the size of an input dimension. A dimension of variable size has a name; N is then the size in the example
// input.
type Size struct {
	Name string // name such as batch; empty for a number
	N    int    // size; for a named dimension, its size in the example at export
}

// String returns the size; a variable size is preceded by its name.
func (s Size) String() string {
	if s.Name == "" {
		return strconv.Itoa(s.N)
	}
	return s.Name + "=" + strconv.Itoa(s.N)
}

// Module describes a PyTorch module of the network by its path, class and printed text.
type Module struct {
	Path  string // path as in named_modules(); empty for the network itself
	Class string
	Extra string // text that extra_repr() returns
	Print string // printed text of a module whose class defines it; empty means PyTorch's text
	Folds bool   // prints equal children in one line, as ModuleList does
}

// Role names the role of a tensor in the network: parameter, buffer or constant.
type Role string

// Roles of tensors.
const (
	Parameter Role = "parameter" // trained tensor
	Buffer    Role = "buffer"    // tensor in the state dict that is not trained
	Constant  Role = "constant"  // tensor that is not in the state dict
)

// Tensor describes a parameter, a buffer or a constant by its full name.
type Tensor struct {
	Name  string
	Role  Role
	DType weights.DType
	Shape []int
	Tied  string // name of the tensor that shares its memory; usually empty
	// Init is the rule for the initial values, such as "zeros", "ones", "normal 0.02" or "uniform 0.1"; the
	// distributions are centred at zero. Empty means PyTorch's initialization of the layer that reads the tensor; see
	// [Graph.Draw].
	Init string
}

// Value is the name of a node's result, or of the input.
type Value string

// Weight is the name of a tensor of the network.
type Weight string

// Node is a call to an operator.
type Node struct {
	Operator string // name and overload, such as conv2d.default
	Module   string // path of the module whose code calls the operator
	Args     []Arg
	Results  []Value
	// shapes of the results of an operator that graft passes on to LibTorch; nil for other operators
	Returns [][]Extent
}

// Name returns the name of the operator without its overload.
func (n *Node) Name() string {
	if dot := strings.IndexByte(n.Operator, '.'); dot >= 0 {
		return n.Operator[:dot]
	}
	return n.Operator
}

// Arg is a named argument: nil, an int64, a float64, a bool, a string, a weights.DType, a Value, a Weight, or an []any
// of these. A missing argument has the operator's default.
type Arg struct {
	Name  string
	Value any
}

// Arg returns an argument by name, or nil if it is missing.
func (n *Node) Arg(name string) any {
	for _, a := range n.Args {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// Set replaces an argument, or adds it.
func (n *Node) Set(name string, value any) {
	for k := range n.Args {
		if n.Args[k].Name == name {
			n.Args[k].Value = value
			return
		}
	}
	n.Args = append(n.Args, Arg{name, value})
}

// Reads calls a function for each value or weight among the arguments.
func (n *Node) Reads(visit func(any)) {
	for k := range n.Args {
		switch v := n.Args[k].Value.(type) {
		case Value, Weight:
			visit(v)
		case []any:
			for _, item := range v {
				switch item.(type) {
				case Value, Weight:
					visit(item)
				}
			}
		}
	}
}

// Rename replaces the names of values that the node reads.
func (n *Node) Rename(to map[Value]Value) {
	swap := func(v any) any {
		if from, ok := v.(Value); ok {
			if other, ok := to[from]; ok {
				return other
			}
		}
		return v
	}
	for k, a := range n.Args {
		list, ok := a.Value.([]any)
		if !ok {
			n.Args[k].Value = swap(a.Value)
			continue
		}
		list = slices.Clone(list)
		for j := range list {
			list[j] = swap(list[j])
		}
		n.Args[k].Value = list
	}
}

// Tensor returns a tensor by name, or nil if there is none.
func (g *Graph) Tensor(name string) *Tensor {
	if k := slices.IndexFunc(g.Tensors, func(t Tensor) bool { return t.Name == name }); k >= 0 {
		return &g.Tensors[k]
	}
	return nil
}

// Parameters returns the number of values that an optimizer trains.
func (g *Graph) Parameters() int {
	sum := 0
	for _, t := range g.Tensors {
		if t.Role == Parameter && t.Tied == "" {
			sum += t.Count()
		}
	}
	return sum
}

// Count returns the number of values in a tensor.
func (t Tensor) Count() int {
	n := 1
	for _, size := range t.Shape {
		n *= size
	}
	return n
}
