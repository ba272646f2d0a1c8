package team

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// member is the leader's side of a follower.
type member struct {
	device  int
	process Process
	orders  chan order  // closed when there are no more orders
	answers chan answer // closed when the process is gone
	ready   bool        // its images are loaded, and it waits for orders
	serve   func(storeCall) storeReply
	replies chan storeReply
	written chan struct{} // closed when nothing more is written to the process
}

var (
	errGone   = errors.New("the process exited")
	errLeft   = errors.New("the process left the job")
	errSilent = errors.New("the process does not respond")
)

// pending is the maximum number of waiting orders or answers. Each order is answered before the next, so neither side
// blocks on the pipe.
const pending = 8

// newMember connects to a process, for orders and answers. Serve answers its calls of the group's store.
func newMember(device int, process Process, serve func(storeCall) storeReply) *member {
	m := &member{device: device, process: process, orders: make(chan order, pending),
		answers: make(chan answer, pending), serve: serve, replies: make(chan storeReply), written: make(chan struct{})}
	go m.write()
	go m.read()
	return m
}

func (m *member) write() {
	defer close(m.written)
	out := json.NewEncoder(m.process)
	for {
		select {
		case o, more := <-m.orders:
			if !more {
				_ = m.process.Close()
				return
			}
			_ = out.Encode(o) // a lost process is found by its missing answer
		case r := <-m.replies:
			_ = out.Encode(order{Stored: &r})
		}
	}
}

func (m *member) read() {
	defer close(m.answers)
	in := bufio.NewReader(m.process)
	for {
		var a answer
		if readJSON(in, answerLine, &a) != nil {
			return
		}
		if a.Store == nil {
			m.answers <- a
			continue
		}
		select {
		case m.replies <- m.serve(*a.Store):
		case <-m.written:
		}
	}
}

// parted returns why an idle member has ended, or nil. A member that leaves says so, even between two orders.
func (m *member) parted() error {
	for {
		select {
		case a, more := <-m.answers:
			if !more {
				return errGone
			}
			if a.Leaves {
				return errLeft
			}
		default:
			return nil
		}
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

// Time limits for a process to end by itself: dismissTimeout counts from its dismissal; exitTimeout counts from the end
// of its pipe, so that its exit status is known.
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
