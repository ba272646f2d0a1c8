package trainer

import (
	"strconv"
	"time"

	"graft/stat"
)

// meter is a clock for measuring: it keeps what each piece of work took, from when
// it was told that work began.
type meter struct {
	now        func() time.Time
	zero, last time.Time
	took       map[Kind][]float64 // seconds of a piece, in the order of the calls
}

func newMeter(now func() time.Time) *meter {
	t := now()
	return &meter{now: now, zero: t, last: t, took: map[Kind][]float64{}}
}

// Now is the time since the meter was made.
func (m *meter) Now() time.Duration { return m.now().Sub(m.zero) }

// Begin forgets the time since work was last spent.
func (m *meter) Begin() { m.last = m.now() }

// Spend keeps what a piece of the work took.
func (m *meter) Spend(w Work) {
	t := m.now()
	m.took[w.Kind] = append(m.took[w.Kind], t.Sub(m.last).Seconds()/float64(max(1, w.Count)))
	m.last = t
}

// Cost is not known: that is why there is a meter.
func (m *meter) Cost(Work) time.Duration { return 0 }

// latest is what a piece took in the last call of a kind.
func (m *meter) latest(k Kind) float64 {
	if all := m.took[k]; len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

// middle is the median and half the distance between the quartiles; zeros of no values.
func middle(values []float64) (median, spread float64) {
	if len(values) == 0 {
		return 0, 0
	}
	return stat.MedianSpread(values)
}

// digits rounds to five decimal digits.
func digits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 4, 64), 64)
	if err != nil {
		return v // never: it was written just now
	}
	return rounded
}
