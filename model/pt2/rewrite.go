package pt2

import (
	"fmt"
	"slices"
	"strings"

	"graft/internal/words"
	"graft/model/graph"
)

// rewrite changes the arguments of operators that graft replaces by more general ones, so that the rules of shapes,
// costs and surgery of these apply. The argument self is the name of the first input if it is a tensor.
func (b *builder) rewrite(out *graph.Node, n *node, target, self string) error {
	switch target {
	case "mT.default":
		out.Args = append(out.Args, graph.Arg{Name: "dim0", Value: int64(-2)},
			graph.Arg{Name: "dim1", Value: int64(-1)})
	case "movedim.intlist", "moveaxis.intlist":
		order, err := moved(b.rankOf(self), out.Arg("source"), out.Arg("destination"))
		if err != nil {
			return err
		}
		out.Args = []graph.Arg{out.Args[0], {Name: "dims", Value: order}}
	case "einsum.default":
		text, _ := out.Arg("equation").(string)
		if !strings.Contains(text, "...") {
			return nil
		}
		equation, err := b.lettered(text, n)
		if err != nil {
			return err
		}
		for k := range out.Args {
			if out.Args[k].Name == "equation" {
				out.Args[k].Value = equation
			}
		}
	}
	return nil
}

// rankOf returns the number of dimensions of a value in the program; -1 if the program does not describe it.
func (b *builder) rankOf(name string) int {
	if m := b.program.GraphModule.Graph.TensorValues[name]; m != nil {
		return len(m.Sizes)
	}
	return -1
}

// moved returns the order of dimensions for permute that moves dimensions as movedim does.
func moved(rank int, source, destination any) ([]any, error) {
	from, ok := places(rank, source)
	to, fits := places(rank, destination)
	if !ok || !fits || len(from) != len(to) {
		return nil, fmt.Errorf("cannot move the dimensions %v of %d to %v; expected equally many different dimensions",
			source, rank, destination)
	}
	order, rest := make([]any, rank), 0
	for at := range order {
		if k := slices.Index(to, at); k >= 0 {
			order[at] = int64(from[k])
			continue
		}
		for slices.Contains(from, rest) {
			rest++
		}
		order[at] = int64(rest)
		rest++
	}
	return order, nil
}

// places returns dimensions counted from the first one, and whether they are different dimensions of a tensor.
func places(rank int, list any) (all []int, ok bool) {
	items, ok := list.([]any)
	for _, item := range items {
		v, whole := item.(int64)
		at := int(v)
		if at < 0 {
			at += rank
		}
		ok = ok && whole && at >= 0 && at < rank && !slices.Contains(all, at)
		all = append(all, at)
	}
	return all, ok
}

// equationLetters are the names of dimensions in an equation of einsum, in order.
const equationLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// lettered replaces the ellipses in an equation of einsum by letters that the equation does not use. The dimensions of
// an ellipsis are aligned at its end, and broadcast.
func (b *builder) lettered(text string, n *node) (string, error) {
	left, out, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms := strings.Split(left, ",")
	wide, err := b.ellipses(text, terms, n)
	if err != nil {
		return "", err
	}
	fresh, named := "", strings.ReplaceAll(left+out, ellipsis, "")
	for _, letter := range equationLetters {
		if len(fresh) < slices.Max(wide) && !strings.ContainsRune(named, letter) {
			fresh += string(letter)
		}
	}
	if len(fresh) < slices.Max(wide) {
		return "", fmt.Errorf("the equation %q has more dimensions than letters", text)
	}
	for k, term := range terms {
		terms[k] = strings.Replace(term, ellipsis, fresh[len(fresh)-wide[k]:], 1)
	}
	if !explicit {
		out = ellipsis + single(named)
	}
	return strings.Join(terms, ",") + "->" + strings.Replace(out, ellipsis, fresh, 1), nil
}

const ellipsis = "..."

