package figure

import (
	"math"
	"slices"
	"strings"
)

// Chart draws curves over a shared horizontal axis, in one or more panels, one below the other. Events are vertical
// lines.
type Chart struct {
	Title  string // title, which is also the text alternative
	Note   string // note below the figure; empty means none
	X      Axis
	Panels []Panel
	Events []Event // events in any order
}

// Panel is a part of a chart whose curves have the same unit.
type Panel struct {
	Y      Axis
	Height float64 // height in points; zero derives it from the width
	Curves []Curve
	Levels []Level
}

// Curve is a line, or a dot for a single point. It can also show an interval around the line, and the raw series from
// which the line was averaged. A NaN value leaves a gap.
type Curve struct {
	// name in the legend; curves with the same name share a colour; empty means no entry in the legend
	Name      string
	X         []float64
	Y         []float64   // values, of the same length as X; nil means that no line is drawn
	Raw       [][]float64 // series that Y smooths or averages, each of the same length as X, drawn faintly
	Low, High []float64   // ends of the interval at each point, of the same length as X; nil means none
	Steps     bool        // holds each value until the next value
}

// Level is a reference line at a value: horizontal in a [Chart], vertical in [Bars].
type Level struct {
	Name string
	At   float64
}

// Event is a labelled vertical line at a position on the horizontal axis.
type Event struct {
	X     float64
	Label string
	Kind  EventKind
}

// EventKind is the kind of an [Event], which determines its colour.
type EventKind int

// Kinds of events.
const (
	Neutral EventKind = iota
	Up
	Down
)

func (h EventKind) ink() ink { return [...]ink{faint, green, vermilion}[h] }

const (
	lineWidth  = 1.0
	frameWidth = 0.6
	gridWidth  = 0.4
	margin     = 3.0 // around every figure
)

var dashes = []float64{3, 2}

// chartLayout lays a chart out.
type chartLayout struct {
	*Chart
	p        *Picture
	left     float64
	right    float64
	x        scale
	plots    []plot
	inks     map[string]ink
	legend   []entry
	lanes    []float64 // tops of the events' lines, at their labels
	first    bool      // no panel is drawn yet
	numbered bool      // labels of events are numbers, explained by a key
}

// plot is a panel with its place.
type plot struct {
	*Panel
	y      scale
	ticks  []level
	label  []string
	height float64
}

// Layout lays the figure out as a picture with the given width.
func (c *Chart) Layout(width float64) *Picture {
	a := &chartLayout{Chart: c, p: newPicture(width, 0, c.Title, c.sentences()...), inks: map[string]ink{}, first: true}
	a.measure()
	top := a.placeEvents(margin)
	for k := range a.plots {
		top = a.draw(&a.plots[k], top, k == len(a.plots)-1)
	}
	top = a.p.legend(a.legend, margin, top+2, width-2*margin)
	top = a.eventKey(top)
	top = a.p.note(c.Note, margin, top, width-2*margin)
	a.p.Height = math.Ceil(top + margin)
	return a.p
}

