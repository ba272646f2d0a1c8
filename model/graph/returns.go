package graph

import (
	"strconv"
	"strings"
)

// Extent is the size of a result's dimension: a number, or a multiple of a variable size of the input.
type Extent struct {
	N  int
	Of string // name of the variable size, such as batch; empty for a plain number
}

// String returns the notation of the size, such as 64, batch or 4*batch.
func (e Extent) String() string {
	switch {
	case e.Of == "":
		return strconv.Itoa(e.N)
	case e.N == 1:
		return quoteName(e.Of)
	}
	return strconv.Itoa(e.N) + "*" + quoteName(e.Of)
}

// returnsText is the notation of the shapes of results.
func returnsText(returns [][]Extent) string {
	var shapes []string
	for _, shape := range returns {
		var sizes []string
		for _, e := range shape {
			sizes = append(sizes, e.String())
		}
		shapes = append(shapes, "["+strings.Join(sizes, ", ")+"]")
	}
	return strings.Join(shapes, ", ")
}

// returns reads the shapes of results.
func (p *nodeParser) returns() (all [][]Extent) {
	for p.err == nil && (all == nil || p.take(",")) {
		shape := []Extent{}
		p.expect("[")
		for p.err == nil && !p.take("]") {
			if len(shape) > 0 {
				p.expect(",")
			}
			shape = append(shape, p.extent())
		}
		all = append(all, shape)
	}
	return all
}

func (p *nodeParser) extent() Extent {
	name := p.name()
	n, err := strconv.Atoi(name)
	if err != nil {
		return Extent{1, name}
	}
	if p.take("*") {
		return Extent{n, p.name()}
	}
	return Extent{N: n}
}

// returned returns the shapes of a node's results as stated by the node.
func (s *shaper) returned(n *Node) (shapes [][]int) {
	for _, extents := range n.Returns {
		shape := []int{}
		for _, e := range extents {
			size := e.N
			if e.Of != "" {
				size *= s.named[e.Of]
			}
			shape = append(shape, size)
		}
		shapes = append(shapes, shape)
	}
	return shapes
}

// checkReturns checks that a node states the shapes of its results if, and only if, graft passes its operator on to
// LibTorch.
func (c *checker) checkReturns(at string, n Node, passed bool) {
	switch {
	case !passed && n.Returns != nil: // there is a shape rule for each operator that graft supports
		c.bad("%s: graft infers the shapes of the results; remove the stated shapes", at)
	case passed && len(n.Returns) != len(n.Results):
		c.bad("%s: unknown operator; to pass it on to LibTorch, state the shape of each of its %d results",
			at, len(n.Results))
	}
	for _, shape := range n.Returns {
		if len(shape) > mostDims {
			c.bad("%s: a result has more than %d dimensions", at, mostDims)
		}
		for _, e := range shape {
			if e.N < 0 || e.N > mostSize {
				c.bad("%s: a result has an invalid size %d; must be between 0 and %d", at, e.N, mostSize)
			}
			if e.Of != "" && !c.named[e.Of] {
				c.bad("%s: a result has the size %q, but the input has no size of that name", at, e.Of)
			}
		}
	}
}

// mostSize is the largest size of a result in one dimension.
const mostSize = 1 << 30
