package figure

import (
	"fmt"
	"slices"
	"strconv"
)

// Tree shows all sequences of actions, with a column per decision and a box per prefix. The height of a box shows the
// number of sequences with that prefix, and the colour of the box shows the mean of their values.
type Tree struct {
	Title     string   // title, which is also the text alternative
	Note      string   // note below the figure; empty means none
	Value     Axis     // axis of the values, which colours show
	Decisions []string // names of the columns after the root
	Root      *Node
	Paths     []Path // sequences to highlight
}

// Node is a box of a [Tree]: the sequences with a common prefix.
type Node struct {
	Action   string // last action of the prefix; empty for the root
	Value    float64
	Children []*Node // nodes of the longer prefixes; nil at the end of a sequence
}

// Path is a highlighted sequence.
type Path struct {
	Name  string
	Steps []int // index of the child at each decision
}

// pathInks are the colours of paths; they contrast with the colours of quantities.
var pathInks = []ink{vermilion, purple, green, text}

const (
	rootWidth   = 14.0
	columnGap   = 8.0
	leastTree   = 130.0 // minimum height
	mostTree    = 400.0
	leafHeight  = 9.0
	thinnestBox = 0.12 // height of a node; thinner ones are not drawn
)

// tree lays a tree out.
type tree struct {
	*Tree
	p      *Picture
	top    float64
	height float64
	left   float64
	column float64
	leaves int
	values scale // converts values to positions on the colour scale
	cut    bool  // a column was too fine to draw
}

// Layout lays the figure out as a picture with the given width.
func (t *Tree) Layout(width float64) *Picture {
	a := &tree{Tree: t, p: newPicture(width, 0, t.Title), top: margin + 12, left: margin + rootWidth + columnGap}
	a.leaves = t.Root.leaves()
	a.height = min(max(leafHeight*float64(a.leaves), leastTree), mostTree)
	a.column = (width - margin + columnGap - a.left) / float64(max(len(t.Decisions), 1))
	values := t.Root.reach(nothing())
	a.values.low, a.values.high = values.low, values.high
	if !(values.high > values.low) {
		a.values.low, a.values.high = values.low-1, values.low+1
	}
	a.values.to = 1
	for k, name := range t.Decisions {
		a.p.say(fitted(name, sizeSmall, a.column-2),
			point{a.left + a.column*(float64(k)+0.5) - columnGap/2, margin + 7}, sizeSmall, middle, text.plain())
	}
	a.grounds()
	a.node(t.Root, 0, a.top, a.height)
	if len(t.Paths) > 0 {
		a.draw()
	}
	top := a.scale(a.top + a.height + 6)
	return a.p.finish(a.entries(), a.remark(), top+2)
}

func (n *Node) leaves() int {
	if n.Children == nil {
		return 1
	}
	sum := 0
	for _, c := range n.Children {
		sum += c.leaves()
	}
	return sum
}

func (n *Node) reach(s span) span {
	s = s.add(n.Value)
	for _, c := range n.Children {
		s = c.reach(s)
	}
	return s
}

// place returns the left edge and the width of the boxes at a depth.
func (a *tree) place(depth int) (x, width float64) {
	if depth == 0 {
		return margin, rootWidth
	}
	return a.left + a.column*float64(depth-1), a.column - columnGap
}

// grounds fills the columns with the mean of all values, so that the background does not show through between very thin
// boxes.
func (a *tree) grounds() {
	for depth := range a.Decisions {
		x, width := a.place(depth + 1)
		a.p.box(a.shade(a.Root.Value), x, a.top, width, a.height)
	}
}

func (a *tree) shade(v float64) paint {
	return shade((v - a.values.low) / (a.values.high - a.values.low))
}

// node draws a box and all its descendants.
func (a *tree) node(n *Node, depth int, top, height float64) {
	if height < thinnestBox {
		a.cut = true
		return
	}
	x, width := a.place(depth)
	fill := a.shade(n.Value)
	m := a.p.box(fill, x, top, width, height)
	if n.Action != "" {
		m.hint = n.Action + ": " + strconv.FormatFloat(n.Value, 'f', 2, 64) + " " + a.Value.Unit
	}
	if height > 3 {
		m.stroke, m.width = paper.plain(), 0.4
	}
	if depth == 0 {
		a.p.say("all sequences", point{x + width/2 + 2, top + height/2}, sizeTiny, middle, over(*fill.exact)).
			turned = true
	}
	if words := fitted(n.Action, sizeTiny, width-6); height >= sizeTiny && widthOf(n.Action, sizeTiny) < width*1.4 {
		a.p.say(words, point{x + 4, top + height/2 + 2}, sizeTiny, start, over(*fill.exact))
	}
	for _, c := range n.Children {
		part := height * float64(c.leaves()) / float64(max(n.leaves(), 1))
		a.node(c, depth+1, top, part)
		top += part
	}
}

