package graph

import (
	"errors"
	"fmt"
	"math"
)

// Profile is a profiled neural network: a graph of forward operations.
type Profile struct {
	Model string   // name of the network
	Nodes []Node   // operations in the order of the profiler
	Edges [][2]int // pairs of indexes in Nodes: the second operation uses the output of the first
}

// Node is an operation in a profile.
type Node struct {
	ID         int     // unique number from 1 to the number of nodes; later operations have larger IDs
	Kind       string  // kind of the operation, such as Conv2d
	Detail     string  // text after the kind, such as arguments; may be empty
	Forward    float64 // time of a forward pass in ms
	Backward   float64 // time of a backward pass in ms
	Activation float64 // size of the output in bytes
	Parameters float64 // size of the parameters in bytes
}

// Limits of a profile, far above every profiled network: PipeDream's largest profile has 1,251 nodes.
const (
	maxNodes = 200_000
	maxEdges = 2_000_000
	// maxValue limits a time in ms and a size in bytes, so that no sum overflows.
	maxValue = 1e18
)

// Validate returns an error if a profile has node numbers other than 1 to n, edges to missing nodes, invalid times or
// sizes, or cycles.
func (p *Profile) Validate() error {
	if len(p.Nodes) == 0 {
		return errors.New("the graph has no nodes; expected at least one operation")
	}
	if len(p.Nodes) > maxNodes || len(p.Edges) > maxEdges {
		return fmt.Errorf("the graph has %d nodes and %d edges; expected at most %d and %d", len(p.Nodes), len(p.Edges),
			maxNodes, maxEdges)
	}
	place := make([]int, len(p.Nodes))
	for k := range p.Nodes {
		n := &p.Nodes[k]
		if n.ID < 1 || n.ID > len(p.Nodes) {
			return fmt.Errorf("node number %d is out of range; expected 1 to %d; "+
				"number the nodes consecutively from 1", n.ID, len(p.Nodes))
		}
		if place[n.ID-1] != 0 {
			return fmt.Errorf("duplicate node %d; give each node a unique number", n.ID)
		}
		place[n.ID-1] = k + 1
		if err := n.validate(); err != nil {
			return fmt.Errorf("node %d: %w", n.ID, err)
		}
	}
	return p.validateEdges()
}

func (n *Node) validate() error {
	for _, v := range []struct {
		name  string
		value float64
	}{{"forward time", n.Forward}, {"backward time", n.Backward}, {"activation size", n.Activation},
		{"parameter size", n.Parameters}} {
		if math.IsNaN(v.value) || v.value < 0 || v.value > maxValue {
			return fmt.Errorf("%s is %g; expected 0 to %g", v.name, v.value, float64(maxValue))
		}
	}
	return nil
}

func (p *Profile) validateEdges() error {
	for _, e := range p.Edges {
		for _, end := range e {
			if end < 0 || end >= len(p.Nodes) {
				return fmt.Errorf("an edge refers to node index %d; expected 0 to %d", end, len(p.Nodes)-1)
			}
		}
	}
	if k := p.cyclic(); k >= 0 {
		return fmt.Errorf("dependency cycle through node %d; remove one edge of the cycle", p.Nodes[k].ID)
	}
	return nil
}

// cyclic returns the index of a node on a cycle, or -1.
func (p *Profile) cyclic() int {
	order := Order(len(p.Nodes), p.Edges)
	if len(order) == len(p.Nodes) {
		return -1
	}
	done := make([]bool, len(p.Nodes))
	for _, k := range order {
		done[k] = true
	}
	before := make([]int, len(p.Nodes))
	for _, e := range p.Edges {
		if !done[e[0]] && !done[e[1]] {
			before[e[1]] = e[0]
		}
	}
	k := 0
	for done[k] {
		k++
	}
	for range p.Nodes { // every remaining node has a remaining predecessor: walk back into the cycle
		k = before[k]
	}
	return k
}

// Order returns the indexes 0 to n-1 in topological order, by Kahn's algorithm (Communications of the ACM 5, 1962) with
// a FIFO queue. Indexes on a cycle or downstream of one are omitted.
func Order(n int, edges [][2]int) []int {
	waits := make([]int, n)
	next := make([][]int, n)
	for _, e := range edges {
		waits[e[1]]++
		next[e[0]] = append(next[e[0]], e[1])
	}
	order := make([]int, 0, n)
	for k, w := range waits {
		if w == 0 {
			order = append(order, k)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, to := range next[order[k]] {
			if waits[to]--; waits[to] == 0 {
				order = append(order, to)
			}
		}
	}
	return order
}
