package figure

import (
	"cmp"
	"fmt"
	"slices"
)

// Labels of events stand above the panels, each to the right of its line, in enough lanes that no label covers another
// label or its line: from the last event to the first, each is placed above all later ones that its words reach.

const (
	laneHeight = 9.0
	mostLanes  = 5 // with more, events have numbers explained by a key
	eventGap   = 4.0
)

// placeEvents writes the labels above the panels and returns their upper end.
func (a *chartLayout) placeEvents(top float64) float64 {
	if len(a.Events) == 0 {
		return top + sizeSmall/2
	}
	slices.SortStableFunc(a.Events, func(x, y Event) int { return cmp.Compare(x.X, y.X) })
	words := make([]string, len(a.Events))
	for k, e := range a.Events {
		words[k] = e.Label
	}
	lanes, right := a.laned(words)
	if lanes != nil {
		a.right = right
		return a.sayEvents(words, lanes, top, start, 2)
	}
	for k := range words {
		words[k] = fmt.Sprint(k + 1)
	}
	a.right = min(a.right, a.p.Width-margin-widthOf(words[len(words)-1], sizeSmall)/2-1)
	a.x.from, a.x.to = a.left, a.right
	if lanes = a.numbersLaned(words); lanes != nil {
		a.numbered = true
		return a.sayEvents(words, lanes, top, middle, 0)
	}
	a.kinds()
	return top + laneHeight
}

// kinds adds the kinds of unnamed events to the legend.
func (a *chartLayout) kinds() {
	for kind, name := range []string{"event", "up", "down"} {
		if h := EventKind(kind); slices.ContainsFunc(a.Events, func(e Event) bool { return e.Kind == h }) {
			a.legend = append(a.legend, entry{name, h.ink().plain(), dashed})
		}
	}
}

// sayEvents writes labels into their lanes.
func (a *chartLayout) sayEvents(words []string, lanes []int, top float64, side anchor, aside float64) float64 {
	a.x.from, a.x.to = a.left, a.right
	floor := top + laneHeight*(1+float64(slices.Max(lanes)))
	for k, e := range a.Events {
		base := floor - 2.5 - laneHeight*float64(lanes[k])
		a.p.say(words[k], point{a.x.at(e.X) + aside, base}, sizeSmall, side, text.plain())
		from := base - sizeSmall*ascent
		if side == middle {
			from = base + sizeSmall*descent
		}
		a.lanes = append(a.lanes, from)
	}
	return floor
}

// laned finds a lane for each label, and the right end of the panels that leaves room for the last labels. It returns
// nil if that takes too many lanes or too much room.
func (a *chartLayout) laned(words []string) (lanes []int, right float64) {
	right = a.right
	for k, e := range a.Events { // x(e) + width <= the picture's
		share := (e.X - a.x.low) / (a.x.high - a.x.low)
		if room := a.p.Width - margin - widthOf(words[k], sizeSmall) - 2 - a.left; share > 0 {
			right = min(right, a.left+room/share)
		}
	}
	if right < a.left+0.8*(a.right-a.left) {
		return nil, 0
	}
	x := scale{a.x.low, a.x.high, a.left, right}
	lanes = make([]int, len(words))
	for k := len(words) - 1; k >= 0; k-- {
		reach := x.at(a.Events[k].X) + 2 + widthOf(words[k], sizeSmall) + eventGap
		for later := k + 1; later < len(words); later++ {
			if x.at(a.Events[later].X) < reach {
				lanes[k] = max(lanes[k], lanes[later]+1)
			}
		}
		if lanes[k] >= mostLanes {
			return nil, 0
		}
	}
	return lanes, right
}

// numbersLaned finds lanes for numbers on their lines, so that none covers another number or the line of one above. Nil
// means that there is no room.
func (a *chartLayout) numbersLaned(words []string) []int {
	lanes := make([]int, len(words))
	half := func(k int) float64 { return widthOf(words[k], sizeSmall)/2 + 1 }
	for k := range words {
		x := a.x.at(a.Events[k].X)
		clashes := func(lane int) bool {
			for other := range k {
				d := x - a.x.at(a.Events[other].X)
				if lanes[other] == lane && d < half(k)+half(other) || lanes[other] > lane && d < half(k) ||
					lanes[other] < lane && d < half(other) {
					return true
				}
			}
			return false
		}
		for clashes(lanes[k]) {
			if lanes[k]++; lanes[k] >= mostLanes {
				return nil
			}
		}
	}
	return lanes
}

// unnamed is the length of event lines if there are too many events for labels.
const unnamed = 6.0

// drawEvents draws the events' lines through a panel, and in the first panel up to their labels.
func (a *chartLayout) drawEvents(top, bottom float64) {
	for k, e := range a.Events {
		from := top
		switch {
		case a.lanes == nil:
			bottom = top + unnamed
		case a.first:
			from = a.lanes[k]
		}
		x := a.x.at(e.X)
		m := a.p.line(e.Kind.ink().plain(), 0.7, point{x, from}, point{x, bottom})
		if a.lanes != nil {
			m.dash = []float64{2, 1.5}
		}
	}
	a.first = false
}

// eventKey writes the key of numbered events, in columns.
func (a *chartLayout) eventKey(top float64) float64 {
	if !a.numbered {
		return top
	}
	width := 0.0
	lines := make([]string, len(a.Events))
	for k, e := range a.Events {
		lines[k] = fmt.Sprintf("%d  %s", k+1, e.Label)
		width = max(width, widthOf(lines[k], sizeSmall)+10)
	}
	columns := max(1, int((a.p.Width-2*margin)/width))
	rows := (len(lines) + columns - 1) / columns
	for k, line := range lines {
		at := point{margin + width*float64(k/rows), top + 8 + laneHeight*float64(k%rows)}
		a.p.say(fitted(line, sizeSmall, a.p.Width-2*margin), at, sizeSmall, start, text.plain())
	}
	return top + laneHeight*float64(rows) + 2
}
