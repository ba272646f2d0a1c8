package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/internal/words"
)

// Gantt shows spans of work over time, by the device on which they ran. It has one row per device, divided into lanes
// for concurrent spans. Its size has an upper limit, regardless of the number of spans.
type Gantt struct {
	Title string // title, which is also the text alternative
	Note  string // note below the figure; empty means none
	X     Axis   // axis of time
	Rows  []string
	Kinds []string // meanings of the colours, for the legend; nil means no legend
	Spans []Span   // spans in any order; a span outside of Rows is not drawn
}

// Span is a period of work in a [Gantt].
type Span struct {
	Name     string // name, written into the span's box if it fits
	Row      int    // index of the row in Gantt.Rows
	Lane     int    // number of the lane in the row, from 0
	Kind     int    // index in Gantt.Kinds or, without Kinds, a number from 0 that selects a colour
	From, To float64
	End      End
}

// End is the way in which a span ended. Each way has a mark of its own shape, so that readers can tell them apart
// without colours.
type End int

// Ends of spans.
const (
	Completed End = iota // no mark
	Stopped              // a notch, since the span continues later
	Failed               // a cross
)

const (
	ganttHeight = 300.0 // shared by all lanes
	mostLane    = 9.0   // height of a lane
	leastLane   = 1.2
	mostRows    = 64
	mostInAll   = 240  // lanes of all rows
	mostBoxes   = 1500 // above it, short neighbours are merged into one box
	wordsLane   = 7.5  // minimum height of a lane with names
)

// ganttLayout lays a Gantt out.
type ganttLayout struct {
	*Gantt
	p       *Picture
	x       scale
	tops    []float64  // tops of the rows, then the bottom of the last one
	lanes   [][][]Span // spans by row and lane, in order
	height  float64    // of a lane
	boxes   [][][]box
	shorter float64 // points below which neighbours are merged; zero for none
	left    int     // number of omitted spans
}

// Layout lays the figure out as a picture with the given width.
func (g *Gantt) Layout(width float64) *Picture {
	a := &ganttLayout{Gantt: g, p: newPicture(width, 0, g.Title, g.sentences()...)}
	a.sort()
	a.scales()
	a.boxes, a.shorter = merged(a.lanes, a.x)
	bottom := a.tops[len(a.tops)-1]
	numbers := lying(a.x.low, a.x.high, a.x.to-a.x.from)
	for _, t := range numbers {
		a.p.line(grid.plain(), gridWidth, point{a.x.at(t.value), margin}, point{a.x.at(t.value), bottom})
	}
	for r := range a.lanes {
		a.row(r)
	}
	a.p.line(text.plain(), frameWidth, point{a.x.from, margin}, point{a.x.from, bottom}, point{a.x.to, bottom})
	return a.p.finish(a.entries(), a.remark(), a.p.lower(g.X, a.x, numbers, bottom)+2)
}

// sentences describe the rows in sentences.
func (g *Gantt) sentences() (all []string) {
	counts := make([]int, len(g.Rows))
	for _, s := range g.Spans {
		if s.Row >= 0 && s.Row < len(g.Rows) {
			counts[s.Row]++
		}
	}
	for r, name := range g.Rows[:min(len(g.Rows), mostRows)] {
		all = append(all, name+": "+words.Plural(counts[r], "span")+".")
	}
	return all
}

// sort assigns the spans to their lanes, and omits spans of lanes that do not fit.
func (a *ganttLayout) sort() {
	a.lanes = make([][][]Span, min(len(a.Rows), mostRows))
	deepest := make([]int, len(a.lanes))
	for _, s := range a.Spans {
		if s.Row >= 0 && s.Row < len(a.lanes) {
			deepest[s.Row] = max(deepest[s.Row], s.Lane+1)
		}
	}
	most := mostInAll
	for ; most > 1; most-- {
		sum := 0
		for _, d := range deepest {
			sum += min(d, most)
		}
		if sum <= mostInAll {
			break
		}
	}
	for r, d := range deepest {
		a.lanes[r] = make([][]Span, max(1, min(d, most)))
	}
	for _, s := range a.Spans {
		if s.Row < 0 || s.Row >= len(a.lanes) || s.Lane < 0 || s.Lane >= len(a.lanes[s.Row]) || s.Kind < 0 ||
			!(s.From <= s.To && math.Abs(s.From) < beyond && s.To < beyond) {
			a.left++
			continue
		}
		a.lanes[s.Row][s.Lane] = append(a.lanes[s.Row][s.Lane], s)
	}
	for _, row := range a.lanes {
		for _, lane := range row {
			slices.SortStableFunc(lane, func(s, t Span) int { return cmp.Compare(s.From, t.From) })
		}
	}
}

