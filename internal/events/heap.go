package events

import (
	"math"
	"slices"
)

// Key determines the position of an entry in a heap. Keys are compared by the first number, then the second, then the
// third.
type Key [3]int64

// Before reports whether the key is smaller than another key.
func (k *Key) Before(other *Key) bool {
	if k[0] != other[0] {
		return k[0] < other[0]
	}
	if k[1] != other[1] {
		return k[1] < other[1]
	}
	return k[2] < other[2]
}

// Float converts a float to an integer for a Key and preserves the order. Zero and negative zero are equal; a NaN sorts
// before or after all other numbers.
func Float(x float64) int64 {
	b := int64(math.Float64bits(x + 0)) // +0 turns -0 into 0
	if b < 0 {
		return math.MinInt64 - b
	}
	return b
}

// Handle identifies an entry of a heap from Push until its removal. Afterwards another entry can get the same handle.
// Zero is never a valid handle.
type Handle int32

// Heap is a binary heap with the smallest key at its head. Entries can be moved and removed by their handles. The order
// of entries with equal keys is unspecified, but depends only on the sequence of calls. The zero value is an empty
// heap. It holds up to 2^31-2 entries.
type Heap[T any] struct {
	entries []entry
	slots   []slot[T] // by handle; the first is never used
	free    Handle    // head of the list of unused handles; zero ends it
}

type entry struct {
	key    Key
	handle Handle
}

// slot holds an item and its index among the entries. In an unused slot the index is the next unused handle.
type slot[T any] struct {
	item T
	at   int32
}

// Clone returns a heap with the same entries and handles. Items are copied shallowly.
func (h *Heap[T]) Clone() Heap[T] {
	return Heap[T]{slices.Clone(h.entries), slices.Clone(h.slots), h.free}
}

// Len returns the number of entries.
func (h *Heap[T]) Len() int { return len(h.entries) }

// Head returns the key and the item of the entry at the head. If the heap is empty, ok is false.
func (h *Heap[T]) Head() (key Key, item T, ok bool) {
	if len(h.entries) == 0 {
		return key, item, false
	}
	head := &h.entries[0]
	return head.key, h.slots[head.handle].item, true
}

// Push adds an item with a key and returns its handle.
func (h *Heap[T]) Push(key Key, item T) Handle {
	handle := h.free
	if handle == 0 {
		if len(h.slots) == 0 {
			h.slots = append(h.slots, slot[T]{})
		}
		handle = Handle(len(h.slots))
		h.slots = append(h.slots, slot[T]{item: item})
	} else {
		h.free = Handle(h.slots[handle].at)
		h.slots[handle].item = item
	}
	h.entries = append(h.entries, entry{})
	h.up(len(h.entries)-1, entry{key, handle})
	return handle
}

// Pop removes the entry at the head and returns its key and item. If the heap is empty, ok is false.
func (h *Heap[T]) Pop() (key Key, item T, ok bool) {
	if len(h.entries) == 0 {
		return key, item, false
	}
	key = h.entries[0].key
	return key, h.Remove(h.entries[0].handle), true
}

// Key returns the key of the entry with the given handle.
func (h *Heap[T]) Key(handle Handle) Key { return h.entries[h.slots[handle].at].key }

// Item returns the item of the entry with the given handle.
func (h *Heap[T]) Item(handle Handle) T { return h.slots[handle].item }

// Move changes the key of an entry.
func (h *Heap[T]) Move(handle Handle, key Key) {
	h.fix(int(h.slots[handle].at), entry{key, handle})
}

// Remove removes an entry and returns its item.
func (h *Heap[T]) Remove(handle Handle) T {
	s, last := &h.slots[handle], len(h.entries)-1
	at, item, moved := int(s.at), s.item, h.entries[last]
	*s = slot[T]{at: int32(h.free)}
	h.free = handle
	h.entries = h.entries[:last]
	if at < last {
		h.fix(at, moved)
	}
	return item
}

// Clear removes all entries.
func (h *Heap[T]) Clear() {
	clear(h.slots)
	h.entries, h.slots, h.free = h.entries[:0], h.slots[:0], 0
}

// fix puts an entry at an index and restores the heap order.
func (h *Heap[T]) fix(at int, e entry) {
	if at > 0 && e.key.Before(&h.entries[(at-1)/2].key) {
		h.up(at, e)
		return
	}
	h.down(at, e)
}

// up puts an entry at an index or above it.
func (h *Heap[T]) up(at int, e entry) {
	for at > 0 {
		parent := (at - 1) / 2
		if !e.key.Before(&h.entries[parent].key) {
			break
		}
		h.put(at, h.entries[parent])
		at = parent
	}
	h.put(at, e)
}

// down puts an entry at an index or below it.
func (h *Heap[T]) down(at int, e entry) {
	for {
		least := 2*at + 1
		if least >= len(h.entries) {
			break
		}
		if right := least + 1; right < len(h.entries) && h.entries[right].key.Before(&h.entries[least].key) {
			least = right
		}
		if !h.entries[least].key.Before(&e.key) {
			break
		}
		h.put(at, h.entries[least])
		at = least
	}
	h.put(at, e)
}

func (h *Heap[T]) put(at int, e entry) {
	h.entries[at] = e
	h.slots[e.handle].at = int32(at)
}
