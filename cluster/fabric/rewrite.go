package fabric

import (
	"slices"

	"graft/cluster/fabric/graph"
)

// rewriting is a graph whose operations are being split. Removed operations and transfers stay in their lists and are
// marked. The others keep their order of creation.
type rewriting struct {
	source *graph.Graph
	ops    []graph.Op
	gone   []bool
	out    [][]int // by operation: outgoing transfers
	in     [][]int
	deps   []graph.Dep
	first  []int // by operation number: its first part, or itself
	parts  []int // by operation number: its number of parts
}

func newRewriting(source *graph.Graph, size func(*graph.Dep) float64) *rewriting {
	numbers := 2*source.Nodes + 1
	r := &rewriting{
		source: source, ops: slices.Clone(source.Ops), gone: make([]bool, len(source.Ops)),
		out: make([][]int, len(source.Ops)), in: make([][]int, len(source.Ops)),
		first: make([]int, numbers), parts: make([]int, numbers),
	}
	for k := range source.Ops {
		r.first[source.Ops[k].Node], r.parts[source.Ops[k].Node] = k, 1
	}
	for k := range source.Deps {
		d := source.Deps[k]
		d.Size = size(&d)
		r.link(d)
	}
	return r
}

func (r *rewriting) link(d graph.Dep) {
	r.out[d.From] = append(r.out[d.From], len(r.deps))
	r.in[d.To] = append(r.in[d.To], len(r.deps))
	r.deps = append(r.deps, d)
}

// part returns the parts of an operation, which are adjacent.
func (r *rewriting) part(node int) []int {
	list := make([]int, r.parts[node])
	for k := range list {
		list[k] = r.first[node] + k
	}
	return list
}

// remove takes an operation out. It returns its predecessors and successors in the order of its transfers, without
// transfers to itself.
func (r *rewriting) remove(op int) (before, behind []int) {
	for _, dep := range r.in[op] {
		from := r.deps[dep].From
		before = append(before, from)
		r.out[from] = without(r.out[from], dep)
	}
	for _, dep := range r.out[op] {
		to := r.deps[dep].To
		behind = append(behind, to)
		r.in[to] = without(r.in[to], dep)
	}
	r.gone[op], r.in[op], r.out[op] = true, nil, nil
	return before, behind
}

func without(list []int, dep int) []int {
	at := slices.Index(list, dep)
	return slices.Delete(list, at, at+1)
}

// add appends parts of an operation.
func (r *rewriting) add(parts []graph.Op) {
	node := parts[0].Node
	r.first[node], r.parts[node] = len(r.ops), len(parts)
	r.ops = append(r.ops, parts...)
	r.gone = append(r.gone, make([]bool, len(parts))...)
	r.out = append(r.out, make([][]int, len(parts))...)
	r.in = append(r.in, make([][]int, len(parts))...)
}

// graph returns the remaining graph: operations in order, transfers by source. The list first has, for each operation
// number, the index of its first part.
func (r *rewriting) graph() (g *graph.Graph, first []int) {
	g = &graph.Graph{Model: r.source.Model, Nodes: r.source.Nodes}
	place := make([]int, len(r.ops))
	for k := range r.ops {
		place[k] = len(g.Ops)
		if !r.gone[k] {
			g.Ops = append(g.Ops, r.ops[k])
		}
	}
	moved := make([]int, len(r.deps))
	for k := range r.ops {
		for _, dep := range r.out[k] {
			d := r.deps[dep]
			moved[dep] = len(g.Deps)
			g.Deps = append(g.Deps, graph.Dep{From: place[d.From], To: place[d.To], Size: d.Size, Sync: d.Sync})
		}
	}
	g.Index()
	for k := range r.ops { // incoming transfers keep their order of creation
		if !r.gone[k] {
			for j, dep := range r.in[k] {
				g.In[place[k]][j] = moved[dep]
			}
		}
	}
	first = make([]int, len(r.first))
	for node, at := range r.first[1:] {
		first[node+1] = place[at]
	}
	return g, first
}
