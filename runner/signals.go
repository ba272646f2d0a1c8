package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"graft/internal/failure"
)

// withSignals returns a context that the first SIGINT or SIGTERM cancels, so that a command can save its work. The
// second signal exits at once. stop restores the default handling.
func withSignals(parent context.Context, exit func(int)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for received := 0; ; received++ {
			select {
			case s := <-signals:
				if received > 0 {
					exit(int(failure.Interrupted))
				}
				cancel(fmt.Errorf("received signal %q", s))
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// heedRequeue returns a context that SIGUSR1 also cancels. Slurm sends it before an allocation ends.
func heedRequeue(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, syscall.SIGUSR1)
}
