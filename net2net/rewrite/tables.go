package rewrite

import (
	"fmt"
	"slices"

	"graft/model/graph"
	"graft/tracing/axes"
)

// Vocabulary returns a plan that enlarges the vocabulary to the given number of tokens, with new rows in the embedding
// and in the output head. The old logits stay unchanged; their softmax changes, since it includes the new logits.
func Vocabulary(a *axes.Axes, to int) (*Plan, error) {
	var rows *axes.Term
	for _, u := range a.Uses {
		if u.Kind == axes.Looks && u.Left == any(a.Graph.Input.Value) {
			rows = u.Term.Find()
		}
	}
	if rows == nil || rows.Kind != axes.Axis {
		return nil, fmt.Errorf("vocabulary: the network has no token embedding")
	}
	grown := []*axes.Term{rows}
	out := a.Values[a.Graph.Output]
	if last := out[len(out)-1].Find(); last != rows && last.Size == rows.Size && last.Kind == axes.Axis {
		grown = append(grown, last)
	}
	return longer(a, "vocabulary", grown, to)
}

// Context returns a plan that increases the maximum sequence length, with new rows in the tables of learned position
// embeddings. Sequences up to the old maximum length do not use the new rows.
func Context(a *axes.Axes, to int) (*Plan, error) {
	var grown []*axes.Term
	for _, n := range a.Graph.Nodes {
		table, ok := n.Args[0].Value.(graph.Weight)
		if _, named := n.Arg("end").(graph.Value); !ok || !named || op(&n) != "slice" ||
			a.Graph.Tensor(string(table)).Role != graph.Parameter {
			continue
		}
		terms := a.Tensors[string(table)]
		if t := terms[wrap(&n, "dim", 0, len(terms))].Find(); t.Kind == axes.Axis && !slices.Contains(grown, t) {
			grown = append(grown, t)
		}
	}
	if len(grown) == 0 {
		return nil, fmt.Errorf("context: found no learned position embedding that is sliced to the input length; " +
			"rotary positions do not need to grow")
	}
	return longer(a, "context", grown, to)
}

// longer adds random rows to tables, and zeros to biases.
func longer(a *axes.Axes, what string, grown []*axes.Term, to int) (*Plan, error) {
	p := keep(a.Graph)
	sizes := map[*axes.Term]int{}
	for _, axis := range grown {
		if to <= axis.Size {
			return nil, fmt.Errorf("%s: the size is already %d; use a larger size", what, axis.Size)
		}
		sizes[axis] = to
	}
	for _, u := range a.Uses {
		if u.Kind != axes.Looks && slices.ContainsFunc(grown, u.Term.Has) {
			return nil, fmt.Errorf("%s: the axis cannot grow because %s operates on it", what,
				a.Graph.Nodes[u.Node].Operator)
		}
	}
	for _, t := range a.Graph.Tensors {
		for dim, term := range a.Tensors[t.Name] {
			if to, ok := sizes[term.Find()]; ok && t.Tied == "" {
				d := Dim{At: dim}
				for k := range to {
					d.From = append(d.From, k)
					if k >= term.Find().Size {
						d.From[k] = -1
					}
				}
				if len(t.Shape) > 1 {
					d.Pad = Random
				}
				p.add(t.Name, d)
			}
		}
	}
	return resize(a, p, sizes)
}

// Groups takes the name of a weight that computes keys or values, and returns the axis whose size is the number of key
// and value heads. The axis can have size 1.
func Groups(a *axes.Axes, key string) (*axes.Term, error) {
	terms := a.Tensors[key]
	if len(terms) < 2 || terms[0].Find().Kind != axes.Product {
		return nil, fmt.Errorf("ungroup: %s is not a key or value weight: "+
			"its number of rows is not heads times head size", key)
	}
	return terms[0].Find().Parts[0].Find(), nil
}

