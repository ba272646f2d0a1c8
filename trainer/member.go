package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// member is the leader's side of a follower.
type member struct {
	device  int
	process Process
	orders  chan order  // closed when there are no more
	answers chan answer // closed when the process is gone
	ready   bool        // its images are loaded, and it waits for orders
}

var (
	errGone   = errors.New("it is gone")
	errLeft   = errors.New("it has left")
	errSilent = errors.New("it is silent")
)

// pending is the number of orders or answers that may wait. Each order is answered before
// the next, so neither side blocks on the pipe.
const pending = 8

func newMember(device int, process Process) *member {
	m := &member{device: device, process: process, orders: make(chan order, pending), answers: make(chan answer, pending)}
	go m.write()
	go m.read()
	return m
}

func (m *member) write() {
	out := json.NewEncoder(m.process)
	for o := range m.orders {
		_ = out.Encode(o) // a lost process is found by its missing answer
	}
	_ = m.process.Close()
}

func (m *member) read() {
	defer close(m.answers)
	in := json.NewDecoder(m.process)
	for {
		var a answer
		if in.Decode(&a) != nil {
			return
		}
		m.answers <- a
	}
}

// hear waits for the next answer.
func (m *member) hear(ctx context.Context) (answer, error) {
	take := func(a answer, ok bool) (answer, error) {
		if !ok {
			return a, errGone
		}
		return a, nil
	}
	select {
	case a, ok := <-m.answers: // also after the timeout
		return take(a, ok)
	default:
	}
	select {
	case a, ok := <-m.answers:
		return take(a, ok)
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return answer{}, ctx.Err()
		}
		return answer{}, errSilent
	}
}

// gone reports whether an idle process has ended.
func (m *member) gone() bool {
	select {
	case _, more := <-m.answers:
		return !more
	default:
		return false
	}
}

// end closes the orders, and kills the process if it has not ended within the limit.
func (m *member) end(limit time.Duration) error {
	close(m.orders)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- m.process.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		_ = m.process.Kill()
		return <-ended
	}
}

// Time limits for a process to end by itself: dismissTimeout after it was dismissed,
// exitTimeout after it closed its pipe, so that its exit status is known.
const (
	dismissTimeout = 10 * time.Second
	exitTimeout    = 2 * time.Second
)

// kill ends a process that has failed.
func (m *member) kill(why error) error {
	if !errors.Is(why, errGone) && !errors.Is(why, errLeft) {
		_ = m.process.Kill()
	}
	return m.end(exitTimeout)
}
