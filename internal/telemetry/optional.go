package telemetry

import (
	"encoding/json"
	"math"
)

// Optional is a value that may be unknown. The zero value is unknown.
type Optional[T any] struct {
	value T
	known bool
}

// Known returns a known value.
func Known[T any](value T) Optional[T] { return Optional[T]{value, true} }

// Number returns a known number; NaN and infinities are unknown.
func Number(value float64) Optional[float64] {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Optional[float64]{}
	}
	return Known(value)
}

// Get returns the value and true, or the zero of its type and false if it is unknown.
func (o Optional[T]) Get() (T, bool) { return o.value, o.known }

// Cell returns the value for a table of results; nil means unknown.
func (o Optional[T]) Cell() any {
	if !o.known {
		return nil
	}
	return o.value
}

// MarshalJSON writes null for an unknown value.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Cell()) }

// UnmarshalJSON reads null as unknown.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	var value *T
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*o = Optional[T]{}
	if value != nil {
		*o = Known(*value)
	}
	return nil
}
