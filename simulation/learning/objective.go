package learning

import (
	"math"

	"graft/decider"
	"graft/simulation"
)

// objective is the quantity that learning over a tree maximises. With a beta of zero it is the expected reward. With a
// larger beta it is (1/beta) log E exp(beta R), which lies between the expected and the best reward: the larger beta
// is, the more weight the best sequences have. The whole tree is known, so the value and its gradient are exact.
type objective struct {
	beta    float64
	entropy float64 // reward per nat of entropy, averaged over the nodes
}

// value returns the aim for the logits of all nodes' choices, one node after the other, and the rewards of the records.
// It adds the gradient by the logits to gradient.
func (a objective) value(t *simulation.Tree, logits, rewards, gradient []float64) float64 {
	f := newFlow(t, logits)
	value := f.backward(a.beta, rewards)
	f.forward(a.beta, gradient)
	return value + f.entropy(a.entropy, gradient)
}

// flow holds the values of a tree's nodes, computed from the records to the root, and the probability of reaching each
// node, computed from the root.
type flow struct {
	tree   *simulation.Tree
	starts []int     // start of each node's choices in shares
	shares []float64 // probability of each choice in its node
	worth  []float64 // value of each node
	ahead  []float64
}

func newFlow(t *simulation.Tree, logits []float64) *flow {
	f := &flow{tree: t, worth: make([]float64, len(t.Nodes)), ahead: make([]float64, len(logits))}
	at := 0
	for _, n := range t.Nodes {
		f.starts = append(f.starts, at)
		f.shares = append(f.shares, decider.Softmax(logits[at:at+len(n.Next)], 1)...)
		at += len(n.Next)
	}
	return f
}

// backward computes the value of each node: the expected reward or, with beta, its soft maximum, in logarithms to avoid
// overflow.
func (f *flow) backward(beta float64, rewards []float64) float64 {
	for at := len(f.tree.Nodes) - 1; at >= 0; at-- {
		n, from := f.tree.Nodes[at], f.starts[at]
		ahead, shares := f.ahead[from:from+len(n.Next)], f.shares[from:from+len(n.Next)]
		most := math.Inf(-1)
		for k, next := range n.Next {
			if ahead[k] = f.after(n, next, rewards); ahead[k] > most {
				most = ahead[k]
			}
		}
		sum := 0.0
		for k := range ahead {
			if beta == 0 {
				sum += shares[k] * ahead[k]
			} else {
				sum += shares[k] * math.Exp(beta*(ahead[k]-most))
			}
		}
		if f.worth[at] = sum; beta != 0 {
			f.worth[at] = most + math.Log(sum)/beta
		}
	}
	return f.worth[0]
}

// after returns the value of the node that a choice leads to.
func (f *flow) after(n simulation.Node, next int, rewards []float64) float64 {
	if n.Last {
		return rewards[next]
	}
	return f.worth[next]
}

// forward adds the gradient: at each node, the node's part of the aim times the advantage of each choice over the node.
func (f *flow) forward(beta float64, gradient []float64) {
	reach := make([]float64, len(f.tree.Nodes))
	reach[0] = 1
	for at, n := range f.tree.Nodes {
		for k, next := range n.Next {
			share, gain := f.shares[f.starts[at]+k], f.ahead[f.starts[at]+k]-f.worth[at]
			after := share
			if beta == 0 {
				gradient[f.starts[at]+k] += reach[at] * share * gain
			} else {
				after *= math.Exp(beta * gain)
				gradient[f.starts[at]+k] += reach[at] * (after - share) / beta
			}
			if !n.Last {
				reach[next] += reach[at] * after
			}
		}
	}
}

// entropy adds the reward for entropy, averaged over all nodes.
func (f *flow) entropy(price float64, gradient []float64) float64 {
	if price == 0 {
		return 0
	}
	each, sum := price/float64(len(f.tree.Nodes)), 0.0
	for at := range f.tree.Nodes {
		shares := f.of(at)
		nats := uncertainty(shares)
		for k, p := range shares {
			gradient[f.starts[at]+k] -= each * p * (safeLog(p) + nats)
		}
		sum += each * nats
	}
	return sum
}

func (f *flow) of(node int) []float64 {
	return f.shares[f.starts[node] : f.starts[node]+len(f.tree.Nodes[node].Next)]
}

// nats is the entropy, averaged over all nodes.
func (f *flow) nats() float64 {
	sum := 0.0
	for at := range f.tree.Nodes {
		sum += uncertainty(f.of(at))
	}
	return sum / float64(len(f.tree.Nodes))
}

// uncertainty is the entropy of a distribution, in nats.
func uncertainty(shares []float64) float64 {
	nats := 0.0
	for _, p := range shares {
		nats -= p * safeLog(p)
	}
	return nats
}

// safeLog is the logarithm, and zero at zero, because the result is multiplied by zero.
func safeLog(p float64) float64 {
	if p == 0 {
		return 0
	}
	return math.Log(p)
}
