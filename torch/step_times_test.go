package torch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func (t *StepTimes) sum() float64 {
	sum := t.Batch + t.Loss + t.Rest
	for _, list := range [][]float64{t.Forward, t.Backward, t.Updates} {
		for _, seconds := range list {
			sum += seconds
		}
	}
	return sum
}

// timedShare trains, and returns the share of the call's time in the parts of its steps.
func timedShare(t *testing.T, p *Program, o *Optimizer, b Batches) float64 {
	began := time.Now()
	f, err := Train(p, o, b)
	whole := time.Since(began).Seconds()
	require.NoError(t, err)
	sum := 0.0
	for k := range f.Times {
		sum += f.Times[k].sum()
	}
	return sum / whole
}

// The parts of the steps add up to the time of the call. Each operator with weights takes time in both passes, and
// layers that are fused into others take none.
func TestStepsAreTimed(t *testing.T) {
	for _, fast := range []bool{false, true} {
		within(t, func(s *Scope) {
			n := newTestNet(t, s, Float32, 8, 3)
			x, y := n.examples(t, 26, 10, 3)
			p, o := n.program(t, ProgramOptions{Fast: fast}), n.adam(fast)
			b := Batches{Inputs: x, Labels: y, Size: 8}
			plain, err := Train(p, o, b)
			require.NoError(t, err)
			require.Empty(t, plain.Times)
			b.Timed = true
			began := time.Now()
			f, err := Train(p, o, b)
			whole := time.Since(began).Seconds()
			require.NoError(t, err)
			most := 0.0 // share of a call; a busy machine may interrupt some calls outside of their steps
			for range 20 {
				most = max(most, timedShare(t, p, o, b))
			}
			require.Greater(t, most, 0.5, "the parts of steps leave no gaps")
			require.Len(t, f.Times, 4)
			sum := 0.0
			for k := range f.Times {
				one := &f.Times[k]
				sum += one.sum()
				require.Len(t, one.Forward, 10)
				require.Len(t, one.Backward, 10)
				require.Len(t, one.Updates, len(n.params))
				for _, layer := range []int{0, 4, 9} {
					require.Positive(t, one.Forward[layer])
					require.Positive(t, one.Backward[layer])
				}
				require.Equal(t, fast, one.Forward[2] == 0, "the first ReLU")
				for _, seconds := range append([]float64{one.Batch, one.Loss, one.Rest}, one.Updates...) {
					require.Positive(t, seconds)
				}
			}
			require.LessOrEqual(t, sum, whole)
			e, err := Evaluate(p, b)
			require.NoError(t, err)
			require.Len(t, e.Times, 4)
			for _, one := range e.Times {
				require.Positive(t, min(one.Forward[0], one.Forward[9], one.Batch, one.Loss))
				require.Equal(t, fast, one.Forward[2] == 0, "the first ReLU")
				require.Zero(t, one.Backward[0])
				require.Empty(t, one.Updates)
			}
		})
	}
}

// A timed step gives the same bits.
func TestTimedStepsAreTheSame(t *testing.T) {
	within(t, func(s *Scope) {
		a, b := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
		x, y := a.examples(t, 20, 10, 3)
		oa, ob := a.adam(true), b.adam(true)
		fa, err := Train(a.program(t, ProgramOptions{Fast: true}), oa, Batches{Inputs: x, Labels: y, Size: 5, Part: 3})
		require.NoError(t, err)
		fb, err := Train(b.program(t, ProgramOptions{Fast: true}), ob,
			Batches{Inputs: x, Labels: y, Size: 5, Part: 3, Timed: true})
		require.NoError(t, err)
		require.Equal(t, fa.Losses, fb.Losses)
		require.Equal(t, snapshot(t, a, oa), snapshot(t, b, ob))
	})
}

func TestRecordedStepsAreNotTimed(t *testing.T) {
	within(t, func(s *Scope) {
		n := newTestNet(t, s, Float32, 4, 3)
		x, y := n.examples(t, 20, 10, 3)
		_, err := Train(n.program(t, ProgramOptions{Graphs: true}), n.adam(false),
			Batches{Inputs: x, Labels: y, Size: 5, Timed: true})
		require.ErrorContains(t, err, "only steps on the CPU that are not recorded are timed")
	})
}
