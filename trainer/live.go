package trainer

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"graft/internal/words"
	"graft/trainer/clock"
)

// mostPending limits the number of waiting changes. A job takes one within moments, so a longer queue is a mistake or
// an attack.
const mostPending = 64

// Reasons for refusing a requested change.
var (
	// ErrOver reports that the job has ended.
	ErrOver = errors.New("the job has ended and accepts no more changes")
	// ErrConflict reports that a change does not match the job's devices.
	ErrConflict = errors.New("the change conflicts with the job's devices")
	// ErrBusy reports that too many changes are waiting.
	ErrBusy = fmt.Errorf("%d changes are already pending", mostPending)
)

// Request is a change of devices that is requested while a job runs.
type Request struct {
	ID      int    // number of the request, from 1, in order of arrival
	Change  Change // direction of the change: up or down
	Devices int    // number of devices after the change; zero means that the number does not change

	wanted Change        // requested direction; empty means that the number of devices determines it
	made   Change        // direction when the change was made
	at     time.Duration // time on the clock when taken; negative before
	err    error
	done   chan struct{}
}

// Done returns a channel that is closed when the job has made and saved the change, or has refused it.
func (r *Request) Done() <-chan struct{} { return r.done }

// Outcome returns the time at which the job made the change, or the reason for refusing it. Call it after Done is
// closed.
func (r *Request) Outcome() (time.Duration, error) { return r.at, r.err }

// Made returns the direction of the change that the job made. It differs from Change if the request gave only a number
// of devices and the timeline changed the devices after Post. Call it after Done is closed.
func (r *Request) Made() Change { return r.made }

func (r *Request) finish(err error) {
	r.err = err
	close(r.done)
}

// Live is a scheduler that follows a timeline and accepts changes that are requested while the job runs. Post and
// Pending are safe for concurrent use.
//
// A request has the same effect as the same change in the timeline. The job queries its allocation before each
// operation. If a query finds no change, a later request takes effect only after the clock has advanced beyond the time
// of that query.
type Live struct {
	Planned
	waiting atomic.Pointer[[]*Request] // a copy of queue, read without the lock

	mu      sync.Mutex
	queue   []*Request    // the first request may be taken but not settled yet
	posted  int           // requests over the life of the job
	empty   time.Duration // time on the clock when no change was last found due; negative at first
	present int           // devices of running processes; zero if processes do not determine the allocation
	closed  bool
	cause   error // cause of closing
}

// NewLive creates a scheduler that follows a timeline according to the given clock. The timeline may have no events.
func NewLive(t Timeline, c clock.Clock) *Live {
	l := &Live{Planned: *NewPlanned(t, c), empty: -1}
	l.publish()
	return l
}

// Post requests a change and returns immediately. If c is empty, Post derives the direction: it compares the given
// number of devices with the number after all waiting requests.
func (l *Live) Post(c Change, devices int) (*Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, l.cause
	}
	if len(l.queue) >= mostPending {
		return nil, ErrBusy
	}
	resolved, err := l.resolve(c, devices)
	if err != nil {
		return nil, err
	}
	l.posted++
	r := &Request{ID: l.posted, Change: resolved, Devices: devices, wanted: c, at: -1, done: make(chan struct{})}
	l.queue = append(l.queue, r)
	l.publish()
	return r, nil
}

// resolve derives the direction of an empty change, and refuses a contradictory one.
func (l *Live) resolve(c Change, devices int) (Change, error) {
	if c != Same && c != Up && c != Down || devices < 0 || c == Same && devices == 0 {
		return c, fmt.Errorf("invalid change of devices: direction %q, %d devices; expected direction \"up\" or "+
			"\"down\" "+
			"and at least one device", string(c), devices)
	}
	if devices > 0 && l.present > 0 {
		return c, fmt.Errorf("%w: with parallel.elastic = true, the processes that join and leave determine the "+
			"devices", ErrConflict)
	}
	return direction(c, devices, l.expected())
}

