package graph

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"graft/torch"
	"graft/torch/weights"
)

// Network is a graph with its weights as tensors, which a scope owns.
type Network struct {
	*Graph
	tensors map[string]*torch.Tensor // tied tensors share one tensor
	tied    map[string]string        // tensor that shares its memory
}

// Bind creates a network from a graph and weights. The names, types and shapes of the weights must match the graph's
// tensors. Parameters require gradients.
func (g *Graph) Bind(s *torch.Scope, d torch.Device, set *weights.Set) (*Network, error) {
	if err := g.Fits(set); err != nil {
		return nil, err
	}
	n := &Network{Graph: g, tensors: make(map[string]*torch.Tensor, len(g.Tensors)), tied: map[string]string{}}
	given := byName(set)
	for _, t := range g.Tensors {
		if t.Tied == "" {
			n.tensors[t.Name] = s.RequireGrad(torch.FromWeights(s, d, given[t.Name]), t.Role == Parameter)
		}
	}
	n.tie()
	return n, s.Err()
}

// BindTensors creates a network from a graph and existing tensors, by name. Parameters require gradients.
func (g *Graph) BindTensors(s *torch.Scope, tensors map[string]*torch.Tensor) (*Network, error) {
	n := &Network{Graph: g, tensors: make(map[string]*torch.Tensor, len(g.Tensors)), tied: map[string]string{}}
	for _, t := range g.Tensors {
		if t.Tied != "" {
			continue
		}
		given := tensors[t.Name]
		if given == nil || !slices.Equal(given.Shape(), t.Shape) {
			return nil, fmt.Errorf("bind %s: the tensor is missing or its shape is not %v", t.Name, t.Shape)
		}
		n.tensors[t.Name] = s.RequireGrad(given, t.Role == Parameter)
	}
	n.tie()
	return n, s.Err()
}

func (n *Network) tie() {
	for _, t := range n.Graph.Tensors {
		if t.Tied != "" {
			n.tensors[t.Name], n.tied[t.Name] = n.tensors[t.Tied], t.Tied
		}
	}
}

// Fits returns an error that lists the differences between weights and the graph's tensors.
func (g *Graph) Fits(set *weights.Set) error { return g.unfit(g.differences(set)) }

// FitsExactly is like Fits, but also refuses weights with other tensors than the graph's.
func (g *Graph) FitsExactly(set *weights.Set) error {
	faults := g.differences(set)
	for _, w := range set.Tensors {
		if g.Tensor(w.Name) == nil {
			faults = append(faults, fmt.Sprintf("%s %v is only in the file", w.Name, w.Shape))
		}
	}
	return g.unfit(faults)
}

// differences lists the graph's tensors that the weights lack, or have with another type, shape or value.
func (g *Graph) differences(set *weights.Set) (faults Faults) {
	given := byName(set)
	for _, t := range g.Tensors {
		w, ok := given[t.Name]
		same := slices.EqualFunc(w.Shape, t.Shape, func(a int64, b int) bool { return a == int64(b) })
		switch {
		case !ok:
			faults = append(faults, fmt.Sprintf("%s is missing", t.Name))
		case !same || w.DType != t.DType:
			faults = append(faults, fmt.Sprintf("%s is %v %v in the file and %v %v in the network", t.Name, w.DType,
				w.Shape, t.DType, t.Shape))
		case t.Tied != "" && Untied(w, given[t.Tied]):
			faults = append(faults, fmt.Sprintf("%s and %s are one tensor in the network, but differ in the file; "+
				"make them equal, or export the network again without sharing them", t.Name, t.Tied))
		}
	}
	return faults
}

func (g *Graph) unfit(faults Faults) error {
	if len(faults) > 0 {
		return fmt.Errorf("load weights: the weights do not fit this %s:\n%w\n"+
			"use the weights that were written with the network", g.Name, faults)
	}
	return nil
}

// Untied reports whether two stored tensors have different values of one type.
func Untied(a, b weights.Tensor) bool {
	return a.DType == b.DType && slices.Equal(a.Shape, b.Shape) && !bytes.Equal(a.Data, b.Data)
}

func byName(set *weights.Set) map[string]weights.Tensor {
	given := make(map[string]weights.Tensor, len(set.Tensors))
	for _, w := range set.Tensors {
		given[w.Name] = w
	}
	return given
}

// Tensor returns the tensor with the given name, or nil if there is none.
func (n *Network) Tensor(name string) *torch.Tensor { return n.tensors[name] }