// ellipses returns the number of dimensions of each term's ellipsis in an equation of einsum; 0 if it has none.
func (b *builder) ellipses(text string, terms []string, n *node) ([]int, error) {
	var operands []struct{ Name string }
	if len(n.Inputs) < 2 || decode(n.Inputs[1].Arg, &operands) != nil {
		return nil, fmt.Errorf("the operands of the equation %q are not tensors", text)
	}
	if len(terms) != len(operands) {
		return nil, fmt.Errorf("the equation %q has %s for %s", text, words.Plural(len(terms), "term"),
			words.Plural(len(operands), "operand"))
	}
	wide := make([]int, len(terms))
	for k, term := range terms {
		letters := strings.Replace(term, ellipsis, "", 1)
		if letters == term {
			continue
		}
		if wide[k] = b.rankOf(operands[k].Name) - len(letters); wide[k] < 0 {
			return nil, fmt.Errorf("operand %d of the equation %q has too few dimensions", k+1, text)
		}
	}
	return wide, nil
}

// single returns the letters that occur once, sorted: the result of an equation without an arrow.
func single(named string) (out string) {
	for _, letter := range equationLetters {
		if strings.Count(named, string(letter)) == 1 {
			out += string(letter)
		}
	}
	return out
}

// lstmCell names the operator for a single step of an LSTM.
const lstmCell = "lstm_cell.default"

// addCell adds one step of an LSTM as the operators of its formula, so that their rules apply: the gates are the sum of
// two linear layers, in the order input, forget, cell, output.
func (b *builder) addCell(n *node) error {
	args := graph.Node{}
	if _, err := b.addArgs(&args, n, nil); err != nil {
		return err
	}
	state, ok := args.Arg("hx").([]any)
	names := resultNames(n)
	if !ok || len(state) != 2 || len(names) != 2 {
		return fmt.Errorf("the cell of the LSTM has %d results and %d states; expected two of both", len(names),
			len(state))
	}
	module := b.modulePath(n)
	call := func(operator, name string, args ...graph.Arg) graph.Value {
		value := b.unique(name)
		b.out.Graph.Nodes = append(b.out.Graph.Nodes, graph.Node{Operator: operator, Module: module, Args: args,
			Results: []graph.Value{value}})
		return value
	}
	self := func(v any) graph.Arg { return graph.Arg{Name: "self", Value: v} }
	other := func(v any) graph.Arg { return graph.Arg{Name: "other", Value: v} }
	linear := func(x any, w, bias string) graph.Value {
		list := []graph.Arg{{Name: "input", Value: x}, {Name: "weight", Value: args.Arg(w)}}
		if v := args.Arg(bias); v != nil {
			list = append(list, graph.Arg{Name: "bias", Value: v})
		}
		return call("linear.default", names[0]+"_gates", list...)
	}
	gates := call("add.Tensor", names[0]+"_gates", self(linear(args.Arg("input"), "w_ih", "b_ih")),
		other(linear(state[0], "w_hh", "b_hh")))
	parts := make([]graph.Value, 4)
	for k := range parts {
		parts[k] = b.unique(names[0] + "_gate")
	}
	b.out.Graph.Nodes = append(b.out.Graph.Nodes, graph.Node{Operator: "chunk.default", Module: module,
		Args:    []graph.Arg{self(gates), {Name: "chunks", Value: int64(4)}, {Name: "dim", Value: int64(-1)}},
		Results: parts})
	sigmoid := func(v graph.Value) graph.Value { return call("sigmoid.default", names[0]+"_gate", self(v)) }
	tanh := func(v graph.Value) graph.Value { return call("tanh.default", names[0]+"_gate", self(v)) }
	cell := call("add.Tensor", names[1], self(call("mul.Tensor", names[1]+"_kept", self(sigmoid(parts[1])),
		other(state[1]))), other(call("mul.Tensor", names[1]+"_new", self(sigmoid(parts[0])), other(tanh(parts[2])))))
	hidden := call("mul.Tensor", names[0], self(sigmoid(parts[3])), other(tanh(cell)))
	for k, value := range []graph.Value{hidden, cell} {
		if _, taken := b.names[names[k]]; taken || names[k] == "" {
			return fmt.Errorf("duplicate or empty value name %.200q", names[k])
		}
		b.names[names[k]] = value
	}
	return nil
}
