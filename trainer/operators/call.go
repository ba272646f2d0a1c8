package operators

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/model"
	"graft/model/graph"
)

// Call is a call of an operator in a training step.
type Call struct {
	Name   string // name in PyTorch without prefix, such as conv2d
	Shapes string // shapes of the tensors that it reads, sorted, such as "16x3x32x32 24 24x3x3x3"
	Place  string // path of the module that calls the operator; empty means the network itself
	// floating-point operations of the forward pass; a multiply-add counts as two
	Operations float64
	Bytes      float64 // bytes of the tensors that the forward pass reads and returns
	// whether programs may omit the operator, because it only returns a view of a tensor
	Optional bool

	leads  bool  // whether the operator has weights, and needs no gradient of what it reads
	sizes  sizes // sizes that determine the time, for interpolation
	from   int   // index of the first of graft's instructions that compute the call
	length int   // number of these instructions
}

// Updating is the name of the call in which the optimizer updates a parameter.
const Updating = "optimizer"

// width is the bytes of a value in float32.
const width = 4

// Calls lists the operators of a training step on a batch: the forward pass in the order of execution, then the
// optimizer's update of each parameter. The backward pass is not listed, since it has the same operators as the forward
// pass.
func Calls(n *model.Network, rows int) ([]Call, error) { return Program.calls(n, rows) }

// Path is the way in which measured steps ran. The zero Path is a program of PyTorch.
type Path string

// The known paths.
const (
	Program Path = ""      // a program of PyTorch
	Exact   Path = "exact" // graft, with PyTorch's order of operations
	Fast    Path = "fast"  // graft, with fused kernels
)

// calls lists the operators of a training step, as Calls does. If graft runs the step, the calls around the network's
// operators come first, and layers that graft computes together are one call.
func (p Path) calls(n *model.Network, rows int) (calls []Call, err error) {
	var around []Call
	first := 0
	if p != Program {
		around, first, err = surroundings(n, rows, p)
	}
	if err == nil && n.Graph != nil {
		calls, err = graphCalls(n.Graph, rows, first, p)
	} else if err == nil {
		calls, err = treeCalls(n, rows, first, p)
	}
	if err != nil {
		return nil, fmt.Errorf("list the operators of %s: %w", n.Name(), err)
	}
	calls = append(append(around, calls...), updates(n)...)
	if p == Program {
		return calls, nil
	}
	size := footprintOf(calls)
	for k := range calls {
		c := &calls[k]
		if c.sizes[footprint] = size; c.leads {
			c.Name += ofInput
		}
	}
	return calls, nil
}

// updateOf returns the optimizer's work on a parameter.
func updateOf(size int) Call {
	return Call{Name: Updating, Shapes: strconv.Itoa(size), Bytes: width * float64(size), sizes: sizes{size}}
}

// updates lists the optimizer's work.
func updates(n *model.Network) (calls []Call) {
	for _, leaf := range n.Leaves() {
		for _, slot := range leaf.Layer.Slots() {
			if slot.Role.Trained() && slot.Tied == "" {
				calls = append(calls, updateOf(slot.Count()))
			}
		}
	}
	return calls
}

// shapesText formats shapes. Only traces need the text.
func (p Path) shapesText(shapes [][]int) string {
	if p != Program {
		return ""
	}
	return shapesText(shapes)
}

