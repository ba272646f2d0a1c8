package drawing

import (
	"fmt"

	"graft/tracing"
)

// straight draws a vertical path down.
func straight(x, from, to int) string { return fmt.Sprintf("M%d %dV%d", x, from, to) }

// aside draws a path from the axis x at y to another axis and down.
func aside(x, y, other, to int) string {
	bend, sweep, side := min(bend, max(other-x, x-other)/2), 0, 1
	if other < x {
		side, sweep = -1, 1
	}
	if bend == 0 {
		return straight(x, y, to)
	}
	return fmt.Sprintf("M%d %da%d %d 0 0 %d %d %dH%da%d %d 0 0 %d %d %dV%d", x, y-bend,
		bend, bend, sweep, side*bend, bend, other-side*bend, bend, bend, 1-sweep, side*bend, bend, to)
}

// back continues aside: left at the height of a sum to x.
func back(x int) string { return fmt.Sprintf("a%d %d 0 0 1 %d %dH%d", bend, bend, -bend, bend, x) }

func (b box) paint(c *canvas, x, y int) {
	l := b.layer
	left, height, right := x-boxWidth/2, b.height(), x+boxWidth/2-16
	class := "layer"
	if l.Leaf.Layer.Channels().Opens {
		class = "layer opens"
	}
	c.begin(fmt.Sprintf("%s: %s, %s to %s, %s", l.At.Path, l.Leaf.Layer, shapeText(l.In.Shape), shapeText(l.Out.Shape),
		spacesText(l.Out.Parts)))
	c.rect(left, y, boxWidth, height, 6, class)
	c.stripe(l.Out.Parts, left+boxWidth-7, y+5, height-10)
	label := labelWords(right, y+19, boxWidth/3, l.Out.Parts)
	c.text(label)
	kind, sizes := Caption(l.Leaf.Layer)
	if b.slim() {
		sizes = shapeText(l.Out.Shape)
	}
	first := words{x: left + 12, y: y + 19, size: 12, head: kind, text: sizes}
	first.room = label.x - label.width() - 8 - first.x
	c.text(first)
	if b.slim() {
		end := label.x - label.width() - 8
		c.text(pathWords(end, y+18, end-first.x-first.width()-10, l))
	} else {
		costs := words{x: first.x, y: y + 36, class: "quiet", size: 11, room: boxWidth - 28, text: costText(l)}
		c.text(costs)
		c.text(pathWords(right, y+36, right-costs.x-costs.width()-12, l))
	}
	c.end()
}

func labelWords(x, y, room int, parts []tracing.Part) words {
	return words{x: x, y: y, size: 11, end: true, room: room, head: labelText(parts)}
}

// pathWords keeps the end of a path, its most informative part.
func pathWords(x, y, room int, l *tracing.Layer) words {
	return words{x: x, y: y, class: "quiet", size: 11, end: true, front: true, room: room, text: l.At.Path}
}

func (p pill) paint(c *canvas, x, y int) {
	left, right := x-pillWidth/2, x+pillWidth/2
	c.begin(fmt.Sprintf("%s: %s, %s", p.word, shapeText(p.edge.Shape), spacesText(p.edge.Parts)))
	c.rect(left, y, pillWidth, slimBox, slimBox/2, "end")
	label := labelWords(right-14, y+18, pillWidth/3, p.edge.Parts)
	c.text(label)
	c.text(words{x: left + 14, y: y + 18, size: 11, room: pillWidth - 36 - label.width(), head: p.word,
		text: shapeText(p.edge.Shape)})
	c.end()
}

func (f frame) paint(c *canvas, x, y int) {
	s := f.size()
	c.frame(x-s.left, y, s.left+s.right, s.height, originOf(f.block).class)
	// The edge runs between the two texts.
	c.text(words{x: x - s.left + framePad, y: y + 18, size: 11, room: s.left - framePad - 12, head: f.title})
	c.text(words{x: x + s.right - framePad, y: y + 18, class: "quiet", size: 11, end: true, front: true,
		room: s.right - framePad - 12, text: f.block.Name})
	f.inside.paint(c, x, y+frameTitle)
}

func (s sum) paint(c *canvas, x, y int) {
	lanes, side := s.lanes(), x+s.offset()
	centre := y + forkRoom + lanes + joinRoom + radius
	if !s.body.empty() {
		s.body.paint(c, x, y+forkRoom)
		c.edge(s.body.out(), straight(x, y+forkRoom+s.body.size().height-s.body.tail(), centre-radius), true)
	}
	if s.shortcut.empty() {
		c.edge(s.shortcut.in, aside(x, y, side, centre-bend)+back(x+radius), true)
	} else {
		top := y + forkRoom + (lanes-s.shortcut.size().height)/2
		c.edge(s.shortcut.in, aside(x, y, side, top+s.shortcut.lead()), !forks(s.shortcut.nodes[0]))
		s.shortcut.paint(c, side, top)
		c.edge(s.shortcut.out(), straight(side, top+s.shortcut.size().height-s.shortcut.tail(), centre-bend)+
			back(x+radius), true)
	}
	c.plus(x, centre)
	c.text(labelWords(x-radius-8, centre+4, boxWidth/3, s.out.Parts))
}

func (b cat) paint(c *canvas, x, y int) {
	lanes, axes := b.lanes(), b.axes()
	top := y + forkRoom + lanes + joinRoom
	for k, branch := range b.branches {
		at := x + axes[k]
		if branch.empty() {
			c.edge(branch.in, aside(x, y, at, top), true)
			continue
		}
		from := y + forkRoom + (lanes-branch.size().height)/2
		c.edge(branch.in, aside(x, y, at, from+branch.lead()), !forks(branch.nodes[0]))
		branch.paint(c, at, from)
		c.edge(branch.out(), straight(at, from+branch.size().height-branch.tail(), top), true)
	}
	b.bar(c, x+min(axes[0]-plainLane, -boxWidth/2), x+max(axes[len(axes)-1]+plainLane, boxWidth/2), top)
}

// bar draws the end of branches, across all of their axes.
func (b cat) bar(c *canvas, left, right, y int) {
	c.begin(fmt.Sprintf("concatenation: %s, %s", shapeText(b.out.Shape), spacesText(b.out.Parts)))
	c.rect(left, y, right-left, slimBox, 6, "join")
	c.stripe(b.out.Parts, right-7, y+5, slimBox-10)
	label := labelWords(right-16, y+19, boxWidth/3, b.out.Parts)
	c.text(label)
	c.text(words{x: left + 12, y: y + 19, size: 12, room: right - left - 36 - label.width(), head: "concatenate",
		text: shapeText(b.out.Shape)})
	c.end()
}

// ribbons returns the distinct spaces of an edge.
func ribbons(parts []tracing.Part) []*tracing.Space {
	var spaces []*tracing.Space
	for _, part := range parts {
		if len(spaces) == 0 || spaces[len(spaces)-1] != part.Space {
			spaces = append(spaces, part.Space)
		}
	}
	return spaces
}