// pass describes the paths through a box.
type pass struct {
	depth       int
	top, height float64
	paths       []int // in the order of Tree.Paths
}

// draw frames the boxes on paths, and joins them in the gaps between the columns, which have no words. Each line has a
// border so that it is visible on every colour.
func (a *tree) draw() {
	passes := map[*Node]*pass{a.Root: {top: a.top, height: a.height}}
	var order []*Node
	for k, path := range a.Paths {
		for _, n := range a.follow(path, passes) {
			if !slices.Contains(order, n) {
				order = append(order, n)
			}
			passes[n].paths = append(passes[n].paths, k)
		}
	}
	for k, path := range a.Paths {
		nodes := a.follow(path, passes)
		for at := range len(nodes) - 1 {
			from, to := passes[nodes[at]], passes[nodes[at+1]]
			aside := 2.6 * (float64(slices.Index(from.paths, k)) - float64(len(from.paths)-1)/2)
			x, width := a.place(from.depth)
			next, _ := a.place(to.depth)
			a.seamed(a.inkOf(k), point{x + width, from.middle() + aside}, point{next, to.middle() + aside*to.crowd()})
		}
	}
	for _, n := range order {
		a.frame(passes[n])
	}
}

func (p *pass) middle() float64 { return p.top + p.height/2 }

// crowd is 1 if several paths enter a box; they are then drawn apart.
func (p *pass) crowd() float64 { return float64(min(len(p.paths)-1, 1)) }

// follow finds the boxes of a path and their positions.
func (a *tree) follow(path Path, passes map[*Node]*pass) []*Node {
	nodes := []*Node{a.Root}
	for _, step := range path.Steps {
		n := nodes[len(nodes)-1]
		if step < 0 || step >= len(n.Children) {
			break
		}
		at, child := passes[n], n.Children[step]
		above := 0
		for _, c := range n.Children[:step] {
			above += c.leaves()
		}
		if passes[child] == nil {
			each := at.height / float64(n.leaves())
			passes[child] = &pass{depth: at.depth + 1, top: at.top + each*float64(above),
				height: each * float64(child.leaves())}
		}
		nodes = append(nodes, child)
	}
	return nodes
}

// frame marks paths through a box: by nested frames, in thin boxes by one frame with alternating dashes, so that its
// words stay readable, and otherwise by a line.
func (a *tree) frame(p *pass) {
	x, width := a.place(p.depth)
	for k, path := range p.paths {
		in, line := 0.8+1.6*float64(k), 1.4
		thin := p.height < 9+3*float64(len(p.paths))
		if thin {
			in, line = 0, 1
		}
		left, top, right, bottom := x+in, p.top+in, x+width-in, p.top+p.height-in
		corners := []point{{left, top}, {right, top}, {right, bottom}, {left, bottom}}
		if p.height < 2.5 {
			corners, line = []point{{left, p.middle()}, {right, p.middle()}}, 1.4
		}
		m := a.p.line(a.inkOf(path).plain(), line, corners...)
		m.closed = len(corners) > 2
		if thin && k > 0 {
			m.dash = []float64{4, 4}
		}
	}
}

func (a *tree) inkOf(path int) ink { return pathInks[path%len(pathInks)] }

func (a *tree) seamed(colour ink, points ...point) {
	a.p.line(paper.plain(), 2.6, points...)
	a.p.line(colour.plain(), 1.4, points...)
}

// scale draws the colour scale and returns its lower end.
func (a *tree) scale(top float64) float64 {
	const steps, height = 64, 6.0
	name := fitted(a.Value.label(), sizeWords, a.p.Width*0.55)
	left := margin + widthOf(name, sizeWords) + 8
	a.p.say(name, point{margin, top + height}, sizeWords, start, text.plain())
	x := scale{a.values.low, a.values.high, left, a.p.Width - margin - 12}
	for k := range steps {
		from := x.from + (x.to-x.from)*float64(k)/steps
		a.p.box(shade((float64(k)+0.5)/steps), from, top, (x.to-x.from)/steps+float64(min(1, steps-1-k)), height)
	}
	for _, t := range lying(x.low, x.high, x.to-x.from) {
		a.p.line(text.plain(), frameWidth, point{x.at(t.value), top + height}, point{x.at(t.value), top + height + 2})
		a.p.say(t.words, point{x.at(t.value), top + height + 9}, sizeSmall, middle, text.plain())
	}
	return top + height + 11
}

func (a *tree) entries() []entry {
	var all []entry
	for k, path := range a.Paths {
		all = append(all, entry{path.Name, a.inkOf(k).plain(), stroked})
	}
	return all
}

func (a *tree) remark() string {
	if !a.cut {
		return a.Note
	}
	return a.Note + fmt.Sprintf(" The last decisions of %d sequences are too small to draw.", a.leaves)
}
