package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// follower is a process as the leader sees it.
type follower struct {
	device  int
	process Process
	orders  chan order  // closed when there are no more
	answers chan answer // closed when it is gone
	ready   bool        // it has its images, and waits for orders
}

var (
	errGone   = errors.New("it is gone")
	errSilent = errors.New("it is silent")
)

// pending is how many orders or answers may wait. There is an answer to each order
// before the next, so a few are plenty, and neither side waits for a pipe.
const pending = 8

func newFollower(device int, process Process) *follower {
	f := &follower{device: device, process: process, orders: make(chan order, pending), answers: make(chan answer, pending)}
	go f.write()
	go f.read()
	return f
}

func (f *follower) write() {
	out := json.NewEncoder(f.process)
	for o := range f.orders {
		_ = out.Encode(o) // one that is gone is found by its silence
	}
	_ = f.process.Close()
}

func (f *follower) read() {
	defer close(f.answers)
	in := json.NewDecoder(f.process)
	for {
		var a answer
		if in.Decode(&a) != nil {
			return
		}
		f.answers <- a
	}
}

// hear waits for the next answer.
func (f *follower) hear(ctx context.Context) (answer, error) {
	select {
	case a, ok := <-f.answers: // also where the time is up
		if !ok {
			return a, errGone
		}
		return a, nil
	default:
	}
	select {
	case a, ok := <-f.answers:
		if !ok {
			return a, errGone
		}
		return a, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return answer{}, ctx.Err()
		}
		return answer{}, errSilent
	}
}

// gone says whether a process that has nothing to do has ended.
func (f *follower) gone() bool {
	select {
	case _, more := <-f.answers:
		return !more
	default:
		return false
	}
}

// end gives no more orders, and kills a process that does not end by that in time.
func (f *follower) end(limit time.Duration) error {
	close(f.orders)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- f.process.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		_ = f.process.Kill()
		return <-ended
	}
}

// farewell is how long a process that is let go may take to end by itself.
const farewell = 10 * time.Second

// goodbye is how long a process that has closed its end may take to end by itself,
// so that what it ended by is known.
const goodbye = 2 * time.Second

// kill ends a process that cannot go on.
func (f *follower) kill(why error) error {
	if !errors.Is(why, errGone) {
		_ = f.process.Kill()
	}
	return f.end(goodbye)
}
