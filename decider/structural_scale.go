package decider

import "math"

// farthest clips scaled values, in standard deviations.
const farthest = 4

// Scale standardizes values by the mean and the deviation of the training data. A value that was
// constant there has a deviation of zero and is scaled to zero, since nothing could be learned
// from it. The zero Scale keeps values.
type Scale struct {
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
}

// constant is the largest deviation that counts as rounding.
const constant = 1e-9

// newScale measures the values of at least one row.
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
