package fabric

import (
	"math"
	"slices"

	"graft/cluster/fabric/graph"
)

// Parted is a training step whose operations are split to run on several servers.
type Parted struct {
	Source *graph.Graph // graph before the split
	Graph  *graph.Graph
	Degree int // maximum number of parts of an operation
	// number of parts of each forward operation, indexed by the operation's number minus 1
	Split   []int
	Details graph.Details // sums and maxima over Graph
	first   []int         // by operation number: its first part in Graph.Ops
	order   []int         // forward operation numbers in order of placement, sources first
	at      []int         // by forward operation number minus 1: its index in Source.Ops
	stage   []int         // by forward operation number minus 1: the server of all its parts; nil spreads parts
	groups  []group
}

// Parts returns the range of an operation's parts in Graph.Ops: the index of the first part and the index after the
// last.
func (p *Parted) Parts(node int) (from, to int) {
	return p.first[node], p.first[node] + p.Split[min(node, p.Source.Twin(node))-1]
}

// Splits returns the number of parts of each forward operation, indexed by the operation's number minus 1. An operation
// has one part per quantum of its compute time. The number of parts is rounded up to an even number, but never exceeds
// the argument most. The splitting rule is from SiP-ML (Khani et al., SIGCOMM 2021).
func Splits(g *graph.Graph, quantum float64, most int) []int {
	split := make([]int, g.Nodes)
	for k := range g.Ops {
		if op := &g.Ops[k]; !g.Backward(op) {
			even := 2 * math.Ceil(math.Ceil(op.Compute/quantum)/2)
			split[op.Node-1] = int(max(1, min(even, float64(most))))
		}
	}
	return split
}

// published splits a graph like PAC-ML's simulator: each part sends to all parts of its successors, and the parts of a
// backward operation exchange their data in pairs.
func published(g *graph.Graph, split []int) *rewriting {
	r := newRewriting(g, func(d *graph.Dep) float64 { return g.Ops[d.From].Memory })
	for k := range g.Ops {
		op := &g.Ops[k]
		if n := split[min(op.Node, g.Twin(op.Node))-1]; n > 1 && !g.Backward(op) {
			r.publishedSplit(op.Node, n, false)
			r.publishedSplit(g.Twin(op.Node), n, true)
		}
	}
	return r
}

func (r *rewriting) publishedSplit(node, n int, sync bool) {
	whole := r.ops[r.first[node]]
	before, behind := r.remove(r.first[node])
	parts := make([]graph.Op, n)
	for k := range parts {
		parts[k] = whole
		parts[k].Part = k
		parts[k].Compute /= float64(n)
		parts[k].Memory /= float64(n)
		parts[k].Activation /= float64(n)
		parts[k].Parameters /= float64(n)
	}
	r.add(parts)
	for k := range parts {
		at := r.first[node] + k
		for _, from := range before {
			r.link(graph.Dep{From: from, To: at, Size: r.ops[from].Memory / float64(n)})
		}
		for _, to := range behind {
			r.link(graph.Dep{From: at, To: to, Size: r.ops[to].Memory / float64(n)})
		}
	}
	if sync {
		r.exchange(node, parts[0].Memory)
	}
}

// exchange links all pairs of parts of an operation.
func (r *rewriting) exchange(node int, size float64) {
	for _, from := range r.part(node) {
		for _, to := range r.part(node) {
			if from != to {
				r.link(graph.Dep{From: from, To: to, Size: size, Sync: true})
			}
		}
	}
}

// finish makes a parted step from a rewriting.
func (r *rewriting) finish(split []int) *Parted {
	g, first := r.graph()
	return newParted(r.source, g, first, split)
}

// newParted makes a parted step without groups; the caller adds them.
func newParted(source, parted *graph.Graph, first, split []int) *Parted {
	p := &Parted{Source: source, Graph: parted, Split: split, Degree: slices.Max(split), Details: parted.Details(),
		first: first}
	p.order = placing(source)
	p.at = make([]int, source.Nodes)
	for k := range p.at {
		p.at[source.Ops[k].Node-1] = k
	}
	return p
}

// placing orders the forward operations for placement, sources first.
func placing(g *graph.Graph) []int {
	var edges [][2]int
	ops := g.Nodes // forward operations come first
	for k := range g.Deps {
		if d := &g.Deps[k]; d.From < ops && d.To < ops {
			edges = append(edges, [2]int{d.From, d.To})
		}
	}
	order := graph.Order(ops, edges)
	for k, at := range order {
		order[k] = g.Ops[at].Node
	}
	return order
}
