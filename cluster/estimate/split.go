package estimate

import "fmt"

// Window is a period for which one model makes predictions, with the rows on which the model was trained.
type Window struct {
	From, To int64 // period from From to below To
	Train    []int // training rows: rows whose outcome was known before From
	Test     []int // rows in the period
}

// Limits of a walk. Larger values indicate a wrong unit: each row is listed once for each later window.
const (
	mostWindows = 1 << 16
	mostListed  = 1 << 28
)

// WalkForward divides the period from the time "first" to the time of the last row into windows of length "every". A
// new model is trained at the start of each window. The list "known" gives the time at which each row's outcome became
// known; nil means the time of the row itself.
func WalkForward(times, known []int64, first, every int64) ([]Window, error) {
	if known == nil {
		known = times
	}
	if every < 1 || len(known) != len(times) {
		return nil, fmt.Errorf("walk forward: got window length %d, %d row timestamps and %d outcome timestamps; "+
			"expected a length of at least 1, and one outcome timestamp for each row", every, len(times), len(known))
	}
	last := first - 1
	for _, time := range times {
		last = max(last, time)
	}
	if (last-first)/every >= mostWindows {
		return nil, fmt.Errorf("walk forward from %d to %d in windows of length %d: more than %d windows; check the "+
			"unit of the timestamps",
			first, last, every, mostWindows)
	}
	if windows := (last-first)/every + 1; last >= first && windows*int64(len(times)) > mostListed {
		return nil, fmt.Errorf("walk forward from %d to %d in windows of length %d: too many windows (%d) for %d "+
			"rows; use longer windows", first, last, every, windows, len(times))
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
