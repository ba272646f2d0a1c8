package app

import (
	"context"
	"time"

	"graft/fleet"
	"graft/results"
)

// Track starts to write the progress of a run into its folder, so that lists of runs can show it. Progress is counted
// in the given unit, such as cells.
func (e *Env) Track(folder, unit string) *results.Tracker {
	return results.NewTracker(e.Files, folder, e.Now, unit)
}

// pollInterval is the time between two calls to Poll.
const pollInterval = 2 * time.Second

// Poll calls a function every two seconds, from another goroutine, until stop is called. Stop returns only after the
// last call has returned.
func (e *Env) Poll(do func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	clock, over := fleet.NewClock(e.Now), make(chan struct{})
	go func() {
		defer close(over)
		for clock.Wait(ctx, pollInterval) == nil {
			do()
		}
	}()
	return func() {
		cancel()
		<-over
	}
}
