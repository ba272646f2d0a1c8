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
	case "floor_divide.default", "floor_divide.Scalar", "floor_divide_.Tensor", "floor_divide_.Scalar":
		out.Args = append(out.Args, graph.Arg{Name: "rounding_mode", Value: "floor"})
	case "rrelu.default", "rrelu_.default":
		return b.meanSlope(out)
	case "alpha_dropout.default", "feature_alpha_dropout.default":
		if err := b.evalOnly(out, "train", "without dropout"); err != nil {
			return err
		}
		out.Args = out.Args[:1]
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

// evalOnly returns an error for an operator in train mode, which graft does not compute, and notes how graft trains it.
func (b *builder) evalOnly(out *graph.Node, mode, trains string) error {
	if on, _ := out.Arg(mode).(bool); on {
		return fmt.Errorf("graft does not support this operator in train mode; call eval() of the network before the " +
			"export")
	}
	b.note("%q is imported in eval mode; graft trains it %s", out.Module, trains)
	return nil
}

// meanSlope makes a leaky ReLU with the mean of the slopes, which is an RReLU in eval mode.
func (b *builder) meanSlope(out *graph.Node) error {
	if err := b.evalOnly(out, "training", "with this constant slope"); err != nil {
		return err
	}
	slopes := [2]float64{1.0 / 8, 1.0 / 3} // the defaults of rrelu
	for k, name := range []string{"lower", "upper"} {
		switch v := out.Arg(name).(type) {
		case float64:
			slopes[k] = v
		case int64:
			slopes[k] = float64(v)
		}
	}
	out.Args = append(out.Args[:1], graph.Arg{Name: "negative_slope", Value: (slopes[0] + slopes[1]) / 2})
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
