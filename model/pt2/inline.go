package pt2

import (
	"fmt"

	"graft/model/graph"
)

// deepestInline limits nested blocks.
const deepestInline = 8

// blocks are the operators that run a part of the network with autocast or gradients switched; the value is the index
// of the switch argument. The graph of the part is the first argument that is a graph.
var blocks = map[string]int{"torch.ops.higher_order.wrap_with_autocast": 2,
	"torch.ops.higher_order.wrap_with_set_grad_enabled": 0}

// isBlock reports whether an operator can be replaced by the operators of its part: disabled autocast changes nothing,
// and disabled gradients are a detach.
func isBlock(n *node) (on, ok bool) {
	at, known := blocks[n.Target]
	if !known || at >= len(n.Inputs) || n.Inputs[at].Arg.kind != "as_bool" || decode(n.Inputs[at].Arg, &on) != nil {
		return false, false
	}
	return on, n.Target == "torch.ops.higher_order.wrap_with_set_grad_enabled" || !on
}

// scope holds the names that a part of the network may read.
type scope struct {
	names   map[string]any
	aliases map[string]*alias
	values  map[string]*meta
}

func (b *builder) enter(s scope) (outer scope) {
	values := &b.program.GraphModule.Graph.TensorValues
	outer = scope{b.names, b.views.aliases, *values}
	b.names, b.views.aliases, *values = s.names, s.aliases, s.values
	return outer
}

// inline adds the operators of a block.
func (b *builder) inline(n *node, on bool) error {
	if b.depth++; b.depth > deepestInline {
		return fmt.Errorf("autocast and set_grad_enabled blocks are nested more than %d levels deep", deepestInline)
	}
	defer func() { b.depth-- }()
	var part struct {
		Graph graphPart `json:"graph"`
	}
	var given []string
	for _, input := range n.Inputs[blocks[n.Target]+1:] {
		switch input.Arg.kind {
		case "as_graph":
			if err := decode(input.Arg, &part); err != nil {
				return err
			}
		case "as_tensor", "as_sym_int":
			given = append(given, nameIn(input.Arg))
		case "as_bool":
		default:
			return fmt.Errorf("an autocast or set_grad_enabled block has an unsupported input %.40q",
				input.Arg.kind)
		}
	}
	inner := scope{map[string]any{}, map[string]*alias{}, part.Graph.TensorValues}
	if len(given) != len(part.Graph.Inputs) {
		return fmt.Errorf("an autocast or set_grad_enabled block expects %d inputs, got %d",
			len(part.Graph.Inputs), len(given))
	}
	for k, name := range given {
		if _, err := b.ref(name); err != nil {
			return err
		}
		to := nameIn(part.Graph.Inputs[k])
		inner.names[to], inner.aliases[to] = b.names[name], b.views.aliases[name]
		if b.views.aliases[name] == nil {
			delete(inner.aliases, to)
		}
	}
	b.readClasses(part.Graph.Nodes)
	outer := b.enter(inner)
	err := b.addNodes(part.Graph.Nodes)
	b.enter(outer)
	if err != nil {
		return err
	}
	return b.leave(n, part.Graph.Outputs, inner, on)
}

// leave assigns the results of a block to the names that the network reads.
func (b *builder) leave(n *node, outputs []union, inner scope, on bool) error {
	results := resultNames(n)
	if len(results) != len(outputs) {
		return fmt.Errorf("an autocast or set_grad_enabled block returns %d outputs, but its caller expects %d",
			len(outputs), len(results))
	}
	for k, name := range results {
		from := nameIn(outputs[k])
		value, ok := inner.names[from]
		if _, taken := b.names[name]; taken || !ok {
			return fmt.Errorf("an autocast or set_grad_enabled block returns %.200q, which none of its operators "+
				"computes, or its result %.200q is a duplicate name", from, name)
		}
		b.names[name] = value
		if a := inner.aliases[from]; a != nil {
			b.views.aliases[name] = a
		}
		if _, isValue := value.(graph.Value); isValue && !on &&
			n.Target == "torch.ops.higher_order.wrap_with_set_grad_enabled" {
			if err := b.detach(name, b.modulePath(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// detach ends the gradients of a value.
func (b *builder) detach(name, module string) error {
	value, err := b.ref(name)
	if err != nil {
		return err
	}
	detached := b.unique(name + ":detached")
	b.out.Graph.Nodes = append(b.out.Graph.Nodes, graph.Node{Operator: "detach.default", Module: module,
		Args: []graph.Arg{{Name: "self", Value: value}}, Results: []graph.Value{detached}})
	b.names[name] = detached
	if b.views.aliases[name] != nil {
		b.views.aliases[name] = &alias{of: &memory{value: detached}, value: detached}
	}
	return nil
}

// unique returns the value for a name: blocks repeat names of the enclosing network.
func (b *builder) unique(name string) graph.Value {
	value := graph.Value(name)
	for k := 2; b.used[value]; k++ {
		value = graph.Value(fmt.Sprintf("%s:%d", name, k))
	}
	b.used[value] = true
	return value
}

// nameIn returns the name of a tensor or size.
func nameIn(u union) string {
	var one struct {
		Name   string `json:"name"`
		AsName string `json:"as_name"`
	}
	_ = decode(u, &one) // an empty name is unknown
	return one.Name + one.AsName
}
