package graph

import "strconv"

// Graph describes a training step: operations and the transfers between them. The order of both
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

// MirrorOptions keep faults of the simulator of PAC-ML in the graph of a step. The zero value keeps none.
type MirrorOptions struct {
	SourceSizes bool // a backward transfer has the size of what its source gave forward, not of what its target did
	OneLoss     bool // backward operations wait for the last operation forward alone, not each for its own
}

// Mirror makes the graph of a training step: all operations forward in the order of the profile,
// their twins in the same order, and a transfer from each last operation forward to its twin.
// Backward transfers mirror those forward and carry the gradient of what these carried.
func (p *Profile) Mirror(o MirrorOptions) *Graph {
	n := len(p.Nodes)
	g := &Graph{Model: p.Model, Nodes: n, Ops: make([]Op, 0, 2*n)}
	for _, backward := range []bool{false, true} {
		for _, node := range p.Nodes {
			op := Op{Node: node.ID, Part: -1, Compute: node.Forward, Activation: node.Activation,
				Parameters: node.Parameters, Memory: node.Activation + node.Parameters}
			if backward {
				op.Node, op.Compute = g.Twin(node.ID), node.Backward
			}
			g.Ops = append(g.Ops, op)
		}
	}
	for from, tos := range p.mirrored(o) {
		for _, to := range tos {
			size := g.Ops[from].Activation
			if from >= n && !o.SourceSizes {
				size = g.Ops[to].Activation
			}
			g.Deps = append(g.Deps, Dep{From: from, To: to, Size: size})
		}
	}
	g.Index()
	return g
}

// mirrored lists, for each operation of a step, those behind it.
func (p *Profile) mirrored(o MirrorOptions) [][]int {
	n := len(p.Nodes)
	next := make([][]int, 2*n)
	for _, e := range p.Edges {
		next[e[0]] = append(next[e[0]], e[1])
	}
	for from, tos := range next[:n] {
		for _, to := range tos {
			next[n+to] = append(next[n+to], n+from)
		}
	}
	last := func(k int) bool { return len(next[k]) == 0 }
	if o.OneLoss {
		last = func(k int) bool { return p.Nodes[k].ID == n }
	}
	for k := range n {
		if last(k) {
			next[k] = append(next[k], n+k)
		}
	}
	return next
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
