package study

import (
	"encoding/json"
	"math"
	"strconv"
)

// Number is a number that can be written to JSON: NaN and the infinities are written as null.
type Number float64

// mostPlain limits the integers that MarshalJSON writes itself. Floats represent them all.
const mostPlain = 1 << 53

// MarshalJSON writes null for a number that is not finite.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	if v := int64(n); Number(v) == n && v != 0 && -mostPlain < v && v < mostPlain { // as json writes it, in less time
		return strconv.AppendInt(nil, v, 10), nil
	}
	return json.Marshal(float64(n))
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
