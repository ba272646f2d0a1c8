package live

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/trace"
)

// twice trains at double speed while a job has more than two devices.
type twice struct{ asked []Timeline }

func (w *twice) Work(_ context.Context, t Timeline, _ int) (Work, error) {
	w.asked = append(w.asked, t)
	left, at, devices := t.Budget, 0.0, t.First
	for _, c := range t.Changes {
		left -= (c.At - at) * speedOf(devices)
		at, devices = c.At, c.Devices
	}
	return Work{Share: (at + left/speedOf(devices)) / t.Budget}, nil
}

func speedOf(devices int) float64 {
	if devices > 2 {
		return 2
	}
	return 1
}

// A job gets more devices, loses them together with some work, and gets them again.
func TestLearnerOfLiveJobs(t *testing.T) {
	w := &twice{}
	traced := []*cluster.Job{{Trace: &trace.Job{ID: "a", GPUs: 2}}, {Trace: &trace.Job{ID: "b", GPUs: 2}}}
	jobs := cluster.NewJobs(traced, func(*cluster.Job) int64 { return 100 })
	j := jobs[0]
	l := Learners(t.Context(), w, 0, []string{"a"})(jobs)
	given := func(gpus int, left, want float64) {
		t.Helper()
		j.GPUs = gpus
		got, err := l.Given(j, left)
		require.NoError(t, err)
		require.InDelta(t, want, got, 1e-9)
	}
	given(2, 100, 100)
	given(4, 60, 30) // after 40 s
	given(2, 20, 40) // after another 10 s, 40 s of the work are left
	given(4, 45, 25) // 5 s of work at double speed are lost
	require.Equal(t, Timeline{Budget: 100, First: 2, Changes: []Change{{40, 4, true}, {50, 2, false}}}, w.asked[2])
	require.Equal(t, Timeline{Budget: 100, First: 2, Changes: []Change{{40, 4, true}}}, w.asked[3],
		"the devices after the lost work")

	require.InDelta(t, 0.7, l.(*Learner).Result(j).Share, 1e-9)
	require.Equal(t, asTraced, l.(*Learner).Result(jobs[1]))
	left, err := l.Given(jobs[1], 7)
	require.NoError(t, err)
	require.Equal(t, 7.0, left)
}
