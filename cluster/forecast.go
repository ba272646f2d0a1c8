package cluster

import (
	"math"
	"time"
)

// Forecast holds the expected numbers of submitted jobs and requested devices in time spans of equal length.
type Forecast struct {
	At   []int64   // start of each span in seconds, ascending
	Jobs []float64 // submitted jobs per span
	GPUs []float64 // requested devices per span

	First time.Time // date of the first span, in UTC; zero if unknown
}

// aheadSpans is the number of averaged spans: the next fifty minutes.
const aheadSpans = 5

// Ahead returns the mean of a list's values over the first five spans that begin after now, a time in seconds. If no
// span begins after now, Ahead returns NaN.
func (f *Forecast) Ahead(list []float64, now int64) float64 {
	from := f.after(now)
	if from == len(list) {
		return math.NaN()
	}
	list = list[from:min(from+aheadSpans, len(list))]
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// after returns the first span that begins after a second.
func (f *Forecast) after(now int64) int {
	if len(f.At) == 0 || f.At[len(f.At)-1] <= now {
		return len(f.At)
	}
	low, high := 0, len(f.At)
	for low < high {
		if mid := (low + high) / 2; f.At[mid] <= now {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// ShiftTo converts a forecast's times to the time scale of a trace. The argument zero is the date at which the trace's
// time is 0.
func (f *Forecast) ShiftTo(zero time.Time) {
	if len(f.At) == 0 || f.First.IsZero() {
		return
	}
	by := int64(f.First.Sub(zero)/time.Second) - f.At[0]
	for k := range f.At {
		f.At[k] += by
	}
}