// shapesText formats shapes. The order does not matter, so arguments may be passed by name. Tensors without dimensions
// are omitted.
func shapesText(shapes [][]int) string {
	words := make([]string, 0, len(shapes))
	for _, s := range shapes {
		if len(s) > 0 {
			words = append(words, model.Shape(s).String())
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func values(shapes [][]int) (sum float64) {
	for _, s := range shapes {
		count := 1.0
		for _, n := range s {
			count *= float64(n)
		}
		sum += count
	}
	return sum
}

// grouped is the name of convolutions whose channels are divided into groups, which run at other rates.
const grouped = " in groups"

// unfused is the name of attention that PyTorch computes by separate operators.
const unfused = " unfused"

// Number of times that unfused attention reads or writes its scores: the first product writes them, the softmax reads
// and writes them, and the second product reads them. A mask is added to them.
const (
	scorePasses = 4
	maskPasses  = 2
)

// unfusedScores returns the number of scores of attention without a fused kernel, which requires queries and values of
// equal size (scaled_dot_product_attention, PyTorch documentation, 2.11). It is zero for other operators.
func unfusedScores(n *graph.Node, shapes map[graph.Value][]int) float64 {
	q, k, v := shapes[valueOf(n, "query")], shapes[valueOf(n, "key")], shapes[valueOf(n, "value")]
	if len(q) < 2 || len(k) < 2 || len(v) < 2 || q[len(q)-1] == v[len(v)-1] {
		return 0
	}
	return values([][]int{q}) / float64(max(1, q[len(q)-1])) * float64(k[len(k)-2])
}

func valueOf(n *graph.Node, argument string) graph.Value {
	v, _ := n.Arg(argument).(graph.Value)
	return v
}

// ofInput is the ending of operators with weights that need no gradient of what they read.
const ofInput = " of the input"

// variants are the endings of names for ways to run an operator that the trace does not name.
var variants = []string{ofInput, beforeFlatten, channelsLast, unfused, grouped}

// base returns the name of an operator in the trace.
func base(name string) string {
	for _, ending := range variants {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// leads reports whether a node has weights and reads only values without a gradient. It marks the node's results that
// have a gradient.
func leads(n *graph.Node, flows map[graph.Value]bool) bool {
	weighted, after := false, false
	n.Reads(func(v any) {
		switch v := v.(type) {
		case graph.Value:
			after = after || flows[v]
		case graph.Weight:
			weighted = true
		}
	})
	for _, v := range n.Results {
		flows[v] = weighted || after
	}
	return weighted && !after
}

// graphCalls lists the operators of a graph. The argument first is the index of the graph's first instruction.
func graphCalls(g *graph.Graph, rows, first int, p Path) ([]Call, error) {
	sized := withRows(g, rows)
	shapes, err := sized.Shapes()
	if err != nil {
		return nil, err
	}
	operations, err := sized.Operations()
	if err != nil {
		return nil, err
	}
	weights := map[string][]int{}
	for _, t := range g.Tensors {
		weights[t.Name] = t.Shape
	}
	var calls []Call
	flows := map[graph.Value]bool{} // values with a gradient
	for k := range sized.Nodes {
		n := &sized.Nodes[k]
		if n.Sizes() {
			continue
		}
		name, _, _ := strings.Cut(n.Operator, ".")
		in, out := readBy(n, shapes, weights), resultsOf(n, shapes)
		if groups, _ := n.Arg("groups").(int64); groups > 1 {
			name += grouped
		}
		c := Call{Name: name, Shapes: p.shapesText(in), Place: n.Module, Operations: float64(operations[k]) *
			float64(max(rows, 1)), Bytes: width * (values(in) + values(out)), Optional: n.Views(), from: first + k,
			length: 1}
		c.sizes = nodeSizes(name, in, out)
		c.leads = leads(n, flows)
		if scores := unfusedScores(n, shapes); scores > 0 {
			c.Name += unfused
			c.Bytes += width * scores * scorePasses
			if causal, _ := n.Arg("is_causal").(bool); causal || n.Arg("attn_mask") != nil {
				c.Bytes += width * scores * maskPasses
			}
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// withRows returns a copy of a graph for another batch size.
func withRows(g *graph.Graph, rows int) *graph.Graph {
	sized := *g
	if len(g.Input.Shape) == 0 {
		return &sized
	}
	name := g.Input.Shape[0].Name
	sized.Input.Shape = slices.Clone(g.Input.Shape)
	sized.Input.Shape[0].N = rows
	sized.MoreInputs = slices.Clone(g.MoreInputs)
	for k := range sized.MoreInputs {
		shape := slices.Clone(sized.MoreInputs[k].Shape)
		for j := range shape {
			if name != "" && shape[j].Name == name {
				shape[j].N = rows
			}
		}
		sized.MoreInputs[k].Shape = shape
	}
	return &sized
}

func readBy(n *graph.Node, shapes map[graph.Value][]int, weights map[string][]int) (in [][]int) {
	n.Reads(func(v any) {
		switch v := v.(type) {
		case graph.Value:
			if s := shapes[v]; len(s) > 0 {
				in = append(in, s)
			}
		case graph.Weight:
			if s := weights[string(v)]; len(s) > 0 {
				in = append(in, s)
			}
		}
	})
	return in
}

func resultsOf(n *graph.Node, shapes map[graph.Value][]int) (out [][]int) {
	for _, v := range n.Results {
		out = append(out, shapes[v])
	}
	return out
}
