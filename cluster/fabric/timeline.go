package fabric

import (
	"cmp"
	"math"
	"slices"
)

// Span is a period in which an operation runs without interruption, or the period of a transfer between servers, from
// its first progress to its end.
type Span struct {
	// indexes of the operation and of the transfer in the graph; -1 if not applicable
	Op, Dep  int
	From, To float64
}

// Timeline holds all operations and transfers of a step.
type Timeline struct {
	Step   *Step
	Placed *Placed
	Spans  []Span // spans in order of their ends; an interrupted operation has several spans
}

// Timeline simulates a step and records its spans.
func (t Timing) Timeline(p *Placed) (*Timeline, error) {
	line := &Timeline{Placed: p}
	t.Watch.Op = func(op int, from, to float64) { line.Spans = append(line.Spans, Span{op, -1, from, to}) }
	t.Watch.Dep = func(dep int, from, to float64) { line.Spans = append(line.Spans, Span{-1, dep, from, to}) }
	var err error
	line.Step, err = t.Run(p)
	slices.SortStableFunc(line.Spans, func(a, b Span) int { return cmp.Compare(a.To, b.To) })
	return line, err
}

// Critical returns the spans that determine the time of a step, in order. Each span begins when the previous span ends,
// because the previous span produced its input or occupied its server or its lane. Together the spans cover the whole
// step. A span with neither an operation nor a transfer is time in which the next transfer waited for a shared link.
func (l *Timeline) Critical() (path []Span) {
	now := l.Step.Time
	at := len(l.Spans)
	for now > 0 {
		at = l.before(at, now, path)
		if at < 0 {
			path = append(path, Span{-1, -1, 0, now})
			break
		}
		s := l.Spans[at]
		if s.To < now-l.slack() {
			path = append(path, Span{-1, -1, s.To, now})
		}
		path = append(path, s)
		now = s.From
	}
	slices.Reverse(path)
	return path
}

// slack is the tolerance for rounding of times.
func (l *Timeline) slack() float64 { return 1e-9 * l.Step.Time }

// before returns the span with the latest end up to a time. Among equal ends it prefers the span that the next span
// waited for; -1 if none exists.
func (l *Timeline) before(at int, now float64, path []Span) int {
	found := -1
	for k := at - 1; k >= 0; k-- {
		s := l.Spans[k]
		if s.To > now+l.slack() || s.To-s.From <= 0 {
			continue
		}
		if found >= 0 && s.To < l.Spans[found].To-l.slack() {
			break
		}
		if len(path) == 0 || l.held(s, path[len(path)-1]) {
			return k
		}
		if found < 0 {
			found = k
		}
	}
	return found
}

// held reports whether a span enabled another one, or held its server or its lane.
func (l *Timeline) held(s, next Span) bool {
	g := l.Placed.Parted.Graph
	switch {
	case next.Op >= 0 && s.Op >= 0:
		return l.Placed.Server[s.Op] == l.Placed.Server[next.Op]
	case next.Op >= 0 && s.Dep >= 0:
		return g.Deps[s.Dep].To == next.Op
	case next.Dep >= 0 && s.Op >= 0:
		return g.Deps[next.Dep].From == s.Op
	case next.Dep >= 0 && s.Dep >= 0:
		return l.Placed.lane[s.Dep] == l.Placed.lane[next.Dep]
	}
	return false
}

// Tracks divides the transfers of a timeline among tracks, at least one per pair of servers, so that transfers on the
// same track do not overlap. It returns the track of each span (-1 for an operation), and the two servers of each
// track.
func (l *Timeline) Tracks() (track []int, pairs [][2]int) {
	track = slices.Repeat([]int{-1}, len(l.Spans))
	order := make([]int, 0, len(l.Spans))
	for k := range l.Spans {
		if l.Spans[k].Dep >= 0 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Spans[a].From, l.Spans[b].From) })
	ends := map[[2]int][]int{} // tracks per pair
	var until []float64        // by track
	for _, k := range order {
		d := &l.Placed.Parted.Graph.Deps[l.Spans[k].Dep]
		pair := [2]int{l.Placed.Server[d.From], l.Placed.Server[d.To]}
		free := slices.IndexFunc(ends[pair], func(t int) bool { return until[t] <= l.Spans[k].From })
		if free < 0 {
			free = len(ends[pair])
			ends[pair] = append(ends[pair], len(pairs))
			pairs, until = append(pairs, pair), append(until, math.Inf(-1))
		}
		track[k] = ends[pair][free]
		until[track[k]] = l.Spans[k].To
	}
	return track, pairs
}
