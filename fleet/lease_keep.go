package fleet

import (
	"context"
	"errors"
	"fmt"
)

// Keep sends heartbeats in the background until the lease is released or ctx ends. Work on the task must use the
// returned context. This context ends when the lease is lost or released, or when ctx ends. If the lease is lost, the
// context's cause wraps ErrLost. A failed heartbeat is repeated while the lease is held.
func (l *Lease) Keep(ctx context.Context) context.Context {
	work, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil || l.over != nil {
		cancel(fmt.Errorf("keep the lease of task %s: Keep was already called, or the lease has ended", l.task))
		return work
	}
	l.stop = func() { cancel(errReleased) }
	l.kept.Add(2)
	go l.beats(work, cancel)
	go l.watch(work, cancel)
	return work
}

// beats sends heartbeats until the work ends.
func (l *Lease) beats(work context.Context, cancel context.CancelCauseFunc) {
	defer l.kept.Done()
	for l.leases.o.Clock.Wait(work, l.leases.o.Beat) == nil {
		if err := l.Beat(); errors.Is(err, ErrLost) {
			cancel(err)
		}
	}
}

// watch ends the work when the lease expires, also while a heartbeat hangs in the file
// system.
func (l *Lease) watch(work context.Context, cancel context.CancelCauseFunc) {
	defer l.kept.Done()
	o := l.leases.o
	for l.Held() {
		l.mu.Lock()
		left := o.Lost - (o.Clock.Now() - l.last)
		l.mu.Unlock()
		if o.Clock.Wait(work, left) != nil {
			return
		}
	}
	cancel(fmt.Errorf("task %s: %w: no heartbeat succeeded for %v", l.task, ErrLost, o.Lost))
}
