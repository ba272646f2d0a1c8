package main

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/results/failure"
)

// patience bounds a wait that never ends: a loaded machine may take minutes.
const patience = 15 * time.Minute

// receive waits for a value and fails the test when none comes.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		require.FailNow(t, "the signal had no effect")
		panic("not reached")
	}
}

func TestFirstSignalCancelsAndTheSecondLeaves(t *testing.T) {
	for name, signal := range map[string]os.Signal{
		"SIGINT":  os.Interrupt,
		"SIGTERM": syscall.SIGTERM,
	} {
		t.Run(name, func(t *testing.T) {
			left := make(chan int, 1)
			ctx, stop := withSignals(context.Background(), func(code int) { left <- code })
			defer stop()
			self, err := os.FindProcess(os.Getpid())
			require.NoError(t, err)

			require.NoError(t, self.Signal(signal))
			receive(t, ctx.Done())
			assert.ErrorContains(t, context.Cause(ctx), signal.String())
			assert.Empty(t, left, "the first signal must not end the process")

			require.NoError(t, self.Signal(signal))
			assert.Equal(t, int(failure.Interrupted), receive(t, left))
		})
	}
}
