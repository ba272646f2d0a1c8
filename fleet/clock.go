package fleet

import (
	"context"
	"time"
)

// Clock measures time and waits. Only differences between its times are meaningful; the clock never runs backwards.
type Clock interface {
	// Now returns the time since a fixed moment.
	Now() time.Duration
	// Wait waits for d and returns nil. If ctx ends, it returns an error at once.
	Wait(ctx context.Context, d time.Duration) error
}

// NewClock creates a clock from a function such as time.Now. It uses the function's monotonic time.
func NewClock(now func() time.Time) Clock { return clock{now, now()} }

type clock struct {
	now   func() time.Time
	start time.Time
}

func (c clock) Now() time.Duration { return c.now().Sub(c.start) }

func (c clock) Wait(ctx context.Context, d time.Duration) error {
	over, cancel := context.WithTimeout(ctx, max(d, 0))
	defer cancel()
	<-over.Done()
	return ctx.Err()
}
