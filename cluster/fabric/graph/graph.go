package graph

import "strconv"

// Graph describes a training step: operations and the transfers between them. Operations and transfers are in order of
// creation, which breaks ties between equal priorities.
type Graph struct {
	Model string
	// number of forward operations before any split; operations 1 to Nodes are forward, Nodes+1 to 2*Nodes are their
	// backward twins
	Nodes int
	Ops   []Op
	Deps  []Dep   // transfers, grouped by From in the order of Ops
	Out   [][]int // indexes in Deps of each operation's outgoing transfers
	In    [][]int // indexes in Deps of each operation's incoming transfers, in order of creation
}

// Op is an operation in a training step, or a part of such an operation.
type Op struct {
	// number of the operation: k for a forward operation, 2*Nodes+1-k for its backward twin
	Node       int
	Part       int     // position among the parts of a split operation, from 0; -1 for a whole operation
	Compute    float64 // time on a device of speed 1, in ms
	Activation float64 // size of the output in bytes
	Parameters float64 // size of the parameters in bytes
	Memory     float64 // size of the activation and the parameters in bytes
}

// Name returns the number of the operation and, for a part, a letter: 12, 12a, 12b.
func (o *Op) Name() string {
	if o.Part < 0 {
		return strconv.Itoa(o.Node)
	}
	return strconv.Itoa(o.Node) + string(rune('a'+o.Part))
}

// Dep is a transfer: the operation To needs the output of the operation From.
type Dep struct {
	From, To int
	Size     float64 // size in bytes
	Sync     bool    // exchange between parts of the same operation, in both directions
}

// Twin returns the number of an operation's twin: the backward operation for a forward operation, and the forward
// operation for a backward operation.
func (g *Graph) Twin(node int) int { return 2*g.Nodes + 1 - node }

// Backward reports whether an operation belongs to the backward pass.
func (g *Graph) Backward(op *Op) bool { return op.Node > g.Nodes }

// MirrorOptions selects the bugs of PAC-ML's simulator that Mirror reproduces. The zero value reproduces none.
type MirrorOptions struct {
	// gives each backward transfer the output size of its source's forward twin; false gives it the output size of its
	// target's forward twin
	SourceSizes bool
	// makes backward operations wait only for the last forward operation; false makes each operation wait for its own
	// twin
	OneLoss bool
}

// Mirror creates the graph of a training step. The graph has all forward operations in the order of the profile, and
// then the backward operation of each, called its twin, in the same order. A forward operation without a successor in
// the forward pass sends its output to its twin. A backward transfer carries the gradient of a forward transfer, in the
// opposite direction.
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

// mirrored returns, for each operation of a step, its successors.
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

// Index computes Out and In from Deps.
func (g *Graph) Index() {
	g.Out, g.In = make([][]int, len(g.Ops)), make([][]int, len(g.Ops))
	for k := range g.Deps {
		d := &g.Deps[k]
		g.Out[d.From] = append(g.Out[d.From], k)
		g.In[d.To] = append(g.In[d.To], k)
	}
}
