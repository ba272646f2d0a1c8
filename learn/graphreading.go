package learn

import (
	"slices"

	"graft/learn/dense"
)

// reading is a graph during the rounds of a [GraphNet].
type reading struct {
	graph   *Graph
	into    []float64 // per node: messages that reach it, including its own
	zero    []bool    // per node: it becomes zero
	nodes   []float64 // features, one node after the other
	ties    []float64
	rounds  []readRound
	mean    []float64 // mean over the nodes; nil before the first reading
	changes int       // changes of the parameters when it was read
}

// readRound holds the passes of a round.
type readRound struct {
	node, tie, reduce *dense.Pass
	half              int // values per node in a message
	outputs           int
}

func newReading(m *GraphNet, g *Graph) *reading {
	n, e := len(g.Nodes), len(g.Edges)
	r := &reading{graph: g, into: slices.Repeat([]float64{1}, n), zero: make([]bool, n),
		nodes: slices.Concat(g.Nodes...), ties: slices.Concat(g.Ties...)}
	for _, edge := range g.Edges {
		r.into[edge[1]]++
	}
	for k := range r.zero {
		r.zero[k] = m.o.ZeroSources && r.into[k] == 1
	}
	for _, of := range m.rounds {
		r.rounds = append(r.rounds, readRound{of.node.NewPass(n), of.tie.NewPass(e), of.reduce.NewPass(n + e),
			m.o.Message / 2, of.reduce.Outputs()})
	}
	return r
}

// forward sends messages along the edges, and from each node to itself with zero edge features. A node becomes the mean
// of its incoming messages.
func (r *reading) forward(rounds []round) {
	x := r.nodes
	for k := range rounds {
		x = r.send(&r.rounds[k], x)
	}
	n := len(r.into)
	r.mean = make([]float64, len(x)/n)
	for v := range n {
		dense.AddScaled(r.mean, 1/float64(n), x[v*len(r.mean):][:len(r.mean)])
	}
}

func (r *reading) send(of *readRound, x []float64) []float64 {
	h, t := of.node.Forward(x), of.tie.Forward(r.ties)
	half, edges := of.half, r.graph.Edges
	messages := make([]float64, 0, (len(edges)+len(r.into))*2*half)
	for k, e := range edges {
		messages = append(append(messages, h[e[0]*half:][:half]...), t[k*half:][:half]...)
	}
	none := make([]float64, half)
	for v := range r.into {
		messages = append(append(messages, h[v*half:][:half]...), none...)
	}
	y, w := of.reduce.Forward(messages), of.outputs
	out := make([]float64, len(r.into)*w)
	for k, e := range edges {
		dense.AddScaled(out[e[1]*w:][:w], 1/r.into[e[1]], y[k*w:][:w])
	}
	for v := range r.into {
		if row := out[v*w:][:w]; r.zero[v] {
			clear(row)
		} else {
			dense.AddScaled(row, 1/r.into[v], y[(len(edges)+v)*w:][:w])
		}
	}
	return out
}

// backward adds the gradients of the rounds, given the gradients of the mean.
func (r *reading) backward(rounds []round, slope []float64, own [][][]float64) {
	n := len(r.into)
	var above []float64
	for range n {
		for _, v := range slope {
			above = append(above, v/float64(n))
		}
	}
	for k := len(rounds) - 1; k >= 0; k-- {
		above = r.sendBack(&r.rounds[k], above, own[3*k:])
	}
}

func (r *reading) sendBack(of *readRound, above []float64, own [][][]float64) []float64 {
	half, edges, w := of.half, r.graph.Edges, of.outputs
	slopes := make([]float64, (len(edges)+len(r.into))*w)
	share := func(row []float64, v int) {
		if !r.zero[v] {
			dense.AddScaled(row, 1/r.into[v], above[v*w:][:w])
		}
	}
	for k, e := range edges {
		share(slopes[k*w:][:w], e[1])
	}
	for v := range r.into {
		share(slopes[(len(edges)+v)*w:][:w], v)
	}
	messages := make([]float64, (len(edges)+len(r.into))*2*half)
	of.reduce.BackwardTo(messages, slopes, own[2])
	h, t := make([]float64, len(r.into)*half), make([]float64, 0, len(edges)*half)
	for k, e := range edges {
		row := messages[k*2*half:][:2*half]
		dense.AddScaled(h[e[0]*half:][:half], 1, row[:half])
		t = append(t, row[half:]...)
	}
	for v := range r.into {
		dense.AddScaled(h[v*half:][:half], 1, messages[(len(edges)+v)*2*half:][:half])
	}
	of.tie.Backward(t, own[1])
	below := make([]float64, len(r.into)*of.node.Inputs())
	of.node.BackwardTo(below, h, own[0])
	return below
}