// Trained returns the names of the parameters. Tied parameters are listed once.
func (g *Graph) Trained() []string {
	var names []string
	for _, t := range g.Tensors {
		if t.Role == Parameter && t.Tied == "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// Save copies the tensors into a set that can be written to a file.
func (n *Network) Save() (*weights.Set, error) {
	set := &weights.Set{}
	for _, t := range n.Tensors {
		w, err := n.tensors[t.Name].Weights(t.Name)
		if err != nil {
			return nil, fmt.Errorf("save %s: %w", t.Name, err)
		}
		set.Tensors = append(set.Tensors, w)
	}
	return set, nil
}

// Program compiles the network. The scope owns the program.
func (n *Network) Program(s *torch.Scope, o torch.ProgramOptions) (*torch.Program, error) {
	return n.program(s, o, torch.CallList{Input: valueKey(n.Input.Value)})
}

// ProgramOn compiles the network for images that are stored as bytes. The program converts each byte x to the network's
// input (x · factor - mean) / deviation.
func (n *Network) ProgramOn(s *torch.Scope, o torch.ProgramOptions, factor float64,
	mean, deviation *torch.Tensor) (*torch.Program, error) {
	l := torch.CallList{Input: "#bytes", Names: []string{"#mean", "#deviation"},
		Tensors: []*torch.Tensor{mean, deviation}}
	call := func(operator, result string, arguments ...torch.Argument) {
		l.Calls = append(l.Calls, torch.Call{Operator: operator, Where: "the input", Results: []string{result},
			Arguments: arguments})
	}
	on := func(from, name string, value any) []torch.Argument {
		return []torch.Argument{{Name: "self", Value: torch.Ref(from)}, {Name: name, Value: value}}
	}
	call("to.dtype", "#numbers", on("#bytes", "dtype", n.Input.DType)...)
	call("mul.Scalar", "#scaled", on("#numbers", "other", factor)...)
	call("sub.Tensor", "#centred", on("#scaled", "other", torch.Ref("#mean"))...)
	call("div.Tensor", valueKey(n.Input.Value), on("#centred", "other", torch.Ref("#deviation"))...)
	return n.program(s, o, l)
}

func (n *Network) program(s *torch.Scope, o torch.ProgramOptions, l torch.CallList) (*torch.Program, error) {
	if err := n.Single(); err != nil {
		return nil, err
	}
	l.Output = valueKey(n.Output)
	for _, t := range n.Tensors {
		if t.Tied == "" {
			l.Names, l.Tensors = append(l.Names, weightKey(t.Name)), append(l.Tensors, n.tensors[t.Name])
		}
	}
	for _, node := range n.Nodes {
		l.Calls = append(l.Calls, n.calls(node)...)
	}
	p := s.NewCalls(l, o)
	return p, s.Err()
}

// Values and tensors have separate names, which may be equal.
func valueKey(v Value) string      { return "%" + string(v) }
func weightKey(name string) string { return "@" + name }

// calls returns the calls of a node: a batch normalisation also counts the batches in train mode, as its module does.
func (n *Network) calls(node Node) []torch.Call {
	call := torch.Call{Operator: node.Operator, Where: node.Module}
	for _, v := range node.Results {
		call.Results = append(call.Results, valueKey(v))
	}
	for _, a := range node.Args {
		call.Arguments = append(call.Arguments, torch.Argument{Name: a.Name, Value: n.operand(a.Value)})
	}
	calls := []torch.Call{call}
	if counter := n.Counter(&node); counter != "" {
		argument := torch.Argument{Name: "counter", Value: torch.Ref(weightKey(counter))}
		calls = append(calls, torch.Call{Operator: torch.CountBatch, Where: node.Module,
			Arguments: []torch.Argument{argument}, OnlyTraining: true})
	}
	return calls
}

// Counter returns the tensor num_batches_tracked next to the running mean of a node; empty if there is none, or if the
// node does not count, as instance normalisations.
func (g *Graph) Counter(node *Node) string {
	mean, _ := node.Arg("running_mean").(Weight)
	stem, ok := strings.CutSuffix(string(mean), "running_mean")
	if name := stem + "num_batches_tracked"; ok && node.Operator == "batch_norm.default" && g.Tensor(name) != nil {
		return name
	}
	return ""
}

// operand converts a node's argument to an argument of a call.
func (n *Network) operand(value any) any {
	switch v := value.(type) {
	case Value:
		return torch.Ref(valueKey(v))
	case Weight:
		name := string(v)
		if other, ok := n.tied[name]; ok {
			name = other
		}
		return torch.Ref(weightKey(name))
	case []any:
		list := make([]any, len(v))
		for k := range v {
			list[k] = n.operand(v[k])
		}
		return list
	}
	return value
}