// scales computes the positions of rows and times.
func (a *ganttLayout) scales() {
	times, count := nothing(), 0
	for _, row := range a.lanes {
		count += len(row)
		for _, lane := range row {
			for _, s := range lane {
				times = times.add(s.From, s.To)
			}
		}
	}
	a.height = min(max(ganttHeight/float64(max(count, 1)), leastLane), mostLane)
	top := margin
	for _, row := range a.lanes {
		a.tops = append(a.tops, top)
		top += max(a.height*float64(len(row)), leastRow) + between
	}
	a.tops = append(a.tops, top)
	a.x.low, a.x.high = a.X.reach(times, 0)
	a.x.from = margin + min(widest(sizeWords, a.Rows...), a.p.Width*0.3) + 4
	a.x.to = a.p.Width - margin
	for _, t := range lying(a.x.low, a.x.high, a.x.to-a.x.from) {
		if t.value > a.x.low+0.9*(a.x.high-a.x.low) {
			a.x.to = min(a.x.to, a.p.Width-margin-widthOf(t.words, sizeSmall)/2)
		}
	}
}

// row draws a row with its name.
func (a *ganttLayout) row(r int) {
	top, bottom := a.tops[r], a.tops[r+1]
	if r > 0 {
		a.p.line(grid.plain(), gridWidth, point{margin, top}, point{a.x.to, top})
	}
	a.p.say(fitted(a.Rows[r], sizeWords, a.x.from-margin-3), point{a.x.from - 4, (top+bottom)/2 + 2.6}, sizeWords, end,
		text.plain())
	from := (top + bottom - a.height*float64(len(a.boxes[r]))) / 2
	for k, lane := range a.boxes[r] {
		for _, b := range lane {
			a.box(b, from+a.height*float64(k)+0.3, a.height-0.6)
		}
	}
}

// entries returns the legend's entries: colours, and the ends in the drawing.
func (a *ganttLayout) entries() []entry {
	all := seriesEntries(a.Kinds, filled)
	has := func(is func(b box) bool) bool {
		return slices.ContainsFunc(a.boxes, func(row [][]box) bool {
			return slices.ContainsFunc(row, func(lane []box) bool { return slices.ContainsFunc(lane, is) })
		})
	}
	if has(func(b box) bool { return b.mixed }) {
		all = append(all, entry{"several", faint.plain(), filled})
	}
	if has(func(b box) bool { return b.End == Stopped && b.count == 1 }) {
		all = append(all, entry{"stopped", faint.plain(), notched})
	}
	if has(func(b box) bool { return b.End == Failed }) {
		all = append(all, entry{"failed", text.plain(), crossed})
	}
	return all
}

// remark returns the note, with an explanation of omissions.
func (a *ganttLayout) remark() string {
	parts := []string{a.Note}
	if a.shorter > 0 {
		parts = append(parts, fmt.Sprintf("Adjacent spans shorter than %s %s are merged into one box, "+
			"paler if more time is between them.", valueText(a.shorter/(a.x.to-a.x.from)*(a.x.high-a.x.low)),
			a.X.Unit))
	}
	if n := len(a.Rows); n > mostRows {
		parts = append(parts, fmt.Sprintf("Only the first %d of %d rows are shown.", mostRows, n))
	}
	if a.left > 0 {
		parts = append(parts, fmt.Sprintf("Not drawn: %d of %d spans.", a.left, len(a.Spans)))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}
