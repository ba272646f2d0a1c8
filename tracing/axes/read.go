// Package axes names the dimensions of a graph: which dimensions of which tensors must change together when a network
// gets wider. Each dimension of a value is a term; operators unify terms, as in type inference (Milner 1978). The
// remaining terms are axes: the residual stream, hidden units, heads, the size of a head, channels, the vocabulary.
package axes

import (
	"fmt"
	"slices"

	"graft/model/graph"
)

// Axes describes each dimension of a graph's tensors by a [Term], such as a product of two axes.
type Axes struct {
	Graph   *graph.Graph
	Shapes  map[graph.Value][]int
	Values  map[graph.Value][]*Term
	Tensors map[string][]*Term
	Uses    []Use  // uses of axes in running order
	Norms   []Norm // normalisations over the last dimension, in running order

	readers map[graph.Value][]int // nodes that read a value
	added   map[string]bool       // tensors that are added or joined to values, such as positions
}

// Use is an operator that combines the values along an axis, such as a sum.
type Use struct {
	Node int // index of the operator's node in the graph
	Kind UseKind
	Term *Term
	// Left and Right are the operands of a sum of products: values or weights, in the same form as in the node's
	// arguments.
	Left, Right any
}

// UseKind is the way in which an operator uses an axis.
type UseKind int

// Kinds of uses.
const (
	Contracts  UseKind = iota // sums products of two operands over the axis
	Normalises                // normalises over the axis
	Looks                     // looks up rows of an embedding, whose number is the size of the axis
)

// Read infers a term for each dimension of a graph's tensors. If Read has no rule for an operator, it fixes the axes of
// the operator's inputs and results, which means that their sizes cannot change.
func Read(g *graph.Graph) (*Axes, error) {
	shapes, err := g.Shapes()
	if err != nil {
		return nil, fmt.Errorf("read axes: %w", err)
	}
	a := &Axes{Graph: g, Shapes: shapes, Values: map[graph.Value][]*Term{}, Tensors: map[string][]*Term{},
		readers: readersOf(g), added: map[string]bool{}}
	for _, t := range g.Tensors {
		if t.Tied != "" {
			a.Tensors[t.Name] = a.Tensors[t.Tied]
			continue
		}
		a.Tensors[t.Name] = freshTerms(t.Shape, "")
	}
	for _, t := range g.Tensors { // tensors that are tied to a later one
		if t.Tied != "" {
			a.Tensors[t.Name] = a.Tensors[t.Tied]
		}
	}
	for _, in := range g.Inputs() {
		a.Values[in.Value] = freshTerms(in.Dims(), "it is the network's input")
	}
	for k := range g.Nodes {
		r := &reader{Axes: a, n: &g.Nodes[k], at: k}
		if err := r.node(); err != nil {
			return nil, fmt.Errorf("read axes: %s: %w", g.Nodes[k].String(), err)
		}
	}
	for _, v := range g.Outputs() {
		for _, t := range a.Values[v] {
			t.Fix("it is the network's output")
		}
	}
	return a, nil
}

func freshTerms(shape []int, reason string) []*Term {
	terms := make([]*Term, len(shape))
	for k, size := range shape {
		terms[k] = fresh(size)
		terms[k].Fixed = reason
	}
	return terms
}

// reader reads a node.
type reader struct {
	*Axes
	n  *graph.Node
	at int
}

// rule returns the terms of a node's results.
type rule func(*reader) [][]*Term

func (r *reader) node() (err error) {
	if r.n.Sizes() {
		return nil
	}
	op := r.n.Name()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("invalid arguments: %v", p)
		}
	}()
	run := rules[op]
	if run == nil || r.n.Returns != nil { // another overload may behave differently
		run = unknown
	}
	results := run(r)
	for k, v := range r.n.Results {
		shape := r.Shapes[v]
		if k >= len(results) || len(results[k]) != len(shape) {
			return fmt.Errorf("graft derived %d dimensions, but the result has shape %v",
				len(results[min(k, len(results)-1)]), shape)
		}
		for d, t := range results[k] {
			if t.Size != shape[d] {
				return fmt.Errorf("graft derived a dimension of size %d, but the result has shape %v", t.Size, shape)
			}
		}
		r.Values[v] = results[k]
	}
	return nil
}

// unknown fixes everything, because the operator's use of its axes is unknown.
func unknown(r *reader) [][]*Term {
	reason := fmt.Sprintf("%s uses it in an unknown way", r.n.Operator)
	r.n.Reads(func(v any) {
		for _, t := range r.terms(v) {
			t.Fix(reason)
		}
	})
	return r.freshResults(reason)
}

func (r *reader) freshResults(reason string) [][]*Term {
	var all [][]*Term
	for _, v := range r.n.Results {
		all = append(all, freshTerms(r.Shapes[v], reason))
	}
	return all
}

// terms returns the dimensions of a value or a weight; nil for a number.
func (r *reader) terms(arg any) []*Term {
	switch v := arg.(type) {
	case graph.Value:
		return r.Values[v]
	case graph.Weight:
		return r.Tensors[string(v)]
	}
	return nil
}

func (r *reader) arg(name string) []*Term { return r.terms(r.n.Arg(name)) }

func (r *reader) first() []*Term { return r.terms(r.n.Args[0].Value) }

// out returns the shape of the first result.
func (r *reader) out() []int { return r.Shapes[r.n.Results[0]] }

// whole returns a literal number.
func (r *reader) whole(name string, missing int) int {
	if v, ok := r.n.Arg(name).(int64); ok {
		return int(v)
	}
	return missing
}

// dim returns a dimension, counted from the start.
func (r *reader) dim(name string, missing, dims int) int {
	d := r.whole(name, missing)
	if d < 0 {
		d += dims
	}
	return d
}

func (r *reader) list(name string) []any {
	switch v := r.n.Arg(name).(type) {
	case []any:
		return v
	case nil:
		return nil
	default:
		return []any{v}
	}
}

func (r *reader) use(kind UseKind, t *Term, left, right any) {
	r.Uses = append(r.Uses, Use{Node: r.at, Kind: kind, Term: t, Left: left, Right: right})
}

// broadcast unifies dimensions that are not of size one, starting with the last.
func broadcast(lists ...[]*Term) []*Term {
	var out []*Term
	for _, list := range lists {
		for len(out) < len(list) {
			out = slices.Insert(out, 0, fresh(1))
		}
	}
	for _, list := range lists {
		for k, t := range list {
			at := len(out) - len(list) + k
			switch {
			case out[at].Size == 1:
				out[at] = t
			case t.Size != 1:
				unify(out[at], t)
			}
		}
	}
	return out
}

// reshape unifies two shapes of the same values, read row by row.
func reshape(from, to []*Term) []*Term {
	refine(Product, productOf(from...).Factors(), productOf(to...).Factors())
	return to
}

func with(list []*Term, at int, t *Term) []*Term {
	out := slices.Clone(list)
	out[at] = t
	return out
}

func without(list []*Term, at int) []*Term { return slices.Delete(slices.Clone(list), at, at+1) }