// Ungroup returns a plan that increases the number of key and value heads, and keeps the number of query heads. The new
// number must be a multiple of the current number.
func Ungroup(a *axes.Axes, groups *axes.Term, to int) (*Plan, error) {
	groups = groups.Find()
	if groups.Kind != axes.Axis || to <= groups.Size || to%groups.Size != 0 {
		return nil, fmt.Errorf("ungroup: got %d groups; expected a larger multiple of the current number, %d", to,
			groups.Size)
	}
	times := to / groups.Size
	u := &ungrouping{groups: groups, times: times}
	p := keep(a.Graph)
	for _, t := range a.Graph.Tensors {
		for dim, term := range a.Tensors[t.Name] {
			if t.Tied != "" || !term.Has(groups) {
				continue
			}
			if queries := u.queries(term); queries != nil {
				if u.each != nil && u.each != queries || queries.Size%times != 0 {
					return nil, fmt.Errorf("ungroup: the number of queries per group is %d; must be a multiple of %d",
						queries.Size, times)
				}
				u.each = queries
				continue // queries keep their heads
			}
			p.add(t.Name, u.rows(dim, term))
		}
	}
	sizes := map[*axes.Term]int{groups: to}
	if u.each != nil {
		sizes[u.each] = u.each.Size / times
	} else if groups.Size > 1 { // a single group is not an axis of the queries
		return nil, fmt.Errorf("ungroup: found no queries that share these key and value heads")
	}
	return resize(a, p, sizes)
}

type ungrouping struct {
	groups, each *axes.Term
	times        int
}

// queries returns the axis of queries per group, which follows the groups; nil for keys and values.
func (u *ungrouping) queries(t *axes.Term) *axes.Term {
	t = t.Find()
	if t.Kind != axes.Product {
		return nil
	}
	factors := t.Factors()
	for k := range len(factors) - 1 {
		if next := factors[k+1].Find(); factors[k].Find() == u.groups && next.Kind == axes.Axis && k+2 < len(factors) {
			return next
		}
	}
	return nil
}

// rows repeats each group of keys or values.
func (u *ungrouping) rows(dim int, t *axes.Term) Dim {
	w := &widening{axis: u.groups}
	for k := range u.groups.Size * u.times {
		w.from, w.share = append(w.from, k/u.times), append(w.share, 1)
	}
	from, _ := w.expanded(t)
	d := Dim{At: dim, From: from}
	for range from {
		d.Moment = append(d.Moment, 1/float64(u.times)) // the gradients of copies add up to the old one
	}
	return d
}

// Untie returns a plan that gives separate weights to an output head that shares the embedding's weights. The separate
// weights start as a copy of the embedding's weights.
func Untie(a *axes.Axes) (*Plan, error) {
	p := keep(a.Graph)
	g := p.Graph
	shared := func(w graph.Weight) string {
		if t := g.Tensor(string(w)); t.Tied != "" {
			return t.Tied
		}
		return string(w)
	}
	embedded := map[string]string{} // names under which embeddings read a tensor
	for _, n := range g.Nodes {
		if w, ok := n.Arg("weight").(graph.Weight); ok && op(&n) == "embedding" {
			embedded[shared(w)] = string(w)
		}
	}
	for k := range g.Nodes {
		n := &g.Nodes[k]
		w, ok := n.Arg("weight").(graph.Weight)
		if !ok || op(n) != "linear" || embedded[shared(w)] == "" {
			continue
		}
		from := shared(w)
		name := p.ownName(n, from)
		n.Set("weight", graph.Weight(name))
		for j := range g.Nodes {
			if e := &g.Nodes[j]; op(e) == "embedding" && e.Arg("weight") == any(w) {
				e.Set("weight", graph.Weight(from))
			}
		}
		return p.finish()
	}
	return nil, fmt.Errorf("untie: no linear layer shares its weights with an embedding")
}

// ownName gives a linear layer its own tensor: the one under which its weights were tied, or a new module's.
func (p *Plan) ownName(n *graph.Node, from string) string {
	g := p.Graph
	for k := range g.Tensors {
		if t := &g.Tensors[k]; t.Tied == from && (t.Name == n.Module+".weight" || n.Module == "") {
			t.Tied = ""
			p.Moves = append(p.Moves, Move{Name: t.Name, From: from})
			return t.Name
		}
	}
	path := "head"
	for k := 2; slices.ContainsFunc(g.Modules, func(m graph.Module) bool { return m.Path == path }); k++ {
		path = fmt.Sprintf("head%d", k)
	}
	t := *g.Tensor(from)
	t.Name, t.Shape = path+".weight", slices.Clone(t.Shape)
	g.Modules = append(g.Modules, graph.Module{Path: path, Class: "Linear",
		Extra: fmt.Sprintf("in_features=%d, out_features=%d, bias=False", t.Shape[1], t.Shape[0])})
	g.Tensors = append(g.Tensors, t)
	p.Moves = append(p.Moves, Move{Name: t.Name, From: from})
	n.Module = path
	return t.Name
}