// direction derives the direction of an empty change of the given number of devices, and refuses a contradictory one.
func direction(c Change, devices, have int) (Change, error) {
	switch {
	case devices == 0:
		return c, nil
	case c != Up && devices == have:
		return c, fmt.Errorf("%w: the job already has %s", ErrConflict, words.Plural(have, "device"))
	case c == Same && devices > have:
		return Up, nil
	case c == Same:
		return Down, nil
	case c == Up && devices < have:
		return c, fmt.Errorf("%w: the job has %d devices, but change \"up\" requests only %d", ErrConflict, have,
			devices)
	case c == Down && devices > have:
		return c, fmt.Errorf("%w: the job has only %d devices, but change \"down\" requests %d", ErrConflict, have,
			devices)
	}
	return c, nil
}

// expected is the number of devices after all waiting requests.
func (l *Live) expected() int {
	have := l.standing.Devices
	for _, r := range l.queue {
		if r.Devices > 0 {
			have = r.Devices
		}
	}
	return have
}

// Pending returns the requests whose changes are not saved yet, in order. It does not block.
func (l *Live) Pending() []*Request { return *l.waiting.Load() }

func (l *Live) publish() {
	list := slices.Clone(l.queue)
	l.waiting.Store(&list)
}

// Allocation returns the timeline's next event if it is due, otherwise the first waiting request. It refuses requests
// that contradict the events since they were posted. Without an event or a request, it changes the number of devices by
// one towards the number that Present set.
func (l *Live) Allocation() Allocation {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.look(now)
	if a.Change != Same {
		return a
	}
	if now == l.empty || now > l.timeline.Budget {
		l.empty = now
		return a
	}
	l.refuseContradictory()
	if !l.due() {
		l.empty = now
		return a
	}
	if len(l.queue) > 0 {
		return l.accept(l.queue[0], now)
	}
	l.posted++ // requests count all changes outside the timeline
	return l.change(l.nearer(now), l.posted)
}

// refuseContradictory refuses the first waiting requests, as long as they contradict the present number of devices.
func (l *Live) refuseContradictory() {
	for len(l.queue) > 0 && l.queue[0].at < 0 {
		r := l.queue[0]
		var err error
		if r.made, err = direction(r.wanted, r.Devices, l.standing.Devices); err == nil {
			return
		}
		l.queue = slices.Delete(l.queue, 0, 1)
		l.publish()
		r.finish(err)
	}
}

// accept makes the change of a request.
func (l *Live) accept(r *Request, now time.Duration) Allocation {
	r.at = now
	a := l.change(Event{At: now, Change: r.made, Devices: r.Devices}, r.ID)
	a.Settled = func() { l.settle(r) }
	return a
}

// change makes a change outside the timeline.
func (l *Live) change(e Event, id int) Allocation {
	c := LiveChange{At: e.At, Change: e.Change, Devices: e.Devices}
	if id != len(l.standing.Live)+1 {
		c.ID = id
	}
	l.standing.Live = append(l.standing.Live, c)
	return l.take(e)
}

// due reports whether a request is waiting, or the number of devices differs from the present devices.
func (l *Live) due() bool {
	if len(l.queue) > 0 {
		return l.queue[0].at < 0
	}
	return l.present > 0 && l.present != l.standing.Devices
}

// nearer returns a change by one device towards the present devices.
func (l *Live) nearer(now time.Duration) Event {
	if have := l.standing.Devices; l.present < have {
		return Event{At: now, Change: Down, Devices: have - 1}
	}
	return Event{At: now, Change: Up, Devices: l.standing.Devices + 1}
}

// Present sets the number of devices that have a running process. The allocation moves towards this number by one
// device at a time.
func (l *Live) Present(devices int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.present = devices
}

// settle completes a request whose change is made and saved.
func (l *Live) settle(r *Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = slices.DeleteFunc(l.queue, func(q *Request) bool { return q == r })
	l.publish()
	r.finish(nil)
}

// Standing returns the state from which Resume continues.
func (l *Live) Standing() SchedulerState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.standing
}

// Resume continues from a state. No change is made before the clock has advanced.
func (l *Live) Resume(s SchedulerState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.standing, l.posted, l.empty = s, len(s.Live), l.clock.Now()
	if n := len(s.Live); n > 0 {
		l.posted = s.Live[n-1].Number(n - 1)
	}
}

// End refuses all waiting requests and all later requests.
func (l *Live) End(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed, l.cause = true, ErrOver
	if err != nil {
		l.cause = fmt.Errorf("the job did not accept the change: %w", err)
	}
	for _, r := range l.queue {
		r.finish(l.cause)
	}
	l.queue = nil
	l.publish()
}
