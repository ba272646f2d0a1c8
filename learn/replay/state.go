package replay

import (
	"fmt"
	"math"
	"slices"
)

// State is the content of a memory as plain data.
type State[T any] struct {
	Items []T       // items by index
	Sums  []float64 // tree of priority sums, including the rounding errors of all changes
	Next  int       // index of the next item to be stored
}

// State returns a snapshot for [Memory.Restore].
func (m *Memory[T]) State() State[T] {
	return State[T]{slices.Clone(m.items[:m.count]), slices.Clone(m.sums), m.next}
}

// Restore restores a memory from a snapshot. On an error, the memory is unchanged.
func (m *Memory[T]) Restore(s State[T]) error {
	capacity, count := len(m.items), len(s.Items)
	switch {
	case len(s.Sums) != len(m.sums) || count > capacity:
		return fmt.Errorf("restore a replay memory: got %d items and %d priority sums; expected at most %d items "+
			"and exactly %d sums", count, len(s.Sums), capacity, len(m.sums))
	case s.Next != count%capacity && (count < capacity || s.Next < 0 || s.Next >= capacity):
		return fmt.Errorf("restore a replay memory: next index %d is invalid for %d items and a capacity of %d",
			s.Next, count, capacity)
	}
	for place, v := range s.Sums {
		if math.IsNaN(v) || math.IsInf(v, 0) || place >= capacity-1 && v < 0 {
			return fmt.Errorf("restore a replay memory: priority sum %d is %v; expected a finite number of at least "+
				"0", place,
				v)
		}
	}
	copy(m.sums, s.Sums)
	clear(m.items)
	m.count, m.next = copy(m.items, s.Items), s.Next
	return nil
}
