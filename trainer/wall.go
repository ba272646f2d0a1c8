package trainer

import (
	"math"
	"slices"
	"time"
)

// Wall is the time of the machine. It learns what work takes from what it took.
type Wall struct {
	now   func() time.Time
	zero  time.Time // when the budget began
	last  time.Time // when work began or was last spent
	rates map[Kind]rate
	lost  []time.Duration // before the last few pieces of work
}

// NewWall starts at a time of the budget: zero for a new job, where it stopped for
// one that goes on. Now is the machine's clock, handed in.
func NewWall(now func() time.Time, at time.Duration) *Wall {
	t := now()
	return &Wall{now: now, zero: t.Add(-at), last: t, rates: map[Kind]rate{}}
}

// Now is the time since the budget began.
func (w *Wall) Now() time.Duration { return w.now().Sub(w.zero) }

// mostLost is of how many pieces of work the time before them is kept.
const mostLost = 5

// Begin forgets the time since work was last spent: it is of no kind of work.
func (w *Wall) Begin() {
	t := w.now()
	if len(w.rates) > 0 { // a job was set up before
		w.lost = append(w.lost[max(0, len(w.lost)+1-mostLost):], t.Sub(w.last))
	}
	w.last = t
}

// usuallyLost is the median: a stall between two pieces of work says nothing.
func (w *Wall) usuallyLost() time.Duration {
	if len(w.lost) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(w.lost))[len(w.lost)/2]
}

// Spend learns from the time since work began.
func (w *Wall) Spend(work Work) {
	t := w.now()
	took := t.Sub(w.last).Seconds() / float64(max(1, work.Count))
	w.last = t
	w.rates[work.Kind] = w.rates[work.Kind].learn(took, work)
}

// evaluationShare is the most that evaluation takes of the time of training on as many
// examples: it goes forward only, where training goes forward and twice back.
const evaluationShare = 0.5

// Cost is what such work took lately, with what it goes up and down by on top, and on a
// larger network as much more as that has operations. Evaluation, for which time is
// kept back, has what is lost before it and before the last steps as well; where it was
// never done it is judged by steps.
func (w *Wall) Cost(work Work) time.Duration {
	r := w.rates[work.Kind]
	one := r.expected(work)
	if steps := w.rates[Steps]; work.Kind == Batches && r.calls == 0 && steps.calls > 1 && steps.rows > 0 {
		one = evaluationShare * steps.expected(work) * float64(work.Rows) / float64(steps.rows)
	}
	cost := time.Duration(float64(work.Count) * one * float64(time.Second))
	if work.Kind == Batches && cost > 0 {
		cost += 2 * w.usuallyLost()
	}
	return cost
}

// rate is what a piece of work took, and by how much that goes up and down. The zero
// rate knows nothing.
type rate struct {
	mean, deviation float64 // in seconds
	load            float64 // on a device, in operations for an example
	rows            int
	calls           int // that it was learned from
}

// The estimate is that of Jacobson, Congestion avoidance and control (1988): an average
// that a new value moves by a share, and one of the distances from it. There are no
// stalls here that would need more than twice the deviation.
const (
	newShare   = 0.25
	deviations = 2
)

// learn takes in a call. Of the first one on a network part is for what is made once,
// so the second stands in its place.
func (r rate) learn(took float64, work Work) rate {
	load := loadOf(work)
	if r.load != load || r.rows != work.Rows {
		r = rate{}
	}
	r.load, r.rows, r.calls = load, work.Rows, r.calls+1
	if r.calls <= 2 {
		r.mean, r.deviation = took, took*newShare
		return r
	}
	apart := took - r.mean
	r.mean += newShare * apart
	r.deviation += newShare * (math.Abs(apart) - r.deviation)
	return r
}

// expected is what one piece will take, on a smaller network no less than it did.
func (r rate) expected(work Work) float64 {
	one := r.mean + deviations*r.deviation
	if load := loadOf(work); r.load > 0 && load > r.load {
		one *= load / r.load
	}
	return one
}

// loadOf is the operations that each device has with an example; zero where that cannot
// be said.
func loadOf(work Work) float64 {
	if work.Network == nil {
		return 0
	}
	rows, err := work.Network.Sheet()
	if err != nil {
		return 0
	}
	total := 0.0
	for _, r := range rows {
		total += float64(r.Operations)
	}
	return total / float64(max(1, work.Devices))
}
