package graph

import (
	"fmt"
	"slices"

	"graft/torch"
)

// Probe compiles a program that runs the network in train mode, and returns the value out. It adds the tensor by to the
// value at; a nil tensor adds nothing. The program changes nothing in the network, and dropout is off.
func (n *Network) Probe(s *torch.Scope, out, at Value, by *torch.Tensor) (*torch.Program, error) {
	if err := n.Single(); err != nil {
		return nil, err
	}
	l := torch.CallList{Input: valueKey(n.Input.Value), Output: valueKey(out)}
	for _, t := range n.Tensors {
		if t.Tied == "" {
			l.Names, l.Tensors = append(l.Names, weightKey(t.Name)), append(l.Tensors, n.tensors[t.Name])
		}
	}
	if by != nil {
		l.Names, l.Tensors = append(l.Names, "#by"), append(l.Tensors, by)
	}
	found := out == n.Input.Value
	for _, node := range n.Nodes {
		if found {
			break
		}
		call := n.calls(still(node))[0]
		shifted := by != nil && slices.Contains(node.Results, at)
		if shifted {
			call.Results[slices.Index(node.Results, at)] = "#plain"
		}
		l.Calls = append(l.Calls, call)
		if shifted {
			l.Calls = append(l.Calls, torch.Call{Operator: "add.Tensor", Where: node.Module,
				Results: []string{valueKey(at)}, Arguments: []torch.Argument{{Name: "self", Value: torch.Ref("#plain")},
					{Name: "other", Value: torch.Ref("#by")}}})
		}
		found = slices.Contains(node.Results, out)
	}
	if !found {
		return nil, fmt.Errorf("probe %s: no operator computes %s", n.Name, out)
	}
	return s.NewCalls(l, torch.ProgramOptions{}), s.Err()
}

// Span compiles a program that runs some nodes of a graph. Its input is the value from, and its output is the value to.
// The nodes must not read tensors of the network.
func (g *Graph) Span(s *torch.Scope, from, to Value, nodes []Node) (*torch.Program, error) {
	n := &Network{Graph: g}
	l := torch.CallList{Input: valueKey(from), Output: valueKey(to)}
	for _, node := range nodes {
		l.Calls = append(l.Calls, n.calls(still(node))...)
	}
	return s.NewCalls(l, torch.ProgramOptions{}), s.Err()
}

// WithoutDropout returns a copy of the graph whose operators drop nothing.
func (g *Graph) WithoutDropout() *Graph {
	whole := *g
	whole.Nodes = make([]Node, len(g.Nodes))
	for k, node := range g.Nodes {
		whole.Nodes[k] = undropped(node)
	}
	return &whole
}

// still returns a node that drops nothing and keeps its running statistics.
func still(node Node) Node {
	node = undropped(node)
	if op := node.Name(); op == "batch_norm" || op == "instance_norm" {
		node.Set("momentum", 0.0)
	}
	return node
}

// undropped returns a copy of a node that drops nothing.
func undropped(node Node) Node {
	node.Args = slices.Clone(node.Args)
	switch node.Name() {
	case "dropout", "feature_dropout":
		node.Set("p", 0.0)
	case "lstm", "gru", "rnn_tanh", "rnn_relu":
		node.Set("dropout", 0.0)
	case "scaled_dot_product_attention":
		node.Set("dropout_p", 0.0)
	}
	return node
}
