package decider

import (
	"math"
	"slices"

	"graft/internal/stat"
)

// farthest is the limit of scaled values, in standard deviations.
const farthest = 4

// Scale standardizes values by the mean and the standard deviation of the training data. A value that was constant in
// the training data has a deviation of zero and is scaled to zero, since the policy could not learn from it. An unknown
// value, NaN, is also scaled to zero. The zero Scale leaves known values unchanged.
type Scale struct {
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
	// smallest and largest value in the training data; nil means unknown, as in older files
	Low  []float64 `json:"low,omitempty"`
	High []float64 `json:"high,omitempty"`
}

// constant is the largest deviation that is treated as rounding.
const constant = 1e-9

// newScale measures the known values of at least one row.
func newScale(rows [][]float64) Scale {
	inputs := len(rows[0])
	s := Scale{make([]float64, inputs), make([]float64, inputs), make([]float64, inputs), make([]float64, inputs)}
	for k := range s.Mean {
		var values []float64
		for _, row := range rows {
			if !math.IsNaN(row[k]) {
				values = append(values, row[k])
			}
		}
		if len(values) == 0 {
			continue
		}
		var d float64
		s.Low[k], s.High[k] = slices.Min(values), slices.Max(values)
		if s.Mean[k], d = stat.Population(values); d > constant {
			s.Deviation[k] = d
		}
	}
	return s
}

// Without returns a copy of the scale in which the named inputs, or groups of inputs, count as constant, so that a
// policy cannot use them.
func (s Scale) Without(names []string) Scale {
	names = expandInputs(names)
	s.Deviation = slices.Clone(s.Deviation)
	for k, name := range InputNames()[:len(s.Deviation)] {
		if slices.Contains(names, name) {
			s.Deviation[k] = 0
		}
	}
	return s
}

// extended returns the scale with further inputs that count as constant.
func (s Scale) extended(inputs int) Scale {
	if s.Mean == nil {
		return s
	}
	more := make([]float64, max(0, inputs-len(s.Mean)))
	return s.each(func(values []float64) []float64 { return append(slices.Clip(values), more...) })
}

// each returns the scale with its known lists changed.
func (s Scale) each(change func([]float64) []float64) Scale {
	for _, values := range []*[]float64{&s.Mean, &s.Deviation, &s.Low, &s.High} {
		if *values != nil {
			*values = change(*values)
		}
	}
	return s
}

// Apply scales rows in place.
func (s Scale) Apply(rows [][]float64) {
	for _, row := range rows {
		for k := range row {
			switch {
			case math.IsNaN(row[k]) || s.Mean != nil && s.Deviation[k] == 0:
				row[k] = 0
			case s.Mean != nil:
				row[k] = min(farthest, max(-farthest, (row[k]-s.Mean[k])/s.Deviation[k]))
			}
		}
	}
}
