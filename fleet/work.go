package fleet

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
)

// Work does tasks that others may be doing as well, until none is left. left lists those
// without a result; do does one whose lease is kept for it, and commits its result so
// that of several one succeeds. It should first see whether the result has come to be
// there, and stop when its context ends: the task is another's then, and its error is
// not one. Any other error ends the work. Each worker begins at another task, so that
// few of them want the same one.
func (l *Leases) Work(ctx context.Context, left func() ([]string, error), do func(ctx context.Context, task string) error) error {
	for {
		tasks, err := left()
		if err != nil || len(tasks) == 0 {
			return err
		}
		done, err := l.workThrough(ctx, tasks, do)
		if err == nil && !done {
			// All that is left is being done; some of it may become free.
			err = l.o.Clock.Wait(ctx, l.o.Beat)
		}
		if err != nil {
			return err
		}
	}
}

// workThrough tries each task once, and says whether it has had any.
func (l *Leases) workThrough(ctx context.Context, tasks []string, do func(ctx context.Context, task string) error) (any bool, err error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(l.id)) // never fails
	first := int(hash.Sum32() % uint32(len(tasks)))
	for k := range tasks {
		if err := ctx.Err(); err != nil {
			return any, err
		}
		lease, err := l.Take(tasks[(first+k)%len(tasks)])
		if errors.Is(err, ErrTaken) {
			continue
		}
		if err == nil {
			any = true
			err = lease.do(ctx, do)
		}
		if err != nil {
			return any, err
		}
	}
	return any, nil
}

// do does a task while its lease is kept.
func (l *Lease) do(ctx context.Context, do func(ctx context.Context, task string) error) error {
	work := l.Keep(ctx)
	err := do(work, l.task)
	lost := errors.Is(context.Cause(work), ErrLost)
	released := l.Release()
	switch {
	case lost || errors.Is(released, ErrLost):
		if ctx.Err() == nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, ErrLost)) {
			return nil // another has the task
		}
	case err == nil:
		return released
	}
	if err != nil {
		return fmt.Errorf("task %s: %w", l.task, err)
	}
	return ctx.Err()
}
