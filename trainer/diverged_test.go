package trainer_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/torch"
	"graft/trainer"
)

// A job whose weights become NaN or infinite ends with ErrDiverged, on the fast path and on the exact one.
func TestDivergenceIsReportedOnEachPath(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	for _, exact := range []bool{true, false} {
		for _, steady := range []bool{true, false} {
			for _, rate := range []float64{1e18, 1e22, 1e30} {
				o := trainer.Options{Seed: 1, Batch: 32, EvalBatch: 100, Exact: exact, Steady: steady,
					Optimizer: torch.OptimizerOptions{Rule: torch.SGD, LR: rate},
					Timeline:  trainer.Timeline{Budget: time.Second}}
				_, err := runJob(t, o, trainer.Parts{})
				require.ErrorIs(t, err, trainer.ErrDiverged, "exact %v, steady %v, rate %v", exact, steady, rate)
				require.ErrorContains(t, err, "of epoch 0", "exact %v, steady %v, rate %v: not only when it is saved",
					exact, steady, rate)
			}
		}
	}
}

// NaN passes through BatchNorm, ReLU and pools on the fast path, in training and in evaluation.
func TestNotANumberPassesFusedLayers(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n := smallNetwork()
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
		p, err := n.Program(s, torch.ProgramOptions{Fast: true})
		require.NoError(t, err)
		x := s.Full(math.NaN(), torch.Float32, torch.CPU, 4, 3, side, side)
		for _, training := range []bool{false, true} {
			values, err := torch.Values[float32](p.Forward(s, x, training, nil))
			require.NoError(t, err)
			for _, v := range values {
				require.True(t, math.IsNaN(float64(v)), "training %v", training)
			}
		}
		return nil
	}))
}

// Running statistics that overflow while losses stay finite end the job at the next evaluation, not at its end.
func TestOverflowingStatisticsAreReportedEarly(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	book := &memory{}
	o := trainer.Options{Seed: 1, Batch: 32, EvalBatch: 100, Exact: true,
		Optimizer: torch.OptimizerOptions{Rule: torch.SGD, LR: 1e10}, Timeline: trainer.Timeline{Budget: time.Second}}
	_, err := runJob(t, o, trainer.Parts{Recorder: book})
	require.ErrorIs(t, err, trainer.ErrDiverged)
	require.ErrorContains(t, err, "running_var has values that are not finite")
	require.Less(t, len(book.rows), 6)
}