// sentences describe the chart in sentences.
func (c *Chart) sentences() []string {
	var all []string
	for _, panel := range c.Panels {
		var names []string
		for _, curve := range panel.Curves {
			names = append(names, curve.Name)
		}
		for _, l := range panel.Levels {
			names = append(names, l.Name+" at "+valueText(l.At))
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
		line := panel.Y.label() + " over " + c.X.label()
		if len(names) > 0 {
			line += ": " + strings.Join(names, ", ")
		}
		all = append(all, line+".")
	}
	for _, e := range c.Events {
		all = append(all, e.Label+" at "+valueText(e.X)+" "+c.X.Unit+".")
	}
	return all
}

// measure computes the ranges and the space of the labels.
func (a *chartLayout) measure() {
	xs, labels := nothing(), 0.0
	for k := range a.Panels {
		panel := &a.Panels[k]
		pl := plot{Panel: panel, height: panel.Height}
		if pl.height == 0 {
			pl.height = min(max(a.p.Width*0.42, 90), 150)
		}
		ys := nothing()
		for _, c := range panel.Curves {
			xs = xs.add(c.X...)
			ys = c.reach(ys)
			a.name(c)
		}
		for _, l := range panel.Levels {
			ys = ys.add(l.At)
			a.nameLevel(l)
		}
		pl.y.low, pl.y.high = panel.Y.reach(ys, room)
		pl.ticks = panel.Y.upright(pl.y.low, pl.y.high, pl.height)
		pl.label = turnedLabel(panel.Y.label(), pl.height)
		for _, t := range pl.ticks {
			labels = max(labels, widthOf(t.words, sizeSmall)+9*float64(len(pl.label)))
		}
		a.plots = append(a.plots, pl)
	}
	for _, e := range a.Events {
		xs = xs.add(e.X)
	}
	a.x.low, a.x.high = a.X.reach(xs, 0)
	a.left = margin + labels + 6
	a.right = a.p.Width - margin - a.lastLabel()
}

// turnedLabel returns the label of an upright axis in lines that fit its height.
func turnedLabel(words string, height float64) []string {
	height += panelGap / 2 // the space next to it is free at this height
	lines := wrapped(words, sizeWords, height)
	for k, line := range lines {
		lines[k] = fitted(line, sizeWords, height)
	}
	return lines
}

// lastLabel returns the overhang of the last number of the lower axis.
func (a *chartLayout) lastLabel() float64 {
	out := 0.0
	for _, t := range a.X.lying(a.x.low, a.x.high, a.p.Width-a.left) {
		if share := (t.value - a.x.low) / (a.x.high - a.x.low); share > 0.9 {
			out = max(out, widthOf(t.words, sizeSmall)/2)
		}
	}
	return out
}

// reach returns the range of a curve with everything that belongs to it.
func (c *Curve) reach(s span) span {
	s = s.add(c.Y...).add(c.Low...).add(c.High...)
	for _, raw := range c.Raw {
		s = s.add(raw...)
	}
	return s
}

// name assigns a colour to a curve's name, once.
func (a *chartLayout) name(c Curve) {
	if _, known := a.inks[c.Name]; !known {
		a.inks[c.Name] = seriesInk(len(a.inks))
		if c.Name != "" {
			shape := stroked
			if len(c.X) == 1 {
				shape = dotted
			}
			a.legend = append(a.legend, entry{c.Name, a.inks[c.Name].plain(), shape})
		}
	}
}

func (a *chartLayout) nameLevel(l Level) {
	if _, known := a.inks[l.Name]; !known && l.Name != "" {
		a.inks[l.Name] = seriesInk(len(a.inks))
		a.legend = append(a.legend, entry{l.Name, a.inks[l.Name].plain(), dashed})
	}
}

const (
	tickLength = 2.5
	panelGap   = 9.0
)

// draw draws a panel and returns its lower end; the last panel has the numbers of the lower axis.
func (a *chartLayout) draw(pl *plot, top float64, last bool) float64 {
	bottom := top + pl.height
	a.x.from, a.x.to = a.left, a.right
	pl.y.from, pl.y.to = bottom, top
	numbers := a.X.lying(a.x.low, a.x.high, a.right-a.left)
	for _, t := range numbers {
		a.p.line(grid.plain(), gridWidth, point{a.x.at(t.value), top}, point{a.x.at(t.value), bottom})
	}
	for _, t := range pl.ticks {
		y := pl.y.at(t.value)
		a.p.line(grid.plain(), gridWidth, point{a.left, y}, point{a.right, y})
		a.p.say(t.words, point{a.left - tickLength - 1, y + sizeSmall*0.26}, sizeSmall, end, text.plain())
	}
	for k, line := range pl.label {
		x := margin + sizeWords*ascent + 9*float64(k)
		a.p.say(line, point{x, (top + bottom) / 2}, sizeWords, middle, text.plain()).turned = true
	}
	a.drawEvents(top, bottom)
	for k := range pl.Curves {
		a.curve(&pl.Curves[k], pl.y)
	}
	for _, l := range pl.Levels {
		a.p.line(a.inks[l.Name].plain(), lineWidth, point{a.left, pl.y.at(l.At)}, point{a.right, pl.y.at(l.At)}).
			dash = dashes
	}
	a.p.line(text.plain(), frameWidth, point{a.left, top}, point{a.left, bottom}, point{a.right, bottom})
	if !last {
		return bottom + panelGap
	}
	return a.p.lower(a.X, a.x, numbers, bottom)
}

// lower writes the numbers and the name of a lower axis and returns their lower end.
func (p *Picture) lower(axis Axis, x scale, numbers []level, bottom float64) float64 {
	for _, t := range numbers {
		at := x.at(t.value)
		p.line(text.plain(), frameWidth, point{at, bottom}, point{at, bottom + tickLength})
		half := widthOf(t.words, sizeSmall) / 2
		p.say(t.words, point{min(max(at, margin+half), p.Width-margin-half), bottom + tickLength + 7}, sizeSmall,
			middle, text.plain())
	}
	name := fitted(axis.label(), sizeWords, p.Width-2*margin)
	half := widthOf(name, sizeWords) / 2
	centre := min((x.from+x.to)/2, p.Width-margin-half)
	p.say(name, point{max(centre, margin+half), bottom + tickLength + 18}, sizeWords, middle, text.plain())
	return bottom + tickLength + 21
}

// curve draws the band, the raw series, and the line on top.
func (a *chartLayout) curve(c *Curve, y scale) {
	colour := a.inks[c.Name]
	if len(c.Low) == len(c.X) && len(c.High) == len(c.X) {
		a.band(c, y, colour)
	}
	for _, raw := range c.Raw {
		for _, run := range a.paths(c.X, raw, y, false) {
			a.p.line(colour.thin(0.3), 0.5, run...)
		}
	}
	if c.Y == nil {
		return
	}
	for _, run := range a.paths(c.X, c.Y, y, c.Steps) {
		if len(run) == 1 {
			a.p.dot(colour.plain(), run[0], 1.5)
			continue
		}
		a.p.line(colour.plain(), lineWidth, run...)
	}
}

// paths returns the unbroken parts of a line, without points too close to be visible.
func (a *chartLayout) paths(xs, ys []float64, y scale, steps bool) [][]point {
	var all [][]point
	var run []point
	for k := range min(len(xs), len(ys)) {
		if !(math.Abs(ys[k]) < beyond && math.Abs(xs[k]) < beyond) {
			if len(run) > 0 {
				all = append(all, run)
			}
			run = nil
			continue
		}
		at := point{a.x.at(xs[k]), y.at(ys[k])}
		if steps && len(run) > 0 {
			run = append(run, point{at.x, run[len(run)-1].y})
		}
		run = append(run, at)
	}
	if len(run) > 0 {
		all = append(all, run)
	}
	for k := range all {
		all[k] = thinned(all[k])
	}
	return all
}

// finest is the distance in points below which details of a line are invisible: each such stretch keeps its first,
// lowest, highest and last point.
const finest = 0.5

func thinned(run []point) []point {
	var kept []point
	for from := 0; from < len(run); {
		to := from + 1
		for to < len(run) && run[to].x-run[from].x < finest {
			to++
		}
		kept = append(kept, ends(run[from:to])...)
		from = to
	}
	return kept
}

// ends returns the visible points of a stretch, in order.
func ends(run []point) []point {
	if len(run) <= 4 {
		return run
	}
	low, high := 0, 0
	for k, at := range run {
		if at.y < run[low].y {
			low = k
		}
		if at.y > run[high].y {
			high = k
		}
	}
	places := []int{0, low, high, len(run) - 1}
	slices.Sort(places)
	var kept []point
	for _, k := range slices.Compact(places) {
		kept = append(kept, run[k])
	}
	return kept
}

// band fills the interval around a curve; the interval of a single point is a line with ends.
func (a *chartLayout) band(c *Curve, y scale, colour ink) {
	upper, lower := a.paths(c.X, c.High, y, false), a.paths(c.X, c.Low, y, false)
	for k := range min(len(upper), len(lower)) {
		if len(upper[k]) == 1 && len(lower[k]) == 1 {
			a.whisker(colour, lower[k][0], upper[k][0])
			continue
		}
		slices.Reverse(lower[k])
		a.p.area(colour.thin(0.2), append(upper[k], lower[k]...)...)
	}
}

// whisker draws the interval of a dot.
func (a *chartLayout) whisker(colour ink, low, high point) {
	a.p.line(colour.plain(), 0.8, low, high)
	for _, at := range []point{low, high} {
		a.p.line(colour.plain(), 0.8, point{at.x - 1.2, at.y}, point{at.x + 1.2, at.y})
	}
}
