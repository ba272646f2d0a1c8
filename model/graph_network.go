package model

import (
	"fmt"
	"slices"
	"strings"

	"graft/internal/words"
	"graft/model/graph"
	"graft/model/transformer"
	"graft/torch"
	"graft/torch/weights"
)

// FromGraph creates a network from a graph. The network has no tensors yet. The network's tree has the graph's modules,
// but a forward pass runs the graph.
func FromGraph(g *graph.Graph) (*Network, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	n := &Network{}
	n.setGraph(g)
	return n, nil
}

func (n *Network) setGraph(g *graph.Graph) {
	n.Graph, n.Root, n.Input = g, treeOf(g), Shape(g.Input.Dims()[1:])
}

// Rebuild replaces the network's graph with another graph, and sets the network's tensors by name. A tensor that occurs
// in both graphs is kept; the caller frees the other tensors. If tensors is nil, the network has no weights afterwards.
func (n *Network) Rebuild(g *graph.Graph, tensors map[string]*torch.Tensor) {
	n.setGraph(g)
	if tensors == nil {
		return
	}
	n.fill(func(name string) *torch.Tensor { return tensors[name] })
}

// fill gives the leaves of a graph's tree their tensors.
func (n *Network) fill(tensor func(name string) *torch.Tensor) {
	n.Walk(func(path string, m Module) bool {
		if leaf, ok := m.(*Leaf); ok {
			leaf.Weights = nil
			for _, slot := range leaf.Layer.Slots() {
				leaf.Weights = append(leaf.Weights, tensor(childPath(path, slot.Name)))
			}
		}
		return true
	})
}

// Tensors returns the tensors of the network by their names in a state dict. A tied tensor occurs under each of its
// names.
func (n *Network) Tensors() map[string]*torch.Tensor {
	all := map[string]*torch.Tensor{}
	for _, e := range n.State() {
		all[e.Name] = e.Tensor
	}
	return all
}

// materializeGraph draws the tensors of a graph. Tensors without an initialisation are zero until weights are loaded;
// see graph.Undrawn.
func (n *Network) materializeGraph(s *torch.Scope, p Placement) error {
	set, err := n.Graph.DrawFrom(func() uint64 { return draw64(s, p.Random) })
	if err != nil {
		return err
	}
	byName := make(map[string]*torch.Tensor, len(set.Tensors))
	for k, w := range set.Tensors {
		t := n.Graph.Tensors[k]
		if t.Tied != "" {
			continue
		}
		tensor := torch.FromWeights(s, p.Device, w)
		// shorter types leave statistics and constants as they are; operators in double precision need all of them
		if floating(t.DType) && p.DType != torch.Float32 && (t.Role == graph.Parameter || p.DType == torch.Float64) {
			tensor = s.To(tensor, p.DType, p.Device)
		}
		byName[t.Name] = s.RequireGrad(tensor, t.Role == graph.Parameter)
	}
	for _, t := range n.Graph.Tensors {
		if t.Tied != "" {
			byName[t.Name] = byName[t.Tied]
		}
	}
	n.fill(func(name string) *torch.Tensor { return byName[name] })
	return s.Err()
}

func floating(d weights.DType) bool {
	return d == weights.Float32 || d == weights.Float64 || d == weights.Float16 || d == weights.BFloat16
}

// draw64 draws a seed from a generator.
func draw64(s *torch.Scope, random *torch.Generator) uint64 {
	t := s.Zeros(torch.Float32, torch.CPU, 2)
	s.Uniform(t, 0, 1<<24, random)
	values, err := torch.Values[float32](t)
	if err != nil {
		return 0 // the scope holds the error
	}
	return uint64(values[0])<<24 | uint64(values[1])
}

// graphProgram compiles a graph.
func (n *Network) graphProgram(s *torch.Scope, o torch.ProgramOptions, in *Pixels) (*torch.Program, error) {
	if n.scope == nil {
		return nil, fmt.Errorf("compile a network: it has no weights yet; initialize or load them first")
	}
	bound, err := n.Graph.BindTensors(s, n.Tensors())
	if err != nil {
		return nil, fmt.Errorf("compile a network: %w", err)
	}
	if in == nil {
		return bound.Program(s, o)
	}
	return bound.ProgramOn(s, o, in.Factor, in.Mean, in.Deviation)
}

