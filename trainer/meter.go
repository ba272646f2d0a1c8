package trainer

import (
	"time"

	"graft/trainer/clock"
)

// meter is a clock that records the time of each piece of work.
type meter struct {
	now        func() time.Time
	zero, last time.Time
	took       map[clock.Kind][]float64 // seconds per piece, in the order of the calls
}

// Now returns the time since the meter was created.
func (m *meter) Now() time.Duration { return m.now().Sub(m.zero) }

// Begin starts the timer.
func (m *meter) Begin() { m.last = m.now() }

// Spend records the time of one piece of the work.
func (m *meter) Spend(w clock.Work) {
	t := m.now()
	m.took[w.Kind] = append(m.took[w.Kind], t.Sub(m.last).Seconds()/float64(max(1, w.Count)))
	m.last = t
}

// Cost always returns zero, since the meter cannot predict the cost of work.
func (m *meter) Cost(clock.Work) time.Duration { return 0 }

// latest is the time in seconds of the last piece of a kind; zero before the first.
func (m *meter) latest(k clock.Kind) float64 {
	if all := m.took[k]; len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}
