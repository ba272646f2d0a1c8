package trace

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNeverStarted(t *testing.T) {
	for _, c := range []struct {
		name string
		job  Job
		want bool
	}{
		{"cancelled while it waited", Job{State: Cancelled}, true},
		{"pending", Job{State: Pending}, true},
		{"waits for another start", Job{State: Requeued}, true},
		{"waits for another start after it ran", Job{State: Requeued, Duration: 1}, false},
		{"cancelled while it ran", Job{State: Cancelled, Duration: 1}, false},
		{"failed at once", Job{State: Failed}, false},
		{"just started", Job{State: Running}, false},
		{"unknown state", Job{}, false},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, c.job.NeverStarted()) })
	}
}

func TestRunaway(t *testing.T) {
	const day, hour = 86400, 3600
	for _, c := range []struct {
		name string
		job  Job
		want bool
	}{
		{"an hour and a second beyond the limit", Job{State: Running, Limit: day, Duration: day + hour + 1}, true},
		{"an hour beyond the limit", Job{State: Running, Limit: day, Duration: day + hour}, false},
		{"no limit", Job{State: Running, Duration: 300 * day}, false},
		{"the limit ended it late", Job{State: TimedOut, Limit: day, Duration: 2 * day}, false},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, c.job.Runaway()) })
	}
}
