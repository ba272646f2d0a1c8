package train

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stepClock is a clock whose waits take the listed times.
type stepClock struct {
	now   time.Duration
	waits []time.Duration
}

func (c *stepClock) Now() time.Duration { return c.now }

func (c *stepClock) Wait(context.Context, time.Duration) error {
	if len(c.waits) == 0 {
		return context.Canceled
	}
	c.now, c.waits = c.now+c.waits[0], c.waits[1:]
	return nil
}

// A suspension is reported once with its length; the delays of a busy machine are not.
func TestPausesAreReported(t *testing.T) {
	clock := &stepClock{waits: []time.Duration{time.Second, 5 * time.Second, 41 * time.Second, time.Second}}
	var pauses []time.Duration
	watchPauses(t.Context(), clock, func(pause time.Duration) { pauses = append(pauses, pause) })
	require.Equal(t, []time.Duration{40 * time.Second}, pauses)
}
