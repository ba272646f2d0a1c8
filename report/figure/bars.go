package figure

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bars compares quantities in groups, one group below the other. If the axis starts at zero, the quantities are drawn
// as bars. Otherwise the quantities are drawn as dots, because the length of a bar would mislead.
type Bars struct {
	Title  string   // title, which is also the text alternative
	Note   string   // note below the figure; empty means none
	Lines  string   // note that explains the intervals, if an interval is drawn; empty means none
	X      Axis     // axis of the quantities
	Names  []string // names of the bars in each group; empty if each group has one bar
	Groups []Group
	Levels []Level // vertical reference lines; nil means none
	Values bool    // prints the value of each bar after the bar; useful for few bars
	// Stacked draws the bars of a group end to end, from zero and without intervals. If Values is also set, the sum of
	// each group is printed.
	Stacked bool
}

// Group is a group of bars with a common label.
type Group struct {
	Name string
	Bars []Bar // bars of the group, one per name in Names
}

// Bar is a quantity with its interval.
type Bar struct {
	Value     float64 // value of the quantity; NaN draws nothing
	Low, High float64 // ends of the interval; equal ends draw no interval
	from      float64 // end of the previous bar in a stack
	inner     bool    // another bar follows in a stack
}

// interval reports whether an interval is drawn.
func (b Bar) interval() bool { return b.Low != b.High && !math.IsNaN(b.Value+b.Low+b.High) }

const (
	barHeight = 5.5
	dotHeight = 3.4
	wideBar   = 9.0 // if each group has one bar
	between   = 4.0 // between groups
	leastRow  = 9.0
)

// Layout lays the figure out as a picture with the given width.
func (b *Bars) Layout(width float64) *Picture {
	p := newPicture(width, 0, b.Title, b.sentences()...)
	b = b.stacked()
	values := nothing()
	for _, g := range b.Groups {
		for _, bar := range g.Bars {
			values = values.add(bar.Value)
			if bar.interval() {
				values = values.add(bar.Low, bar.High)
			}
		}
	}
	for _, l := range b.Levels {
		values = values.add(l.At)
	}
	dots := b.dots(values)
	axis := b.X
	axis.Zero = !dots
	x := scale{}
	x.low, x.high = axis.reach(values, room)
	x.from, x.to = b.sides(p, x)
	bottom := b.rows(p, x, dots)
	top := p.lower(b.X, x, lying(x.low, x.high, x.to-x.from), bottom)
	return p.finish(b.entries(dots), b.remark(dots), top+2)
}

