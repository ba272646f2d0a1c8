package figure

import (
	"fmt"
	"math"
	"slices"
)

// Dots compares samples in rows, one below the other: a dot for each value, and below the dots the mean with its
// interval. Dots and means differ in shape and lightness, so that the figure can be read without colours.
type Dots struct {
	Title string // title, which is also the text alternative
	Note  string // note below the figure; empty means none
	X     Axis   // axis of the values; always contains zero
	Zero  string // name of the line at zero in the legend
	Each  string // name of a dot in the legend; empty for rows without single values
	Mean  string // name of the mean with its interval in the legend
	Rows  []DotRow
}

// DotRow is a sample of values that [Dots] shows in one row.
type DotRow struct {
	Name      string
	Values    []float64 // values in any order; NaN is not drawn
	Mean      float64   // mean of the values; NaN draws neither mean nor interval
	Low, High float64   // ends of the interval; NaN draws no interval
}

// interval reports whether the interval is drawn.
func (r DotRow) interval() bool { return !math.IsNaN(r.Mean + r.Low + r.High) }

const (
	dotsHeight = 24.0 // of a row
	eachRadius = 1.5
	meanRadius = 2.2
	eachLane   = 2.7 // between the lanes of dots that would hide each other
)

// eachInk is lighter than the ink of means in every theme.
var eachInk = seriesInk(0).thin(0.6)

// Layout lays the figure out as a picture with the given width.
func (d *Dots) Layout(width float64) *Picture {
	p := newPicture(width, 0, d.Title, d.sentences()...)
	axis, values := d.X, nothing()
	axis.Zero = true
	for _, r := range d.Rows {
		if values = values.add(r.Values...); r.interval() {
			values = values.add(r.Low, r.High)
		}
		if math.Abs(r.Mean) < beyond {
			values = values.add(r.Mean)
		}
	}
	x := scale{}
	x.low, x.high = axis.reach(values, room)
	x.from, x.to = d.sides(p)
	bottom := d.rows(p, x)
	top := p.lower(d.X, x, lying(x.low, x.high, x.to-x.from), bottom)
	entries := []entry{{d.Mean, text.plain(), ranged}, {d.Zero, vermilion.plain(), dashed}}
	if d.Each != "" {
		entries = slices.Insert(entries, 0, entry{d.Each, eachInk, dotted})
	}
	return p.finish(entries, d.Note, top+2)
}

// sentences describe the rows in sentences.
func (d *Dots) sentences() []string {
	var all []string
	for _, r := range d.Rows {
		if math.IsNaN(r.Mean) {
			all = append(all, r.Name+": no values.")
			continue
		}
		line := fmt.Sprintf("%s: mean %s %s", r.Name, signedText(r.Mean), d.X.Unit)
		if r.interval() {
			line += fmt.Sprintf(" (%s to %s)", signedText(r.Low), signedText(r.High))
		}
		for k, v := range r.Values {
			line += map[bool]string{true: "; values ", false: ", "}[k == 0] + signedText(v)
		}
		all = append(all, line+".")
	}
	return all
}

// signedText formats a difference.
func signedText(v float64) string {
	if v > 0 {
		return "+" + valueText(v)
	}
	return valueText(v)
}

// sides returns the ends of the axis, between the names of the rows and their means in numbers.
func (d *Dots) sides(p *Picture) (from, to float64) {
	names, numbers := 0.0, 0.0
	for _, r := range d.Rows {
		names = max(names, widthOf(r.Name, sizeWords))
		numbers = max(numbers, widthOf(signedText(r.Mean), sizeSmall))
	}
	return margin + min(names, p.Width*0.4) + 4, p.Width - margin - numbers - 4
}

// rows draws the samples and returns their lower end.
func (d *Dots) rows(p *Picture, x scale) float64 {
	bottom := margin + dotsHeight*float64(len(d.Rows))
	for _, t := range lying(x.low, x.high, x.to-x.from) {
		p.line(grid.plain(), gridWidth, point{x.at(t.value), margin}, point{x.at(t.value), bottom})
	}
	p.line(vermilion.plain(), lineWidth, point{x.at(0), margin}, point{x.at(0), bottom}).dash = dashes
	for k, r := range d.Rows {
		top := margin + dotsHeight*float64(k)
		if k > 0 {
			p.line(grid.plain(), gridWidth, point{margin, top}, point{x.to, top})
		}
		centre := top + dotsHeight/2
		p.say(fitted(r.Name, sizeWords, x.from-margin-3), point{x.from - 4, centre + 2.6}, sizeWords, end, text.plain())
		if d.Each == "" {
			r.mean(p, x, centre)
			continue
		}
		eachDot(p, r.Values, x, centre-dotsHeight*0.18)
		r.mean(p, x, centre+dotsHeight*0.28)
	}
	p.line(text.plain(), frameWidth, point{x.from, margin}, point{x.from, bottom}, point{x.to, bottom})
	return bottom
}

// eachDot draws the values around a height. A value that would hide another moves to the lane above or below, if that
// is free.
func eachDot(p *Picture, values []float64, x scale, height float64) {
	lanes := map[float64]float64{0: math.Inf(-1), -eachLane: math.Inf(-1), eachLane: math.Inf(-1)} // last position
	for _, v := range slices.Sorted(slices.Values(values)) {
		if !(math.Abs(v) < beyond) {
			continue
		}
		at := x.at(v)
		lane := 0.0
		for _, other := range []float64{0, -eachLane, eachLane} {
			if at-lanes[other] >= 2*eachRadius {
				lane = other
				break
			}
		}
		lanes[lane] = at
		p.dot(eachInk, point{at, height + lane}, eachRadius)
	}
}

// mean draws the mean with its interval at a height, and its number beyond the axis.
func (r DotRow) mean(p *Picture, x scale, height float64) {
	if !(math.Abs(r.Mean) < beyond) {
		return
	}
	if r.interval() {
		p.ranged(text.plain(), x.at(r.Low), x.at(r.High), height)
	}
	p.dot(text.plain(), point{x.at(r.Mean), height}, meanRadius)
	p.say(signedText(r.Mean), point{x.to + 3, height + 2.4}, sizeSmall, start, text.plain())
}

// ranged draws an interval as a line with ends.
func (p *Picture) ranged(ink paint, from, to, height float64) {
	p.line(ink, lineWidth, point{from, height}, point{to, height})
	for _, at := range []float64{from, to} {
		p.line(ink, lineWidth, point{at, height - 2}, point{at, height + 2})
	}
}
