package drawing

import (
	"slices"

	"graft/model"
	"graft/tracing"
)

// Sizes in pixels. The sizes of nodes that are centred on an axis are even.
const (
	boxWidth   = 352
	tallBox    = 46
	slimBox    = 28
	pillWidth  = 208
	gap        = 18 // space between nodes of a column
	forkRoom   = 22 // space above lanes
	joinRoom   = 22 // space below lanes
	laneGap    = 26
	framePad   = 10
	frameTitle = 30
	radius     = 11 // radius of a sum
	bend       = 8  // radius of an edge's corners
	plainLane  = 30 // on either side of a branch that is only an edge
)

// size is the extent of a node around its axis, the line where the edge enters at the top and leaves at the bottom.
type size struct{ left, right, height int }

// node is a part of the drawing.
type node interface {
	size() size
	// lead is the distance from the node's top to the end of the edge above it, and tail the distance from its bottom
	// to the start of the next one: edges cross frames.
	lead() int
	tail() int
	// paint draws the node with its axis at x and its top at y.
	paint(c *canvas, x, y int)
}

// placed is a node and its output.
type placed struct {
	node
	out tracing.Edge
}

// column is a list of nodes from top to bottom. A column without nodes is an edge.
type column struct {
	in    tracing.Edge
	nodes []placed
	all   size // cached, since nested columns would be measured repeatedly
}

func (c *column) add(nodes ...placed) {
	for _, n := range nodes {
		if !c.empty() {
			c.all.height += gap
		}
		s := n.size()
		c.all = size{max(c.all.left, s.left), max(c.all.right, s.right), c.all.height + s.height}
		c.nodes = append(c.nodes, n)
	}
}

func (c column) empty() bool { return len(c.nodes) == 0 }

func (c column) size() size { return c.all }

func (c column) lead() int {
	if c.empty() {
		return 0
	}
	return c.nodes[0].lead()
}

func (c column) tail() int {
	if c.empty() {
		return 0
	}
	return c.nodes[len(c.nodes)-1].tail()
}

// out is the output of the last node.
func (c column) out() tracing.Edge {
	if c.empty() {
		return c.in
	}
	return c.nodes[len(c.nodes)-1].out
}

func (c column) paint(to *canvas, x, y int) {
	for k, n := range c.nodes {
		if k > 0 {
			before := c.nodes[k-1]
			to.edge(before.out, straight(x, y-gap-before.tail(), y+n.lead()), !forks(n))
		}
		n.paint(to, x, y)
		y += n.size().height + gap
	}
}

// forks reports whether an edge forks immediately and therefore has no arrow.
func forks(n node) bool {
	switch n := n.(type) {
	case placed:
		return forks(n.node)
	case frame:
		return forks(n.inside.nodes[0])
	case sum:
		return !n.body.empty() && forks(n.body.nodes[0])
	case cat:
		return true
	}
	return false
}

// box draws a layer.
type box struct{ layer *tracing.Layer }

// slim reports whether one line is enough for a layer: it has no weights or sizes and keeps the shape.
func (b box) slim() bool {
	_, sizes := Caption(b.layer.Leaf.Layer)
	return sizes == "" && len(b.layer.Leaf.Layer.Slots()) == 0 && b.layer.In.Shape.Same(b.layer.Out.Shape)
}

func (b box) height() int {
	if b.slim() {
		return slimBox
	}
	return tallBox
}

func (b box) size() size { return size{boxWidth / 2, boxWidth / 2, b.height()} }
func (box) lead() int    { return 0 }
func (box) tail() int    { return 0 }

// pill draws the input or output of the network.
type pill struct {
	word string
	edge tracing.Edge
}

func (pill) size() size { return size{pillWidth / 2, pillWidth / 2, slimBox} }
func (pill) lead() int  { return 0 }
func (pill) tail() int  { return 0 }

// frame draws a block.
type frame struct {
	block  *tracing.Block
	title  string
	inside column
}

func (f frame) size() size {
	s := f.inside.size()
	return size{s.left + framePad, s.right + framePad, s.height + frameTitle + framePad}
}

func (f frame) lead() int { return frameTitle + f.inside.lead() }
func (f frame) tail() int { return framePad + f.inside.tail() }

// sum draws a residual: the body on the axis, the shortcut to its right.
type sum struct {
	body, shortcut column
	out            tracing.Edge
}

func (s sum) size() size {
	body, side := s.body.size(), s.shortcut.size()
	return size{max(body.left, radius), s.offset() + side.right, s.lanes() + forkRoom + joinRoom + 2*radius}
}

// lanes is the height of the lanes.
func (s sum) lanes() int { return max(s.body.size().height, s.shortcut.size().height) }

// offset is the distance of the shortcut from the axis.
func (s sum) offset() int {
	return max(s.body.size().right, radius) + laneGap + s.shortcut.size().left
}

func (s sum) lead() int {
	if s.body.empty() {
		return s.size().height - 2*radius
	}
	return forkRoom + s.body.lead()
}

func (s sum) tail() int { return 0 }

// cat draws branches side by side above a bar that joins them.
type cat struct {
	branches []column
	out      tracing.Edge
}

func (c cat) size() size {
	all := size{height: c.lanes() + forkRoom + joinRoom + slimBox}
	all.left, all.right = c.sides()
	return all
}

// sides is the extent of the branches on both sides of their common axis.
func (c cat) sides() (left, right int) {
	width := -laneGap
	for _, b := range c.branches {
		s := branchSize(b)
		width += s.left + s.right + laneGap
	}
	width = max(width, boxWidth)
	return width - width/2, width / 2
}

func branchSize(b column) size {
	s := b.size()
	return size{max(s.left, plainLane), max(s.right, plainLane), s.height}
}

func (c cat) lanes() int {
	height := 0
	for _, b := range c.branches {
		height = max(height, b.size().height)
	}
	return height
}

func (cat) lead() int { return 0 }
func (cat) tail() int { return 0 }

// axes are the positions of the branches' axes, relative to the common axis.
func (c cat) axes() []int {
	var axes []int
	at := 0
	for _, b := range c.branches {
		s := branchSize(b)
		axes = append(axes, at+s.left)
		at += s.left + s.right + laneGap
	}
	for k := range axes {
		axes[k] -= (at - laneGap) / 2
	}
	return axes
}

// origins are the kinds of blocks, shown by the outline of their frames.
var origins = []origin{
	{model.Original, "original", "original", "solid: an original block"},
	{model.Grown, "grown", "grown", "dashed: a block added by surgery"},
	{model.Unmarked, "found", "found", "dotted: a block detected by its layers"},
}

// origin is the kind of a block.
type origin struct {
	mark                model.Mark
	word, class, legend string
}

func originOf(b *tracing.Block) origin {
	k := slices.IndexFunc(origins, func(o origin) bool { return o.mark == b.Marked })
	return origins[k]
}
