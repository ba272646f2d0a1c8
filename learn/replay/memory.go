// Package replay stores the experience of a learner, and samples from it uniformly or by priority.
package replay

import (
	"errors"
	"fmt"
	"math"
)

// Source generates random numbers.
type Source interface {
	Float64() float64 // returns a number in [0, 1)
}

// Memory keeps the most recent items, and samples items in proportion to their priorities (proportional prioritization
// of Schaul, Quan, Antonoglou and Silver, ICLR 2016). With equal priorities it samples uniformly.
type Memory[T any] struct {
	// sums is a binary tree of sums: the parent of k is (k-1)/2, and the last capacity entries are
	// the priorities.
	sums  []float64
	items []T
	next  int // index of the next item
	count int // number of stored items
}

// mostItems limits a memory.
const mostItems = 1 << 26

// NewMemory creates an empty memory with the given capacity.
func NewMemory[T any](capacity int) (*Memory[T], error) {
	if capacity < 1 || capacity > mostItems {
		return nil, fmt.Errorf("create a replay memory: capacity is %d; must be between 1 and %d", capacity, mostItems)
	}
	return &Memory[T]{sums: make([]float64, 2*capacity-1), items: make([]T, capacity)}, nil
}

// Capacity returns the maximum number of items.
func (m *Memory[T]) Capacity() int { return len(m.items) }

// Len returns the number of stored items.
func (m *Memory[T]) Len() int { return m.count }

// Item returns the item at an index.
func (m *Memory[T]) Item(place int) T { return m.items[place] }

// Priority returns the priority of the item at an index.
func (m *Memory[T]) Priority(place int) float64 { return m.sums[len(m.items)-1+place] }

// Total returns the sum of all priorities.
func (m *Memory[T]) Total() float64 { return m.sums[0] }

// Most returns the highest priority, or zero for an empty memory.
func (m *Memory[T]) Most() (most float64) {
	for _, p := range m.sums[len(m.items)-1:][:m.count] {
		most = max(most, p)
	}
	return most
}

// Least returns the index of the item with the lowest priority, or of the first such item on a tie. It returns zero for
// an empty memory.
func (m *Memory[T]) Least() (place int) {
	for k := range m.count {
		if m.Priority(k) < m.Priority(place) {
			place = k
		}
	}
	return place
}

// Nth returns the index of the nth item, counted from the oldest item, which has number 0.
func (m *Memory[T]) Nth(n int) int { return (m.next + len(m.items) - m.count + n) % len(m.items) }

// Add stores an item. If the memory is full, the item replaces the oldest one.
func (m *Memory[T]) Add(item T, priority float64) error {
	if err := m.Replace(m.next, item, priority); err != nil {
		return err
	}
	m.next, m.count = (m.next+1)%len(m.items), min(m.count+1, len(m.items))
	return nil
}

// Replace replaces the item at an index. The new item counts as having been added when the old item was.
func (m *Memory[T]) Replace(place int, item T, priority float64) error {
	if err := m.Set(place, priority); err != nil {
		return err
	}
	m.items[place] = item
	return nil
}

// Set changes the priority of the item at an index.
func (m *Memory[T]) Set(place int, priority float64) error {
	if !(priority >= 0) || math.IsInf(priority, 0) {
		return fmt.Errorf("store experience: the priority of item %d is %v; must be finite and not negative", place,
			priority)
	}
	at := len(m.items) - 1 + place
	change := priority - m.sums[at]
	for m.sums[at] = priority; at > 0; {
		at = (at - 1) / 2
		m.sums[at] += change
	}
	return nil
}

// Draw holds items sampled from a memory.
type Draw struct {
	Places  []int
	Weights []float64 // importance weight of each item, at most 1, for unbiased expectations
}

// Draw samples n items, one from each of n equal parts of the sum of priorities. The importance weights correct a
// fraction beta of the bias that priorities cause.
func (m *Memory[T]) Draw(n int, beta float64, random Source) (Draw, error) {
	if m.count == 0 || m.Total() <= 0 {
		return Draw{}, errors.New("sample experience: the memory is empty, or all priorities are zero")
	}
	least := math.Inf(1)
	for _, p := range m.sums[len(m.items)-1:][:m.count] {
		if p > 0 {
			least = min(least, p)
		}
	}
	d, part := Draw{make([]int, n), make([]float64, n)}, m.Total()/float64(n)
	for k := range n {
		low, high := part*float64(k), part*float64(k+1)
		d.Places[k] = m.find(low + (high-low)*random.Float64())
		d.Weights[k] = math.Pow(m.Priority(d.Places[k])/m.Total()/(least/m.Total()), -beta)
	}
	return d, nil
}

// find returns the index at which the running sum of priorities reaches a value.
func (m *Memory[T]) find(value float64) int {
	at := 0
	for 2*at+1 < len(m.sums) {
		left := 2*at + 1
		if value <= m.sums[left] || m.sums[left+1] == 0 { // rounding never leads to an empty entry
			at = left
		} else {
			value -= m.sums[left]
			at = left + 1
		}
	}
	return at - (len(m.items) - 1)
}
