package fleet

import (
	"context"
	"time"
)

// Clock measures time. Only differences matter; it never runs backwards.
type Clock interface {
	// Now returns the time since a fixed moment.
	Now() time.Duration
	// Wait returns nil after d, or an error at once when ctx ends.
	Wait(ctx context.Context, d time.Duration) error
}

// NewClock makes a clock from a reader such as time.Now. It uses the monotonic part.
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
