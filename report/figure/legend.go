package figure

import "math"

// sign selects the symbol of a legend's line.
type sign int

const (
	stroked sign = iota // a line
	dashed
	filled // a box
	dotted // a round mark
	notched
	crossed
	ranged // a round mark with an interval
)

// entry is a line of a legend.
type entry struct {
	name  string
	paint paint
	sign  sign
}

// seriesEntries returns the entries of series by name.
func seriesEntries(names []string, shape sign) (all []entry) {
	for k, name := range names {
		all = append(all, entry{name, seriesInk(k).plain(), shape})
	}
	return all
}

const (
	signWidth     = 12.0
	legendLine    = 10.5
	legendBetween = 10.0
)

// legend writes entries into rows of a width, and returns their lower end.
func (p *Picture) legend(entries []entry, left, top, width float64) float64 {
	x, y := left, top
	for k, e := range entries {
		name := fitted(e.name, sizeWords, width-signWidth-4)
		need := signWidth + 3 + widthOf(name, sizeWords)
		if k > 0 && x+need > left+width {
			x, y = left, y+legendLine
		}
		p.sign(e, x, y+legendLine-2.5)
		p.say(name, point{x + signWidth + 3, y + legendLine - 2.5}, sizeWords, start, text.plain())
		x += need + legendBetween
	}
	if len(entries) == 0 {
		return top
	}
	return y + legendLine + 1
}

func (p *Picture) sign(e entry, x, base float64) {
	y := base - 2.7
	switch e.sign {
	case filled:
		p.box(e.paint, x+2, y-3.5, 8, 7)
	case dotted:
		p.dot(e.paint, point{x + 6, y}, 2.5)
	case notched:
		p.area(e.paint, point{x + 1, y - 3}, point{x + 11, y - 3}, point{x + 8, y}, point{x + 11, y + 3},
			point{x + 1, y + 3})
	case crossed:
		p.cross(e.paint, point{x + 6, y}, 2.5)
	case ranged:
		p.ranged(e.paint, x, x+signWidth, y)
		p.dot(e.paint, point{x + signWidth/2, y}, meanRadius)
	default:
		m := p.line(e.paint, lineWidth, point{x, y}, point{x + signWidth, y})
		if e.sign == dashed {
			m.dash = dashes
		}
	}
}

// finish writes the legend and the remark below a figure, and sets the height.
func (p *Picture) finish(entries []entry, remark string, top float64) *Picture {
	top = p.note(remark, margin, p.legend(entries, margin, top, p.Width-2*margin), p.Width-2*margin)
	p.Height = math.Ceil(top + margin)
	return p
}

// note writes a remark below a figure, and returns its lower end.
func (p *Picture) note(words string, left, top, width float64) float64 {
	for _, line := range wrapped(words, sizeSmall, width) {
		p.say(line, point{left, top + 7}, sizeSmall, start, faint.plain())
		top += 9
	}
	return top
}
