package page

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"graft/results"
)

// Sizes of marks on a timeline as fractions of the width of the page. Marks that would overlap on a phone get different
// lanes.
const (
	markRoom   = 7.0 // percent of the width that a mark needs, at 300 pixels
	mostLanes  = 8   // further ones share the last
	laneHeight = 26
	axisHeight = 34
)

type timelineView struct {
	Title, Unit  string
	Height, Axis int
	Ticks        []tickView
	Marks        []markView
	Has          map[string]bool // classes of the marks
}

type tickView struct{ X, Text, Anchor string }

type markView struct {
	X      string // percent
	Y, End int    // of the stem
	Title  string
	Class  string
	Path   string
}

// marks are the shapes of events, centred on zero, by look.
var marks = map[results.Look]struct{ class, path string }{
	results.Plain:  {"plain", "M-6-6H6V6H-6Z"},
	results.Up:     {"up", "M0-8L8 6H-8Z"},
	results.Down:   {"down", "M0 8L8-6H-8Z"},
	results.Choice: {"pick", "M0-9L9 0L0 9L-9 0Z"},
}

func (t *Timeline) view() *timelineView {
	end := t.End
	for _, e := range t.Events {
		end = max(end, e.At)
	}
	if end <= 0 || math.IsInf(end, 0) || math.IsNaN(end) {
		end = 1
	}
	events := slices.Clone(t.Events)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	v := &timelineView{Title: t.Title, Unit: t.Unit, Has: map[string]bool{}}
	lanes := lanesOf(events, end)
	count := 1
	for _, lane := range lanes {
		count = max(count, lane+1)
	}
	v.Axis = laneHeight*count + 4
	v.Height = v.Axis + axisHeight
	v.Ticks = ticksOf(end)
	for k, e := range events {
		v.mark(e, 100*e.At/end, v.Axis-laneHeight*(lanes[k]+1)+8, t.Unit)
	}
	return v
}

// lanesOf gives each event the lowest lane in which no other event is near.
func lanesOf(events []Event, end float64) []int {
	lanes := make([]int, len(events))
	var last []float64
	for k, e := range events {
		x := 100 * e.At / end
		lane := slices.IndexFunc(last, func(at float64) bool { return x-at >= markRoom })
		switch {
		case lane >= 0:
		case len(last) < mostLanes:
			lane, last = len(last), append(last, 0)
		default:
			lane = len(last) - 1
		}
		lanes[k], last[lane] = lane, x
	}
	return lanes
}

func (v *timelineView) mark(e Event, x float64, y int, unit string) {
	look, known := marks[e.Look]
	if !known {
		look = marks[results.Plain]
	}
	title := short(e.At) + " " + unit + ": " + e.Name
	if e.Detail != "" {
		title += ", " + e.Detail
	}
	v.Marks = append(v.Marks, markView{X: percent(x), Y: y, End: v.Axis, Title: title, Class: look.class,
		Path: look.path})
	v.Has[look.class] = true
}

// ticksOf returns about five round numbers along the axis.
func ticksOf(end float64) []tickView {
	step := math.Pow(10, math.Floor(math.Log10(end/5)))
	for _, times := range []float64{1, 2, 5, 10} {
		if end/(step*times) <= 5.001 {
			step *= times
			break
		}
	}
	var ticks []tickView
	for k := 0; float64(k)*step <= end*1.000001; k++ {
		at := float64(k) * step
		anchor := "middle"
		switch {
		case k == 0:
			anchor = "start"
		case at > end*0.97:
			anchor = "end"
		}
		ticks = append(ticks, tickView{percent(100 * at / end), short(at), anchor})
	}
	return ticks
}

// percent formats a fraction of the width, to a hundredth.
func percent(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64) + "%"
}

// short formats a number with about three significant digits.
func short(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64)
}
