// Package nodetest provides the conformance suite for schedulers of a machine's tasks, and random studies.
package nodetest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
)

// Draw creates a study whose tasks can all complete. Ties between tasks are frequent.
func Draw(r *rand.Rand) node.Study {
	s := node.Study{Options: node.Options{
		GPUs: 1 + r.IntN(4), Memory: 100, Together: r.IntN(3), Whole: r.IntN(2) == 0, Keep: r.IntN(2) == 0,
		Switch: time.Duration(r.IntN(3)) * time.Second,
	}}
	if r.IntN(2) == 0 {
		s.Speed = node.Shares{Contention: r.Float64()}
	}
	for k := range 1 + r.IntN(25) {
		t := node.Spec{
			Cores: float64(1 + r.IntN(100)), Memory: float64(r.IntN(101)),
			Work: time.Duration(r.IntN(20)) * time.Second, Flow: string(rune('a' + r.IntN(3))),
			Arrival: time.Duration(r.IntN(3)*r.IntN(10)) * time.Second, Priority: r.IntN(4), Tickets: r.IntN(5),
			Weight: float64(r.IntN(3)),
		}
		if r.IntN(3) == 0 {
			t.Estimate = time.Duration(1+r.IntN(20)) * time.Second
		}
		if k > 0 && r.IntN(4) == 0 {
			t.After = []int{r.IntN(k)}
		}
		s.Tasks = append(s.Tasks, t)
	}
	return s
}

// Conforms runs the conformance suite on a scheduler. Every task must complete once, after the tasks on which it
// depends. No task may run faster than at full speed, or twice at the same time. No device may exceed its memory, and a
// second run must give the same result.
func Conforms(t *testing.T, kind node.Kind) {
	t.Helper()
	for seed := range uint64(300) {
		s := Draw(rand.New(rand.NewPCG(seed, 7)))
		options := node.SchedulerOptions{Quantum: time.Duration(1+seed%5) * time.Second}
		result, err := s.Run(t.Context(), kind, options)
		require.NoError(t, err, "seed %d", seed)
		again, err := s.Run(t.Context(), kind, options)
		require.NoError(t, err)
		require.Equal(t, result, again, "seed %d", seed)
		check(t, s, kind, result)
	}
}

func check(t *testing.T, s node.Study, kind node.Kind, r *node.Result) {
	t.Helper()
	s.EnsureDefaults()
	require.Equal(t, len(s.Tasks), r.Summary.Completed)
	joules := 0.0
	for k, o := range r.Tasks {
		spec := s.Tasks[k]
		require.GreaterOrEqual(t, o.Began, spec.Arrival, "%s", o.Name)
		require.GreaterOrEqual(t, o.Run, spec.Work, "%s runs faster than full speed", o.Name)
		if !kind.Slices {
			require.Equal(t, 1, o.Starts, "%s was stopped", o.Name)
		}
		for _, before := range spec.After {
			require.GreaterOrEqual(t, o.Began, r.Tasks[before].Ended, "%s started before %s ended", o.Name,
				r.Tasks[before].Name)
		}
		joules += o.Joules
	}
	require.LessOrEqual(t, joules, r.Summary.Joules*(1+rounding), "tasks use more energy than the devices")
	require.GreaterOrEqual(t, r.Summary.Turnaround, node.Bound(s)*(1-rounding))
	checkSpans(t, s, r)
}

// rounding is the relative error of floating-point sums.
const rounding = 1e-9

func checkSpans(t *testing.T, s node.Study, r *node.Result) {
	t.Helper()
	for k, a := range r.Spans {
		memory, cores, together := 0.0, 0.0, 0
		for i, b := range r.Spans {
			// b runs when a begins
			if b.From > a.From || b.To <= a.From {
				continue
			}
			require.True(t, a.Task != b.Task || i == k, "task %d runs twice at the same time", a.Task)
			if a.Device == b.Device {
				memory, cores, together = memory+s.Tasks[b.Task].Memory, cores+s.Tasks[b.Task].Cores, together+1
			}
		}
		require.LessOrEqual(t, memory, s.Options.Memory*(1+rounding))
		if s.Options.Whole {
			require.LessOrEqual(t, cores, 100*(1+rounding))
		}
		if s.Options.Together > 0 {
			require.LessOrEqual(t, together, s.Options.Together)
		}
	}
}
