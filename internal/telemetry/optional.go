package telemetry

import (
	"encoding/json"
	"math"
)

// Optional is a value that can be unknown. The zero value is unknown.
type Optional[T any] struct {
	value T
	known bool
}

// Known returns an Optional that holds the given value.
func Known[T any](value T) Optional[T] { return Optional[T]{value, true} }

// Number returns a known number, or an unknown one for NaN and infinities.
func Number(value float64) Optional[float64] {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Optional[float64]{}
	}
	return Known(value)
}

// Get returns the value and true, or a zero value and false if it is unknown.
func (o Optional[T]) Get() (T, bool) { return o.value, o.known }

// Cell returns the value for a cell of a results table, or nil if it is unknown.
func (o Optional[T]) Cell() any {
	if !o.known {
		return nil
	}
	return o.value
}

// MarshalJSON writes the value, or null if it is unknown.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Cell()) }

// UnmarshalJSON reads a value; null means unknown.
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
