package runs

import "math"

// FiniteOrNil returns a pointer to a number or, for NaN and infinities, nil, which is null in JSON.
func FiniteOrNil(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Value dereferences a number; for nil it returns NaN.
func Value(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// Lengths of a day and an hour in seconds.
const (
	SecondsOfDay  = 86_400
	SecondsOfHour = 3600
)
