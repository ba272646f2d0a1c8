package pt2

import (
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
)

// A graph has no operators in place. This file converts them to plain ones, like the functionalization of PyTorch
// (torch/_subclasses/functional_tensor.py): a value is a view of a piece of memory through a chain of operators. A
// write through a view is applied to the memory when another view of it is read next.

// memory is a piece of memory that values share.
type memory struct {
	weight  string      // name of the network's tensor; empty for other memory
	value   graph.Value // content without the pending writes
	version int         // counts writes
	pending []write
}

// write is a value that was written through a chain of views.
type write struct {
	path  []step
	value graph.Value
	by    string // operator
}

// step is an operator that returns a view of its first argument.
type step struct {
	node   graph.Node
	result int  // index of the view among the results
	copies bool // may return a copy instead; the archive does not tell
}

// alias is the place of a value in its memory.
type alias struct {
	of      *memory
	path    []step
	value   graph.Value // content at a version
	version int
}

// views tracks the memory of each value.
type views struct {
	aliases map[string]*alias
	emit    func(graph.Node) // adds an operator to the graph
	fresh   int              // operators added so far
}

func newViews(emit func(graph.Node)) *views {
	return &views{aliases: map[string]*alias{}, emit: emit}
}

// viewing are the operators that may return a view of their first argument.
var viewing = strings.Fields(`view reshape flatten unflatten transpose swapaxes t numpy_T permute movedim expand
	expand_as squeeze unsqueeze select slice narrow chunk split split_with_sizes unbind alias detach contiguous to
	type_as view_as reshape_as diagonal unfold dropout feature_dropout`)

// copying lists the operators of viewing that may return a copy instead.
var copying = strings.Fields(`reshape flatten contiguous to type_as reshape_as dropout feature_dropout`)

// add records a result of an operator.
func (v *views) add(name string, n graph.Node, result int, self string, contiguous bool) {
	op := n.Name()
	from := v.aliases[self]
	value := n.Results[result]
	if from == nil || !slices.Contains(viewing, op) {
		v.aliases[name] = &alias{of: &memory{value: value}, value: value}
		return
	}
	reshapes := !slices.Contains([]string{"to", "type_as", "dropout", "feature_dropout"}, op)
	s := step{node: n, result: result, copies: slices.Contains(copying, op) && !(reshapes && contiguous)}
	v.aliases[name] = &alias{of: from.of, path: append(slices.Clip(from.path), s), value: value, version: from.version}
}

// share records that a result shares the memory of a value, in an order that cannot be repeated.
func (v *views) share(name, with string, n graph.Node) {
	from := v.aliases[with]
	if from == nil {
		return
	}
	a := v.aliases[name]
	v.aliases[name] = &alias{of: from.of, path: append(slices.Clip(from.path), step{node: n, copies: true}),
		value: a.value, version: from.version}
}

// read returns the content of a value, after all writes into its memory.
func (v *views) read(name string) (graph.Value, error) {
	a := v.aliases[name]
	if a.version == a.of.version {
		return a.value, nil
	}
	if err := a.of.settle(v); err != nil {
		return "", err
	}
	value := a.of.value
	for _, s := range a.path {
		if s.copies {
			return "", fmt.Errorf("the network changes a tensor in place, but %s may have copied this tensor before "+
				"the change", s.node.Operator)
		}
		value = v.again(s, value)
	}
	a.value, a.version = value, a.of.version
	return value, nil
}

// change records that an operator has changed a value in place, and that both names read its result.
func (v *views) change(self, result, operator string, value graph.Value) error {
	a := v.aliases[self]
	if a == nil || a.of.weight != "" {
		return fmt.Errorf("the operator modifies a size or a tensor of the network; forward must not modify " +
			"the network's state")
	}
	a.of.version++
	a.of.pending = append(a.of.pending, write{a.path, value, operator})
	a.value, a.version = value, a.of.version
	v.aliases[result] = a
	return nil
}

// settle applies the pending writes to the memory.
func (m *memory) settle(v *views) error {
	for _, w := range m.pending {
		value, err := v.put(m.value, w.path, w.value)
		if err != nil {
			return fmt.Errorf("the in-place operator %s changes a view: %w; "+
				"avoid in-place operators on views in the network's code", w.by, err)
		}
		m.value = value
	}
	m.pending = nil
	return nil
}

// put returns a value with the part replaced that a chain of views selects.
func (v *views) put(base graph.Value, path []step, part graph.Value) (graph.Value, error) {
	if len(path) == 0 {
		return part, nil
	}
	inner := part
	if len(path) > 1 {
		var err error
		if inner, err = v.put(v.again(path[0], base), path[1:], part); err != nil {
			return "", err
		}
	}
	return v.replace(base, path[0], inner)
}

// again repeats a view of another value.
func (v *views) again(s step, of graph.Value) graph.Value {
	n := graph.Node{Operator: s.node.Operator, Module: s.node.Module, Args: slices.Clone(s.node.Args)}
	n.Args[0].Value = of
	for _, name := range s.node.Results {
		n.Results = append(n.Results, v.name(name))
	}
	v.emit(n)
	return n.Results[s.result]
}

// replace returns a value with the part replaced that a view selects.
func (v *views) replace(base graph.Value, s step, part graph.Value) (graph.Value, error) {
	if s.copies {
		return "", fmt.Errorf("the operator %s may return a view or a copy", s.node.Operator)
	}
	n := graph.Node{Module: s.node.Module, Results: []graph.Value{v.name(base)}, Args: slices.Clone(s.node.Args)}
	op, overload, _ := strings.Cut(s.node.Operator, ".")
	n.Args[0].Value = part
	switch op {
	case "slice", "select":
		n.Operator = op + "_scatter.default"
		n.Args = slices.Concat([]graph.Arg{{Name: "self", Value: base}, {Name: "src", Value: part}}, s.node.Args[1:])
	case "transpose", "swapaxes", "t", "numpy_T":
		n.Operator = op + "." + overload
	case "view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "alias", "detach", "view_as", "reshape_as",
		"contiguous":
		n.Operator, n.Args = "reshape_as.default",
			[]graph.Arg{{Name: "self", Value: part}, {Name: "other", Value: base}}
	case "permute":
		dims, _ := s.node.Arg("dims").([]any)
		back := make([]any, len(dims))
		for k, d := range dims {
			to, ok := d.(int64)
			if to < 0 {
				to += int64(len(dims))
			}
			if !ok || to < 0 || int(to) >= len(dims) {
				return "", fmt.Errorf("permute has invalid dimensions %v; expected integers from %d to %d", dims,
					-len(dims), len(dims)-1)
			}
			back[to] = int64(k)
		}
		n.Operator = "permute.default"
		n.Set("dims", back)
	default:
		return "", fmt.Errorf("graft does not support changing the result of %s in place, because this result "+
			"is a view", s.node.Operator)
	}
	v.emit(n)
	return n.Results[0], nil
}

// name makes a value name that the archive cannot contain: its names have no colon.
func (v *views) name(of graph.Value) graph.Value {
	v.fresh++
	stem, _, _ := strings.Cut(string(of), ":")
	return graph.Value(fmt.Sprintf("%s:%d", stem, v.fresh))
}
