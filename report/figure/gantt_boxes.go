package figure

import (
	"fmt"
	"strings"
)

// box holds the rectangle of a span, or of several short neighbours.
type box struct {
	Span
	count int
	mixed bool    // the spans differ in kind
	took  float64 // sum of their times
}

// finestBox is the minimum width in points of a visible span.
const finestBox = 0.75

// merged makes boxes of spans by row and lane. If there are too many, it merges neighbours that are narrower than a
// width in points and closer than that.
func merged(lanes [][][]Span, x scale) (boxes [][][]box, shorter float64) {
	for {
		count := 0
		boxes = make([][][]box, len(lanes))
		for r, row := range lanes {
			for _, lane := range row {
				all := laneBoxes(lane, x, shorter)
				boxes[r], count = append(boxes[r], all), count+len(all)
			}
		}
		if count <= mostBoxes || shorter > x.to-x.from {
			return boxes, shorter
		}
		shorter = max(finestBox, 2*shorter)
	}
}

func laneBoxes(lane []Span, x scale, shorter float64) (all []box) {
	open := false // the last box accepts more spans
	for _, s := range lane {
		short := x.at(s.To)-x.at(s.From) < shorter
		if last := len(all) - 1; short && open && x.at(s.From)-x.at(all[last].To) < shorter {
			b := &all[last]
			b.mixed = b.mixed || b.Kind != s.Kind
			b.To, b.End, b.count, b.took = max(b.To, s.To), max(b.End, s.End), b.count+1, b.took+s.To-s.From
			continue
		}
		all, open = append(all, box{Span: s, count: 1, took: s.To - s.From}), short
	}
	return all
}

// box draws a box between two heights.
func (a *ganttLayout) box(b box, top, height float64) {
	from, to := a.x.at(b.From), a.x.at(b.To)
	to = max(to, from+finestBox/2)
	colour := seriesInk(b.Kind)
	if b.mixed {
		colour = faint
	}
	m := a.p.box(colour.thin(0.4), from, top, to-from, height)
	m.hint = a.hint(b)
	if notch := min(2.2, (to-from)/3, height/2); b.End == Stopped && b.count == 1 && notch > 0.7 {
		m.points = []point{{from, top}, {to, top}, {to - notch, top + height/2}, {to, top + height},
			{from, top + height}}
	}
	switch {
	case b.count > 1:
		m.fill = colour.thin(strength(b.took / max(b.To-b.From, b.took, 1e-300)))
	case to-from > 1.5:
		m.stroke, m.width = colour.plain(), 0.5
	default:
		m.fill = colour.plain()
	}
	if b.End == Failed {
		half := min(height, 5) / 2
		a.p.cross(text.plain(), point{max(to-half-0.5, (from+to)/2), top + height/2}, half)
		to -= 2*half + 1
	}
	if height > wordsLane-1 && b.count == 1 {
		a.p.say(shortName(b.Name, to-from-2.5), point{(from + to) / 2, top + height/2 + sizeTiny*0.36}, sizeTiny,
			middle, text.plain())
	}
}

// hint describes the spans of a box.
func (a *ganttLayout) hint(b box) string {
	words := b.Name
	if b.count > 1 {
		words = fmt.Sprintf("%d spans", b.count)
	}
	words += fmt.Sprintf(", %s to %s %s", valueText(b.From), valueText(b.To), a.X.Unit)
	if b.count == 1 && b.End != Completed {
		words += ", " + [...]string{Stopped: "stopped", Failed: "failed"}[b.End]
	}
	return words
}

// shortName returns a name that fits a width, or the number at its end; empty if neither fits.
func shortName(name string, width float64) string {
	digits := name[len(strings.TrimRight(name, "0123456789")):]
	for _, words := range []string{name, digits} {
		if widthOf(words, sizeTiny) <= width {
			return words
		}
	}
	return ""
}

// cross draws two lines across each other.
func (p *Picture) cross(stroke paint, at point, half float64) {
	for _, side := range []float64{-1, 1} {
		p.line(stroke, 0.9, point{at.x - half, at.y - side*half}, point{at.x + half, at.y + side*half})
	}
}
