package study

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/internal/validate"
)

// Arrivals sets the factors by which a simulation speeds up the arrivals of a trace.
type Arrivals struct {
	// Factors that speed up the arrivals of jobs in the trace. The time from the first submission to each later
	// submission is divided by the factor. graft simulates each factor separately. Empty means 1.
	ArrivalFactors []float64
}

// EnsureDefaults fills in defaults.
func (o *Arrivals) EnsureDefaults() {
	if len(o.ArrivalFactors) == 0 {
		o.ArrivalFactors = []float64{1}
	}
}

// Validate returns an error that lists every invalid option.
func (o Arrivals) Validate() error {
	var faults validate.Faults
	for k, factor := range o.ArrivalFactors {
		faults.When(!(factor > 0) || math.IsInf(factor, 0) || slices.Contains(o.ArrivalFactors[:k], factor),
			"arrival_factors[%d] is %v; expected unique, positive numbers", k, factor)
	}
	return errors.Join(faults...)
}

// Points returns the points of the plan: the combinations of swept values, one for each factor.
func (o Arrivals) Points() (list []Point) {
	for _, factor := range o.ArrivalFactors {
		point := Point{Values: map[string]float64{"arrival_factor": factor}}
		if len(o.ArrivalFactors) > 1 {
			point.Name = fmt.Sprintf("arrivals x%g", factor)
		}
		list = append(list, point)
	}
	return list
}