// graphSheet has a row for each module that runs operators or has tensors.
func (n *Network) graphSheet() ([]Row, error) {
	sizes, err := n.Graph.Sizes()
	if err != nil {
		return nil, Faults{{Text: err.Error()}}
	}
	var rows []Row
	at := map[string]int{}
	row := func(path string) *Row {
		k, ok := at[path]
		if !ok {
			k = len(rows)
			at[path] = k
			rows = append(rows, Row{Path: path, Leaf: &Leaf{Layer: Held{Class: path}}})
		}
		return &rows[k]
	}
	for k := range n.Graph.Nodes {
		node := &n.Graph.Nodes[k]
		r, operations := row(node.Module), sizes.Operations(node)
		r.Operations += operations
		r.Padding.add(nodePadding(sizes, node, operations))
		for _, v := range node.Results {
			if shape := sizes.Of(v); len(shape) > 1 {
				r.Out = Shape(shape[1:])
			}
			r.ActivationBytes += 4 * sizes.PerExample(v)
		}
	}
	n.Walk(func(path string, m Module) bool {
		leaf, ok := m.(*Leaf)
		if _, runs := at[path]; ok && (runs || len(leaf.Layer.Slots()) > 0) {
			r := row(path)
			r.Leaf = leaf
			p, b := Counts(leaf.Layer)
			r.Parameters, r.Buffers = r.Parameters+p, r.Buffers+b
		}
		return true
	})
	return rows, nil
}

// graphOutput is the output's shape for one example.
func (n *Network) graphOutput() (Shape, error) {
	shapes, err := n.Graph.Shapes()
	if err != nil {
		return nil, Faults{{Text: err.Error()}}
	}
	out := shapes[n.Graph.Output]
	return Shape(out[min(1, len(out)):]), nil
}

// Tokens reports whether the input consists of tokens (whole numbers) rather than values such as pixels.
func (n *Network) Tokens() bool { return n.Graph != nil && n.Graph.Input.DType == weights.Int64 }

// Vocabulary returns the number of tokens that the network accepts, which is the number of rows of the embedding that
// reads its input. The number is zero if no embedding reads the input.
func (n *Network) Vocabulary() int {
	if n.Graph == nil {
		return 0
	}
	for k := range n.Graph.Nodes {
		node := &n.Graph.Nodes[k]
		table, ok := node.Arg("weight").(graph.Weight)
		if ok && node.Arg("indices") == any(n.Graph.Input.Value) {
			return n.Graph.Tensor(string(table)).Shape[0]
		}
	}
	return 0
}

// TakesShape reports whether the network accepts examples of the given shape. Named sizes may be smaller than in the
// example that was used for the export.
func (n *Network) TakesShape(shape []int) bool {
	if n.Graph == nil {
		return n.Input.Same(shape)
	}
	sizes := n.Graph.Input.Shape[1:]
	if len(shape) != len(sizes) {
		return false
	}
	for k, size := range sizes {
		if shape[k] != size.N && (size.Name == "" || shape[k] > size.N) {
			return false
		}
	}
	return true
}

// Resize changes named sizes of a graph's input to the sizes of examples that the network accepts, so that their costs
// and memory are counted.
func (n *Network) Resize(shape []int) {
	if n.Graph != nil && n.TakesShape(shape) && !n.Input.Same(shape) {
		n.Graph = n.Graph.At(n.Graph.Input.Shape[0].N, shape)
		n.Input = slices.Clone(shape)
	}
}

// Runs returns an error if the network cannot compute a batch of rows examples of its input's shape. PyTorch exports
// graphs for one batch size unless it is told that the size varies.
func (n *Network) Runs(rows int) error {
	if n.Graph == nil {
		return nil
	}
	sizes, err := n.Graph.At(rows, nil).Sizes()
	if err == nil {
		out := sizes.Of(n.Graph.Output)
		if len(out) > 0 && out[0] == rows {
			return nil
		}
		return fmt.Errorf("the network's output for a batch of %s has shape %v; it must have one row for each "+
			"example", words.Plural(rows, "example"), Shape(out))
	}
	return fmt.Errorf("the network cannot compute a batch of %s of shape %v: %w%s", words.Plural(rows, "example"),
		n.Input, err, n.exportRemedy())
}

// exportRemedy returns the remedy for a graph that was exported for other sizes.
func (n *Network) exportRemedy() string {
	if batch := n.Graph.Input.Shape[0]; batch.Name == "" {
		return fmt.Sprintf("; it was exported for batches of %d: export it with a variable batch size "+
			"(dynamic_shapes = {0: torch.export.Dim(\"batch\")})", batch.N)
	}
	return "; export it with an example of the data's shape, or choose other data"
}

// isGraphForm reports whether a form describes a graph.
func isGraphForm(table map[string]any) bool {
	_, operators := table["operators"]
	return operators || transformer.IsForm(table)
}

// GraphText returns a string that identifies the operators of the network's graph. The string is empty for a network
// that runs as a tree of modules.
func (n *Network) GraphText() string {
	if n.Graph == nil {
		return ""
	}
	var b strings.Builder
	for _, node := range n.Graph.Nodes {
		b.WriteString(node.String() + "\n")
	}
	return b.String()
}

// Unprinted returns a line with the shape of each tensor whose size the printed network does not have. It is empty for
// a network that runs as a tree of modules.
func (n *Network) Unprinted() []string {
	if n.Graph == nil {
		return nil
	}
	return n.Graph.Unprinted()
}
