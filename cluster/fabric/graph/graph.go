package graph

import "strconv"

// Graph is one training step: operations and the transfers between them. The order of both
// matters where priorities are equal, and is that in which they were made.
type Graph struct {
	Model string
	Nodes int // operations forward before any was split: numbers 1 to Nodes are forward, Nodes+1 to 2*Nodes their twins
	Ops   []Op
	Deps  []Dep   // grouped by From, in the order of Ops
	Out   [][]int // of each operation: its places in Deps that leave it
	In    [][]int // and those that reach it, in the order in which they were made
}

// Op is an operation of a step, or a part of one.
type Op struct {
	Node       int     // its number: k forward, 2*Nodes+1-k backward
	Part       int     // 0, 1, … of an operation that was split; -1 of a whole one
	Compute    float64 // time on a device of speed 1, in the unit of the profile: ms
	Activation float64 // bytes that it gives
	Parameters float64 // bytes
	Memory     float64 // bytes that it holds: activation and parameters
}

// Name names an operation by its number and, for a part, a letter: 12, 12a, 12b.
func (o *Op) Name() string {
	if o.Part < 0 {
		return strconv.Itoa(o.Node)
	}
	return strconv.Itoa(o.Node) + string(rune('a'+o.Part))
}

// Dep is a transfer: To needs what From gives.
type Dep struct {
	From, To int
	Size     float64 // bytes
	Sync     bool    // exchange between the parts of one operation, which leads both ways
}

// Twin is the number of the operation that does the same in the other pass.
func (g *Graph) Twin(node int) int { return 2*g.Nodes + 1 - node }

// Backward reports whether an operation is of the backward pass.
func (g *Graph) Backward(op *Op) bool { return op.Node > g.Nodes }

// Mirror makes the graph of a training step: all operations forward in the order of the profile,
// their twins in the same order, and one transfer from the last forward to the first backward.
// Backward transfers mirror those forward. A transfer has the size of what its source gives.
func (p *Profile) Mirror() *Graph {
	n := len(p.Nodes)
	g := &Graph{Model: p.Model, Nodes: n, Ops: make([]Op, 0, 2*n)}
	place := make([]int, 2*n+1) // of a number in Ops
	for _, backward := range []bool{false, true} {
		for _, node := range p.Nodes {
			op := Op{Node: node.ID, Part: -1, Compute: node.Forward, Activation: node.Activation, Parameters: node.Parameters, Memory: node.Activation + node.Parameters}
			if backward {
				op.Node, op.Compute = g.Twin(node.ID), node.Backward
			}
			place[op.Node] = len(g.Ops)
			g.Ops = append(g.Ops, op)
		}
	}
	next := make([][]int, 2*n)
	add := func(from, to int) { next[place[from]] = append(next[place[from]], place[to]) }
	forward := make([][]int, n) // a profile's edges in the order of their sources
	for _, e := range p.Edges {
		forward[e[0]] = append(forward[e[0]], e[1])
	}
	for from, tos := range forward {
		for _, to := range tos {
			add(p.Nodes[from].ID, p.Nodes[to].ID)
		}
	}
	for from, tos := range forward {
		for _, to := range tos {
			add(g.Twin(p.Nodes[to].ID), g.Twin(p.Nodes[from].ID))
		}
	}
	add(n, n+1)
	for from, tos := range next {
		for _, to := range tos {
			g.Deps = append(g.Deps, Dep{From: from, To: to, Size: g.Ops[from].Activation})
		}
	}
	g.Index()
	return g
}

// Index fills Out and In from Deps.
func (g *Graph) Index() {
	g.Out, g.In = make([][]int, len(g.Ops)), make([][]int, len(g.Ops))
	for k := range g.Deps {
		d := &g.Deps[k]
		g.Out[d.From] = append(g.Out[d.From], k)
		g.In[d.To] = append(g.In[d.To], k)
	}
}