// remark returns the note, with an explanation of the drawing.
func (b *Bars) remark(dots bool) string {
	parts := []string{b.Note}
	if dots {
		parts = append(parts, "Dots replace bars because the axis does not start at zero.")
	}
	if slices.ContainsFunc(b.Groups, func(g Group) bool { return slices.ContainsFunc(g.Bars, Bar.interval) }) {
		parts = append(parts, b.Lines)
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// sentences describe the bars in sentences.
func (b *Bars) sentences() []string {
	var all []string
	for _, g := range b.Groups {
		line := g.Name + ":"
		for k, bar := range g.Bars {
			if math.IsNaN(bar.Value) {
				continue
			}
			if len(b.Names) > k {
				line += " " + b.Names[k]
			}
			line += " " + valueText(bar.Value) + " " + b.X.Unit
			if bar.interval() {
				line += " (" + valueText(bar.Low) + " to " + valueText(bar.High) + ")"
			}
			line += ","
		}
		all = append(all, strings.TrimRight(line, ",:")+".")
	}
	for _, l := range b.Levels {
		all = append(all, l.Name+": "+valueText(l.At)+" "+b.X.Unit+".")
	}
	return all
}

// dots reports whether zero is too far away to be in the figure.
func (b *Bars) dots(values span) bool {
	return !b.X.Zero && !b.Stacked && !values.empty() && values.low > 0 && values.low > values.high/2
}

// sides returns the ends of the axis, between the groups' names and the labels beyond its end.
func (b *Bars) sides(p *Picture, x scale) (from, to float64) {
	names := 0.0
	for _, g := range b.Groups {
		names = max(names, widthOf(g.Name, sizeWords))
	}
	from = margin + min(names, p.Width*0.45) + 4
	to = p.Width - margin
	if b.Values {
		most := 0.0
		for _, g := range b.Groups {
			for _, bar := range g.Bars {
				most = max(most, widthOf(valueText(bar.Value), sizeSmall))
			}
		}
		return from, to - most - 4
	}
	for _, t := range lying(x.low, x.high, to-from) {
		if t.value > x.low+0.9*(x.high-x.low) {
			return from, to - widthOf(t.words, sizeSmall)/2
		}
	}
	return from, to
}

// valueText formats a quantity with three digits.
func valueText(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	step := math.Pow(10, math.Floor(math.Log10(math.Max(math.Abs(v), 1e-9)))-2)
	if step >= 1 && math.Abs(v) < 10000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	words := tickText(math.Round(v/step)*step, step)
	if strings.Contains(words, ".") {
		words = strings.TrimRight(strings.TrimRight(words, "0"), ".")
	}
	return words
}

// rows draws the groups and returns their lower end.
func (b *Bars) rows(p *Picture, x scale, dots bool) float64 {
	each := barHeight
	if dots {
		each = dotHeight
	}
	beside := max(len(b.Names), 1) // bars of a group, below each other
	if b.Stacked {
		beside = 1
	}
	if beside == 1 {
		each = wideBar
	}
	height := max(each*float64(beside), leastRow)
	top := margin
	bottom := top + float64(len(b.Groups))*(height+between)
	for _, t := range lying(x.low, x.high, x.to-x.from) {
		p.line(grid.plain(), gridWidth, point{x.at(t.value), top}, point{x.at(t.value), bottom})
	}
	for k, g := range b.Groups {
		from := top + float64(k)*(height+between)
		if k > 0 {
			p.line(grid.plain(), gridWidth, point{margin, from}, point{x.to, from})
		}
		centre := from + (height+between)/2
		p.say(fitted(g.Name, sizeWords, x.from-margin-3), point{x.from - 4, centre + 2.6}, sizeWords, end, text.plain())
		for s, bar := range g.Bars {
			place := float64(min(s, beside-1)) - float64(min(len(g.Bars), beside))/2
			b.bar(p, bar, x, centre+each*place, each, seriesInk(s), dots)
		}
	}
	for k, l := range b.Levels {
		p.line(b.levelInk(k).plain(), lineWidth, point{x.at(l.At), top}, point{x.at(l.At), bottom}).dash = dashes
	}
	p.line(text.plain(), frameWidth, point{x.from, top}, point{x.from, bottom}, point{x.to, bottom})
	return bottom
}

// levelInk returns the ink of a reference line. Bars use the inks before it.
func (b *Bars) levelInk(k int) ink { return seriesInk(max(len(b.Names), 1) + k) }

// bar draws one quantity.
func (b *Bars) bar(p *Picture, bar Bar, x scale, top, height float64, colour ink, dots bool) {
	if math.IsNaN(bar.Value) {
		return
	}
	centre := top + height/2
	if !dots {
		from, to := x.at(max(bar.from, x.low)), x.at(bar.Value)
		p.box(colour.plain(), min(from, to), top+0.4, math.Abs(to-from), height-0.8)
	}
	if bar.interval() {
		line := colour
		if !dots {
			line = text
		}
		p.line(line.plain(), 0.8, point{x.at(bar.Low), centre}, point{x.at(bar.High), centre})
		for _, v := range []float64{bar.Low, bar.High} {
			p.line(line.plain(), 0.8, point{x.at(v), centre - 1.2}, point{x.at(v), centre + 1.2})
		}
	}
	if dots {
		p.dot(colour.plain(), point{x.at(bar.Value), centre}, 2)
	}
	if b.Values && !bar.inner {
		p.say(valueText(bar.Value), point{x.at(max(bar.Value, bar.High)) + 3, centre + 2.4}, sizeSmall, start,
			text.plain())
	}
}

func (b *Bars) entries(dots bool) (all []entry) {
	if len(b.Names) > 1 {
		shape := filled
		if dots {
			shape = dotted
		}
		all = seriesEntries(b.Names, shape)
	}
	for k, l := range b.Levels {
		all = append(all, entry{l.Name, b.levelInk(k).plain(), dashed})
	}
	return all
}
