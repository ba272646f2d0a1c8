package decider

import "math"

// farthest bounds scaled values: what lies further out than this many deviations is
// further than anything that was learned from, and how far says nothing.
const farthest = 4

// Scale is how values are brought to the order of one: by the mean and the deviation
// of those that a policy learns from. A value that did not vary there has a deviation
// of zero and counts for nothing, since nothing could be learned of it. The zero
// Scale leaves values as they are.
type Scale struct {
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
}

// constant is a deviation that is rounding alone.
const constant = 1e-9

// newScale measures values; there is at least one row.
func newScale(rows [][]float64) Scale {
	s := Scale{make([]float64, len(rows[0])), make([]float64, len(rows[0]))}
	for k := range s.Mean {
		for _, row := range rows {
			s.Mean[k] += row[k] / float64(len(rows))
		}
		sum := 0.0
		for _, row := range rows {
			sum += (row[k] - s.Mean[k]) * (row[k] - s.Mean[k])
		}
		if d := math.Sqrt(sum / float64(len(rows))); d > constant {
			s.Deviation[k] = d
		}
	}
	return s
}

// apply scales rows in place.
func (s Scale) apply(rows [][]float64) {
	if s.Mean == nil {
		return
	}
	for _, row := range rows {
		for k := range row {
			if s.Deviation[k] == 0 {
				row[k] = 0
				continue
			}
			row[k] = min(farthest, max(-farthest, (row[k]-s.Mean[k])/s.Deviation[k]))
		}
	}
}
