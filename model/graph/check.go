package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/torch"
	"graft/torch/weights"
)

const (
	mostNodes   = 100_000 // also of modules, tensors, inputs and outputs
	mostItems   = 10_000  // maximum length of a list
	mostValues  = 1 << 40 // maximum values of a tensor, far beyond the memory of a machine
	deepestPath = 100     // maximum nesting of modules
	mostFaults  = 20      // maximum faults that an error lists
)

// Faults lists the errors in a graph. Faults is never empty when it is returned as an error.
type Faults []string

// Error lists the errors, one per line.
func (f Faults) Error() string {
	lines := []string(f)
	if len(lines) > mostFaults {
		lines = append(slices.Clone(lines[:mostFaults]), fmt.Sprintf("and %d more", len(f)-mostFaults))
	}
	return strings.Join(lines, "\n")
}

// checker collects faults.
type checker struct {
	faults  Faults
	modules map[string]bool
	tensors map[string]*Tensor
	values  map[Value]bool  // values computed so far
	named   map[string]bool // variable sizes of the input
}

func (c *checker) bad(format string, args ...any) {
	if len(c.faults) <= mostFaults {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
}

// Check returns an error if the graph cannot run: every name must be defined once and before it is read, and every
// operator must be supported. A returned error has the type Faults.
func (g *Graph) Check() error {
	c := &checker{modules: map[string]bool{}, tensors: map[string]*Tensor{}, values: map[Value]bool{},
		named: map[string]bool{}}
	if max(len(g.Nodes), len(g.Modules), len(g.Tensors), len(g.MoreInputs), len(g.MoreOutputs)) > mostNodes {
		return Faults{fmt.Sprintf("got %d operators, %d modules and %d tensors, expected at most %d of each",
			len(g.Nodes), len(g.Modules), len(g.Tensors), mostNodes)}
	}
	c.checkModules(g.Modules)
	c.checkTensors(g.Tensors)
	for k, in := range g.Inputs() {
		c.checkInput(in, k > 0)
	}
	for _, n := range g.Nodes {
		c.checkNode(n)
	}
	for _, v := range g.Outputs() {
		if !c.values[v] {
			c.bad("no operator computes the output %q", string(v))
		}
	}
	if len(c.faults) > 0 {
		return c.faults
	}
	return nil
}

func (c *checker) checkModules(modules []Module) {
	if len(modules) == 0 || modules[0].Path != "" {
		c.bad("the first module must be the network itself, with an empty path")
	}
	for _, m := range modules {
		parent, name := splitPath(m.Path)
		switch {
		case c.modules[m.Path]:
			c.bad("duplicate module %q", m.Path)
		case m.Path != "" && (name == "" || !c.modules[parent]):
			c.bad("the parent of module %q must come before it", m.Path)
		case strings.Count(m.Path, ".") >= deepestPath:
			c.bad("the module %.50q… is nested more than %d levels deep", m.Path, deepestPath)
		}
		c.modules[m.Path] = true
	}
}

func (c *checker) checkTensors(tensors []Tensor) {
	for k, t := range tensors {
		switch {
		case t.Name == "" || c.tensors[t.Name] != nil:
			c.bad("duplicate or empty tensor name %q", t.Name)
		case t.Role != Parameter && t.Role != Buffer && t.Role != Constant:
			c.bad("tensor %q has role %q; must be parameter, buffer or constant", t.Name, t.Role)
		case t.DType.Size() == 0:
			c.bad("tensor %q has an unknown type", t.Name)
		case t.Role == Parameter && !slices.Contains([]weights.DType{weights.Float32, weights.Float64, weights.Float16,
			weights.BFloat16}, t.DType):
			c.bad("the parameter %q has type %v, which has no gradients", t.Name, t.DType)
		}
		values := 1.0
		for _, size := range t.Shape {
			values *= float64(size)
			if size < 0 {
				c.bad("tensor %q has an invalid shape %v; sizes must not be negative", t.Name, t.Shape)
			}
		}
		if len(t.Shape) > mostDims || values > mostValues {
			c.bad("tensor %q of shape %v is too large", t.Name, t.Shape)
		}
		c.tensors[t.Name] = &tensors[k]
	}
	for _, t := range tensors {
		c.checkTie(t)
	}
}

// mostDims is the maximum number of dimensions in package torch.
const mostDims = 8

func (c *checker) checkTie(t Tensor) {
	if t.Tied == "" {
		return
	}
	other := c.tensors[t.Tied]
	if other == nil || other.Tied != "" || other.DType != t.DType || other.Role != t.Role ||
		!slices.Equal(other.Shape, t.Shape) {
		c.bad("tensor %q is tied to %q, which is not an untied tensor of the same role, type and shape",
			t.Name, t.Tied)
	}
}

func (c *checker) checkInput(in Input, scalar bool) {
	if in.Value == "" || in.DType.Size() == 0 || len(in.Shape) == 0 && !scalar || len(in.Shape) > mostDims {
		c.bad("the input must have a name, a type and a shape")
	}
	if c.values[in.Value] {
		c.bad("duplicate input %q", string(in.Value))
	}
	for _, size := range in.Shape {
		if size.N < 1 || size.N > math.MaxInt32 {
			c.bad("the input has an invalid size %d; must be at least 1 and fit in 32 bits", size.N)
		}
		c.named[size.Name] = size.Name != ""
	}
	c.values[in.Value] = true
}

func (c *checker) checkNode(n Node) {
	at := n.Operator
	if len(n.Results) > 0 {
		at = string(n.Results[0]) + " = " + at
	}
	if passed := torch.PassesOperator(n.Operator); passed || torch.KnowsOperator(n.Operator) {
		c.checkReturns(at, n, passed)
	} else {
		c.bad("%s: unknown operator", at)
	}
	if !c.modules[n.Module] {
		c.bad("%s: unknown module %q", at, n.Module)
	}
	seen := map[string]bool{}
	for _, a := range n.Args {
		if a.Name == "" || seen[a.Name] {
			c.bad("%s: duplicate or empty argument name %q", at, a.Name)
		}
		seen[a.Name] = true
		c.checkValue(at, a.Name, a.Value, 0)
	}
	c.checkDimensions(at, n)
	c.checkRecurrent(at, n)
	for _, v := range n.Results {
		if v == "" || c.values[v] {
			c.bad("%s: duplicate or empty value name %q", at, string(v))
		}
		c.values[v] = true
	}
}

// positive are arguments that LibTorch divides by without a check of its own.
var positive = []string{"groups", "num_groups", "chunks", "upscale_factor", "downscale_factor", "split_size",
	"kernel_size", "stride", "dilation", "num_layers"}

// unbounded are arguments that may be infinite or any whole number: bounds, and fill values. LibTorch stores some
// others in 32 bits, where larger numbers become zero.
var unbounded = []string{"value", "fill_value", "min", "max", "other", "min_val", "max_val", "self", "start", "end"}

func (c *checker) checkValue(at, name string, value any, depth int) {
	switch v := value.(type) {
	case nil, bool, string:
	case weights.DType:
		if v.Size() == 0 {
			c.bad("%s: argument %s is not a type", at, name)
		}
	case int64:
		if slices.Contains(positive, name) && v < 1 {
			c.bad("%s: argument %s is %d; must be positive", at, name, v)
		}
		if (v > math.MaxInt32 || v < math.MinInt32) && !slices.Contains(unbounded, name) {
			c.bad("%s: argument %s is %d, which does not fit in 32 bits", at, name, v)
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) && !slices.Contains(unbounded, name) {
			c.bad("%s: argument %s is %v; must be finite", at, name, v)
		}
	case Value:
		if !c.values[v] {
			c.bad("%s: argument %s reads %q, which no earlier operator computes", at, name, string(v))
		}
	case Weight:
		if c.tensors[string(v)] == nil {
			c.bad("%s: argument %s reads the unknown tensor %q", at, name, string(v))
		}
	case []any:
		if depth > 0 || len(v) > mostItems {
			c.bad("%s: argument %s is a nested list or has more than %d items", at, name, mostItems)
			return
		}
		for _, item := range v {
			c.checkValue(at, name, item, depth+1)
		}
	default:
		c.bad("%s: argument %s has an unsupported type %T", at, name, value)
	}
}
