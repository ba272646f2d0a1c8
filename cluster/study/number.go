package study

import (
	"encoding/json"
	"math"
)

// Number is a number that can be written to JSON: NaN and the infinities are written as null.
type Number float64

// MarshalJSON writes null for a number that is not finite.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// Known reports whether the number is finite.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// Interval is a mean with its 95% confidence interval. The ends of the interval are null if there are too few values.
type Interval struct {
	Mean Number `json:"mean"` // mean of the values
	Low  Number `json:"low"`  // lower end of the interval
	High Number `json:"high"` // upper end of the interval
}

// Whole reports whether both ends of the interval are finite.
func (i *Interval) Whole() bool { return i != nil && i.Low.Known() && i.High.Known() }
