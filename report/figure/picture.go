package figure

import (
	"fmt"
	"strings"
)

// Picture is a figure that has been laid out as marks. Create it with a figure's Layout; the zero value is not usable.
// Coordinates are in points, relative to the upper left corner.
type Picture struct {
	Width, Height float64
	Title         string // title, which is also the text alternative; empty means none
	Description   string // description of the figure in sentences

	marks []mark
}

// point is a position in a picture.
type point struct{ x, y float64 }

// mark is a line, an area or words.
type mark struct {
	points []point // points of a line or an area; nil for words
	closed bool
	fill   paint
	stroke paint
	width  float64
	dash   []float64
	hint   string // shown under the pointer

	words  string
	at     point // start of the baseline of words
	size   float64
	anchor anchor
	turned bool // words run upwards
}

// anchor selects the part of words at their position.
type anchor int

const (
	start anchor = iota
	middle
	end
)

func newPicture(width, height float64, title string, sentences ...string) *Picture {
	return &Picture{Width: width, Height: height, Title: title, Description: strings.Join(sentences, " ")}
}

// line draws through points.
func (p *Picture) line(stroke paint, width float64, points ...point) *mark {
	p.marks = append(p.marks, mark{points: points, stroke: stroke, width: width})
	return &p.marks[len(p.marks)-1]
}

// area fills a polygon.
func (p *Picture) area(fill paint, points ...point) *mark {
	p.marks = append(p.marks, mark{points: points, closed: true, fill: fill})
	return &p.marks[len(p.marks)-1]
}

// box fills a rectangle.
func (p *Picture) box(fill paint, x, y, width, height float64) *mark {
	return p.area(fill, point{x, y}, point{x + width, y}, point{x + width, y + height}, point{x, y + height})
}

// dot draws a round mark, as a polygon.
func (p *Picture) dot(fill paint, at point, radius float64) *mark {
	corners := make([]point, 0, len(circle))
	for _, c := range circle {
		corners = append(corners, point{at.x + radius*c.x, at.y + radius*c.y})
	}
	return p.area(fill, corners...)
}

// circle has sixteen points around zero, as constants so that the bytes do not depend on a processor's sine.
var circle = []point{
	{1, 0}, {0.9239, 0.3827}, {0.7071, 0.7071}, {0.3827, 0.9239}, {0, 1}, {-0.3827, 0.9239}, {-0.7071, 0.7071},
	{-0.9239, 0.3827}, {-1, 0}, {-0.9239, -0.3827}, {-0.7071, -0.7071}, {-0.3827, -0.9239}, {0, -1}, {0.3827, -0.9239},
	{0.7071, -0.7071}, {0.9239, -0.3827},
}

// say writes words.
func (p *Picture) say(words string, at point, size float64, a anchor, fill paint) *mark {
	if words == "" {
		return &mark{}
	}
	p.marks = append(p.marks, mark{words: words, at: at, size: size, anchor: a, fill: fill})
	return &p.marks[len(p.marks)-1]
}

// Rect is an axis-aligned rectangle, with coordinates in points.
type Rect struct{ Left, Top, Right, Bottom float64 }

// meets reports whether two rectangles overlap by more than hair.
func (r Rect) meets(o Rect) bool {
	return r.Left < o.Right-hair && o.Left < r.Right-hair && r.Top < o.Bottom-hair && o.Top < r.Bottom-hair
}

// hair is an invisible overlap.
const hair = 0.1

// extent returns the rectangle of a mark's words.
func (m *mark) extent() Rect {
	width := widthOf(m.words, m.size)
	from := -width * float64(m.anchor) / 2
	up, down := m.size*ascent, m.size*descent
	if m.turned {
		return Rect{m.at.x - up, m.at.y - from - width, m.at.x + down, m.at.y - from}
	}
	return Rect{m.at.x + from, m.at.y - up, m.at.x + from + width, m.at.y + down}
}

// Label is a piece of text in a picture.
type Label struct {
	Words string
	Where Rect
}

// Labels returns all labels in a picture, in drawing order.
func (p *Picture) Labels() []Label {
	var all []Label
	for k := range p.marks {
		if m := &p.marks[k]; m.words != "" {
			all = append(all, Label{m.words, m.extent()})
		}
	}
	return all
}

// Faults lists labels that extend beyond the picture, and labels that overlap.
func (p *Picture) Faults() []string {
	var faults []string
	labels := p.Labels()
	for k, a := range labels {
		if w := a.Where; w.Left < -hair || w.Top < -hair || w.Right > p.Width+hair || w.Bottom > p.Height+hair {
			faults = append(faults, fmt.Sprintf("%q lies outside the picture: %.1f of %.0f × %.0f pt", a.Words,
				a.Where, p.Width, p.Height))
		}
		for _, b := range labels[:k] {
			if a.Where.meets(b.Where) {
				faults = append(faults, fmt.Sprintf("%q overlaps %q: %.1f and %.1f", a.Words, b.Words, a.Where,
					b.Where))
			}
		}
	}
	return faults
}
