package clock

import (
	"math"
	"slices"
	"time"
)

// Wall is a [Clock] that measures real time. It predicts the duration of work from the measured durations of earlier
// work.
type Wall struct {
	now   func() time.Time
	zero  time.Time // start of the budget
	last  time.Time // start of the timer
	rates map[Kind]rate
	lost  []time.Duration // time between the last few pieces of work
}

// NewWall starts a wall clock at the given time since the start of the budget: zero for a new job, the time of the
// checkpoint for a resumed job. It reads the machine's time with the given function.
func NewWall(now func() time.Time, at time.Duration) *Wall {
	t := now()
	return &Wall{now: now, zero: t.Add(-at), last: t, rates: map[Kind]rate{}}
}

// Now returns the time since the budget began.
func (w *Wall) Now() time.Duration { return w.now().Sub(w.zero) }

// mostLost is the number of times in Wall.lost.
const mostLost = 5

// Begin starts the timer. The idle time since the previous piece of work is not charged to any kind of work.
func (w *Wall) Begin() {
	t := w.now()
	if len(w.rates) > 0 { // before the first work, the time is the job's setup
		w.lost = append(w.lost[max(0, len(w.lost)+1-mostLost):], t.Sub(w.last))
	}
	w.last = t
}

// usuallyLost is the median time between pieces of work, robust against a single stall.
func (w *Wall) usuallyLost() time.Duration {
	if len(w.lost) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(w.lost))[len(w.lost)/2]
}

// Spend updates the estimate for this kind of work with the time since the call of Begin.
func (w *Wall) Spend(work Work) {
	t := w.now()
	took := t.Sub(w.last).Seconds() / float64(max(1, work.Count))
	w.last = t
	w.rates[work.Kind] = w.rates[work.Kind].learn(took, work)
}

// evaluationShare is an upper bound on the time of evaluation relative to training on the same number of examples:
// evaluation runs forward only, training also runs backward, which costs two forward passes.
const evaluationShare = 0.5

// Cost predicts the time of work as a recent average for the kind of work, plus a margin for variation. The time is
// scaled up for a larger network by its operations, and for a larger batch by its rows. The cost of an evaluation also
// includes two typical idle times between pieces of work: one before the evaluation, and one before the last steps.
// Before the first evaluation, the cost of an evaluation is predicted from the times of steps.
func (w *Wall) Cost(work Work) time.Duration {
	r := w.rates[work.Kind]
	one := r.expected(work)
	if steps := w.rates[Steps]; work.Kind == Batches && r.calls == 0 && steps.calls > 1 && steps.rows > 0 {
		part := work
		part.Rows = steps.rows
		one = evaluationShare * steps.expected(part) * float64(work.Rows) / float64(steps.rows)
	}
	cost := time.Duration(float64(work.Count) * one * float64(time.Second))
	if work.Kind == Batches && cost > 0 {
		cost += 2 * w.usuallyLost()
	}
	return cost
}

// rate is the estimated time of a piece of work. The zero rate means unknown.
type rate struct {
	mean, deviation float64 // in seconds
	load            float64 // operations per device and example
	rows            int
	calls           int // calls in the estimate
}

// Constants of the estimator from Jacobson, Congestion avoidance and control (1988): exponential averages of the values
// and of their deviations. Stalls in training need at most twice the deviation.
const (
	latestShare = 0.25
	deviations  = 2
)

// learn updates the estimate with a call. The second call on a network replaces the first, which includes allocation
// and compilation.
func (r rate) learn(took float64, work Work) rate {
	load := loadOf(work)
	if r.load != load || r.rows != work.Rows {
		r = rate{}
	}
	r.load, r.rows, r.calls = load, work.Rows, r.calls+1
	if r.calls <= 2 {
		r.mean, r.deviation = took, took*latestShare
		return r
	}
	apart := took - r.mean
	r.mean += latestShare * apart
	r.deviation += latestShare * (math.Abs(apart) - r.deviation)
	return r
}

// expected is the time of one piece; it is not scaled down for a smaller network or batch.
func (r rate) expected(work Work) float64 {
	one := r.mean + deviations*r.deviation
	if load := loadOf(work); r.load > 0 && load > r.load {
		one *= load / r.load
	}
	if r.rows > 0 && work.Rows > r.rows {
		one *= float64(work.Rows) / float64(r.rows)
	}
	return one
}

// loadOf is the number of operations per device and example; zero means unknown.
func loadOf(work Work) float64 {
	if work.Network == nil {
		return 0
	}
	total, err := work.Network.Operations()
	if err != nil {
		return 0
	}
	return float64(total) / float64(max(1, work.Devices))
}
