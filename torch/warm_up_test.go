package torch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// warmedUp trains one epoch in several calls. The parameters warm up over some steps.
func warmedUp(t *testing.T, s *Scope, o ProgramOptions, calls int) (after [][]float64) {
	const steps, size = 4, 13
	n := newTestNet(t, s, Float32, 6, pytorchClasses)
	x, y := n.examples(t, steps*size, 10, pytorchClasses)
	rule := OptimizerOptions{Rule: SGD, LR: 0.05, Momentum: 0.9}
	opt := s.NewOptimizer(Group{Params: n.params, OptimizerOptions: rule})
	p, born := n.program(t, o), laterHalves(t, s, n.params)
	for k := range calls {
		rows := steps / calls * size
		_, err := Train(p, opt, Batches{Inputs: s.Narrow(x, 0, k*rows, rows), Labels: s.Narrow(y, 0, k*rows, rows),
			Size: size, Random: s.NewGenerator(CPU, 1),
			WarmUp: WarmUp{Born: born, Length: 6, Past: int64(k * steps / calls)}})
		require.NoError(t, err)
	}
	for _, x := range n.state() {
		after = append(after, floats(t, x))
	}
	return after
}

// A warm-up does not depend on the grouping of steps into calls, nor on the recording of steps.
func TestWarmUpOfAnyCalls(t *testing.T) {
	within(t, func(s *Scope) {
		want := warmedUp(t, s, ProgramOptions{}, 1)
		require.Equal(t, want, warmedUp(t, s, ProgramOptions{}, 2))
		require.Equal(t, want, warmedUp(t, s, ProgramOptions{}, 4))
		require.Less(t, farthest(want, warmedUp(t, s, ProgramOptions{Graphs: true}, 2)), 1e-6)
	})
}

// Births that do not fit the parameters are refused.
func TestWarmUpRefuses(t *testing.T) {
	within(t, func(s *Scope) {
		n := newTestNet(t, s, Float32, 6, pytorchClasses)
		x, y := n.examples(t, 8, 10, pytorchClasses)
		opt := s.NewOptimizer(Group{Params: n.params, OptimizerOptions: OptimizerOptions{Rule: SGD, LR: 0.05}})
		for says, w := range map[string]WarmUp{
			"1 warm-ups of 10 parameters": {Born: []*Tensor{nil}, Length: 1},
			"a warm-up of shape [3]": {Born: append([]*Tensor{s.Zeros(Float64, CPU, 3)}, make([]*Tensor, 9)...),
				Length: 1},
			"Length is -1": {Length: -1},
		} {
			_, err := Train(n.program(t, ProgramOptions{}), opt, Batches{Inputs: x, Labels: y, Size: 8, WarmUp: w})
			require.ErrorContains(t, err, says)
		}
	})
}
