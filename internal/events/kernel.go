package events

// Never is a time after all events. Every event must be scheduled before this time.
const Never = int64(1)<<62 - 1

// Kernel keeps the pending events and the clock of a simulation. The caller chooses the unit of time. Among events at
// the same time, the one with the lower priority number comes first, then the one scheduled first. The zero value is an
// empty kernel at time zero.
type Kernel[E any] struct {
	heap  Heap[E]
	now   int64
	order int64
}

// NewKernel returns an empty kernel and sets its clock to now.
func NewKernel[E any](now int64) *Kernel[E] { return &Kernel[E]{now: now} }

// Now returns the current simulation time.
func (k *Kernel[E]) Now() int64 { return k.now }

// Len returns the number of pending events.
func (k *Kernel[E]) Len() int { return k.heap.Len() }

// Next returns the time of the next event, or Never if no event is pending.
func (k *Kernel[E]) Next() int64 {
	if len(k.heap.entries) == 0 {
		return Never
	}
	return k.heap.entries[0].key[0]
}

// Peek returns the next event and its time, without removing it. If no event is pending, ok is false.
func (k *Kernel[E]) Peek() (at int64, event E, ok bool) {
	if len(k.heap.entries) == 0 {
		return Never, event, false
	}
	head := &k.heap.entries[0]
	return head.key[0], k.heap.slots[head.handle].item, true
}

// Schedule adds an event at a point in time, and returns its handle. If the time is in the past, the event happens at
// the current time.
func (k *Kernel[E]) Schedule(at int64, priority int, event E) Handle {
	k.order++
	return k.heap.Push(Key{max(at, k.now), int64(priority), k.order}, event)
}

// Reschedule moves an event to another time. The event keeps its priority and, among events with the same time and
// priority, its place in the order of the calls of Schedule. If the time is in the past, the event happens at the
// current time.
func (k *Kernel[E]) Reschedule(handle Handle, at int64) {
	key := k.heap.Key(handle)
	key[0] = max(at, k.now)
	k.heap.Move(handle, key)
}

// At returns the time of the pending event with the given handle.
func (k *Kernel[E]) At(handle Handle) int64 { return k.heap.Key(handle)[0] }

// Event returns the pending event with the given handle.
func (k *Kernel[E]) Event(handle Handle) E { return k.heap.Item(handle) }

// Cancel removes an event.
func (k *Kernel[E]) Cancel(handle Handle) { k.heap.Remove(handle) }

// Step removes the next event and advances the clock to its time. If no event is pending, ok is false and the clock
// does not change. For a recurring event, Reschedule is cheaper than Step and Schedule.
func (k *Kernel[E]) Step() (event E, ok bool) {
	if len(k.heap.entries) == 0 {
		return event, false
	}
	head := &k.heap.entries[0]
	k.now = head.key[0]
	return k.heap.Remove(head.handle), true
}

// Advance moves the clock forward to a time, but not beyond the next event. It never moves the clock back.
func (k *Kernel[E]) Advance(to int64) { k.now = max(k.now, min(to, k.Next())) }

// NextMultiple returns the first multiple of period that is greater than now. The argument now must not be negative.
func NextMultiple(now, period int64) int64 { return (now/period + 1) * period }
