package trainer

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// mostPending bounds how many changes wait to be taken. A job takes one within a
// moment, so that more of them are a mistake or an attack.
const mostPending = 64

// Why a change is not taken.
var (
	// ErrOver says that the job has ended.
	ErrOver = errors.New("the job has ended and takes no more changes")
	// ErrConflict says that a change does not fit the devices that the job has.
	ErrConflict = errors.New("the change does not fit the job's devices")
	// ErrBusy says that too many changes wait already.
	ErrBusy = fmt.Errorf("%d changes wait to be taken already", mostPending)
)

// Request is a change that was asked for while a job ran.
type Request struct {
	ID      int    // counts what was asked for from 1, in the order in which it is taken
	Change  Change // up or down
	Devices int    // from then on; zero leaves their number alone

	at   time.Duration // negative until it is taken
	err  error
	done chan struct{}
}

// Done is closed once the job has done and saved the change, or never will.
func (r *Request) Done() <-chan struct{} { return r.done }

// Outcome is when the job took the change, or why it did not. It may be asked for
// when Done is closed.
func (r *Request) Outcome() (time.Duration, error) { return r.at, r.err }

func (r *Request) finish(err error) {
	r.err = err
	close(r.done)
}

// Live is a scheduler that follows a timeline and takes changes that are asked for
// while the job runs. Post and Pending are for other goroutines.
//
// What it takes leads to the bits of a job in whose timeline it stood from the
// start: the job looks here before it does anything, and a change is taken at the
// first look at which the clock shows another time than when there was none.
type Live struct {
	Planned
	waiting atomic.Pointer[[]*Request] // a copy of queue for those who only look

	mu     sync.Mutex
	queue  []*Request    // the first may be taken and not yet settled
	posted int           // in the life of the job
	empty  time.Duration // on the clock, when a look last found nothing; negative at first
	closed bool
	cause  error // why it is closed
}

// NewLive follows a timeline, which may be without events, on a clock.
func NewLive(t Timeline, c Clock) *Live {
	l := &Live{Planned: *NewPlanned(t, c), empty: -1}
	l.publish()
	return l
}

// Post asks for a change, and returns at once. A change that is left out follows
// from the devices, of which there are then more or fewer than when all that waits
// is done.
func (l *Live) Post(c Change, devices int) (*Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, l.cause
	}
	if len(l.queue) >= mostPending {
		return nil, ErrBusy
	}
	c, err := l.resolve(c, devices)
	if err != nil {
		return nil, err
	}
	l.posted++
	r := &Request{ID: l.posted, Change: c, Devices: devices, at: -1, done: make(chan struct{})}
	l.queue = append(l.queue, r)
	l.publish()
	return r, nil
}

// resolve says what a change is, and refuses one that contradicts itself.
func (l *Live) resolve(c Change, devices int) (Change, error) {
	if c != Same && c != Up && c != Down || devices < 0 || c == Same && devices == 0 {
		return c, fmt.Errorf("a change %q to %d devices; there are up and down, to at least one device", string(c), devices)
	}
	have := l.expected()
	switch {
	case devices == 0:
		return c, nil
	case c == Same && devices == have:
		return c, fmt.Errorf("%w: it has %d already", ErrConflict, have)
	case c == Same && devices > have:
		return Up, nil
	case c == Same:
		return Down, nil
	case c == Up && devices < have:
		return c, fmt.Errorf("%w: it has %d, and up to %d would be fewer", ErrConflict, have, devices)
	case c == Down && devices > have:
		return c, fmt.Errorf("%w: it has %d, and down to %d would be more", ErrConflict, have, devices)
	}
	return c, nil
}

// expected is how many devices there are when all that waits is done.
func (l *Live) expected() int {
	have := l.standing.Devices
	for _, r := range l.queue {
		if r.Devices > 0 {
			have = r.Devices
		}
	}
	return have
}

// Pending is what was asked for and is not done and saved yet, in order. It waits
// for nobody.
func (l *Live) Pending() []*Request { return *l.waiting.Load() }

func (l *Live) publish() {
	list := slices.Clone(l.queue)
	l.waiting.Store(&list)
}

// Allocation takes the next event of the timeline if its time has come, or else what
// was asked for first.
func (l *Live) Allocation() Allocation {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.look(now)
	if a.Change != Same {
		return a
	}
	if len(l.queue) == 0 || l.queue[0].at >= 0 || now == l.empty || now > l.timeline.Budget {
		l.empty = now
		return a
	}
	r := l.queue[0]
	r.at = now
	e := Event{At: now, Change: r.Change, Devices: r.Devices}
	l.standing.Live = append(l.standing.Live, Taken(e))
	a = l.take(e)
	a.Settled = func() { l.settle(r) }
	return a
}

// settle tells those who wait for a change that it is done and saved.
func (l *Live) settle(r *Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = slices.DeleteFunc(l.queue, func(q *Request) bool { return q == r })
	l.publish()
	r.finish(nil)
}

// Standing is how far the job has come.
func (l *Live) Standing() Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.standing
}

// Resume goes on from there. Nothing else is taken before the clock has moved.
func (l *Live) Resume(s Standing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.standing, l.posted, l.empty = s, len(s.Live), l.clock.Now()
}

// End refuses what waits and what is asked for from now on.
func (l *Live) End(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed, l.cause = true, ErrOver
	if err != nil {
		l.cause = fmt.Errorf("the job did not take the change: %w", err)
	}
	for _, r := range l.queue {
		r.finish(l.cause)
	}
	l.queue = nil
	l.publish()
}
