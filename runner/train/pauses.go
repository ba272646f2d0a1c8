package train

import (
	"context"
	"time"

	"go.uber.org/zap"

	"graft/fleet"
)

const (
	// pauseInterval is the time between two looks at the clock.
	pauseInterval = time.Second
	// shortestPause is the shortest pause that is reported. Busy machines delay a process by less.
	shortestPause = 5 * time.Second
)

// watchPauses calls found after each time in which this process did not run, until ctx ends. A scheduler that suspends
// the process with SIGSTOP, or freezes its cgroup, causes such a pause.
func watchPauses(ctx context.Context, c fleet.Clock, found func(pause time.Duration)) {
	for last := c.Now(); c.Wait(ctx, pauseInterval) == nil; {
		now := c.Now()
		if pause := now - last - pauseInterval; pause >= shortestPause {
			found(pause)
		}
		last = now
	}
}

// warnOfPauses warns of pauses of a job on the wall clock, which charges them to the budget, until stop is called.
func (j *job) warnOfPauses(ctx context.Context) (stop func()) {
	if profile, err := j.Profile(); err != nil || profile != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		watchPauses(ctx, fleet.NewClock(j.env.Now), func(pause time.Duration) {
			j.env.Log.Warn("the process was suspended, or got no processor; the wall clock charged the pause to the "+
				"budget, so do not compare this job with others; run it again", zap.Duration("pause", pause))
		})
	}()
	return func() {
		cancel()
		<-done
	}
}
