package estimate

import (
	"fmt"
)

// SplitAt parts rows by their times, in any unit: those before a time to learn from, those
// from it on to be judged by.
func SplitAt(times []int64, at int64) (before, from []int) {
	for row, time := range times {
		if time < at {
			before = append(before, row)
		} else {
			from = append(from, row)
		}
	}
	return before, from
}

// Window is a time for which a model predicts, and what it may learn from.
type Window struct {
	From, To int64 // from From on and before To
	Train    []int // rows whose outcome was known before From
	Test     []int // rows of the window
}

// mostWindows is more than anybody learns a model for; a slip of the unit would ask for it.
const mostWindows = 1 << 16

// WalkForward cuts time from first on into windows of equal length, up to the last row,
// as if a model were learned anew at the start of each. known says when the outcome of
// each row was, which nobody can learn from before; nil means at the row's time.
func WalkForward(times, known []int64, first, every int64) ([]Window, error) {
	if known == nil {
		known = times
	}
	if every < 1 || len(known) != len(times) {
		return nil, fmt.Errorf("walking forward: windows are %d long, and there are %d times and %d of outcomes; give as many, and a length above zero", every, len(times), len(known))
	}
	last := first - 1
	for _, time := range times {
		last = max(last, time)
	}
	if (last-first)/every >= mostWindows {
		return nil, fmt.Errorf("walking forward from %d to %d by %d would take more than %d windows; look at the unit", first, last, every, mostWindows)
	}
	var windows []Window
	for from := first; from <= last; from += every {
		w := Window{From: from, To: from + every}
		for row, time := range times {
			if known[row] < from {
				w.Train = append(w.Train, row)
			}
			if time >= from && time < w.To {
				w.Test = append(w.Test, row)
			}
		}
		windows = append(windows, w)
	}
	return windows, nil
}
