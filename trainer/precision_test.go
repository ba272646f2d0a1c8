package trainer_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/torch"
)

// Tolerances of bfloat16 over fifty steps of a network from the zoo. It has two significant digits, and training
// amplifies differences.
const (
	brainLossTol     = 0.1  // nats in any step; the first loss is 1.4
	brainMeanTol     = 0.03 // nats on average
	brainAccuracyTol = 0.1  // share of the images
)

// fifty trains a network from the zoo for fifty steps, and evaluates it.
func fifty(t *testing.T, name string, precision torch.Precision) (losses []float64, accuracy float64) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, err := dataset.Load(s, torch.CPU, files.OS{}, dataset.Options{TestAsValidation: true,
			Synthetic: dataset.SyntheticOptions{Train: 400, Test: 200, Classes: 4, Noise: 10}})
		require.NoError(t, err)
		n, err := model.Zoo(name, model.ZooOptions{Classes: 4})
		require.NoError(t, err)
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
		mean, deviation := torch.From(s, []float32{0.5, 0.5, 0.5}, 3, 1, 1),
			torch.From(s, []float32{0.25, 0.25, 0.25}, 3, 1, 1)
		program, err := n.ProgramOn(s, torch.ProgramOptions{Fast: true, Steady: true, Precision: precision},
			model.Pixels{Factor: 1.0 / 255, Mean: mean, Deviation: deviation})
		require.NoError(t, err)
		optimizer := s.NewOptimizer(torch.Group{Params: n.Params(),
			OptimizerOptions: torch.OptimizerOptions{Rule: torch.Adam, LR: 0.003}})
		for range 2 {
			f, err := torch.Train(program, optimizer,
				torch.Batches{Inputs: set.Train.Images, Labels: set.Train.Labels, Size: 16})
			require.NoError(t, err)
			losses = append(losses, f.Losses...)
		}
		f, err := torch.Evaluate(program, torch.Batches{Inputs: set.Test.Images, Labels: set.Test.Labels,
			Size: set.Test.Count})
		require.NoError(t, err)
		accuracy = float64(f.Correct[0]) / float64(set.Test.Count)
		return s.Err()
	}))
	return losses, accuracy
}

func TestTheZooTrainsInBrain(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	names := []string{"ConvSmall", "ConvNet2"}
	if !long {
		names = names[:1]
	}
	for _, name := range names {
		single, right := fifty(t, name, torch.Single)
		brain, alsoRight := fifty(t, name, torch.Brain)
		require.Len(t, brain, 50)
		worst, sum := 0.0, 0.0
		for k := range single {
			apart := math.Abs(single[k] - brain[k])
			worst, sum = max(worst, apart), sum+apart
		}
		t.Logf("measured: %s, 50 steps in bfloat16: losses are within %.2g nats of those in float32, "+
			"%.2g on average; %.1f%% and %.1f%% of the test images are right",
			name, worst, sum/50, 100*alsoRight, 100*right)
		require.Positive(t, worst)
		require.Less(t, worst, brainLossTol)
		require.Less(t, sum/50, brainMeanTol)
		require.InDelta(t, right, alsoRight, brainAccuracyTol)
	}
}

// A job in bfloat16 gives one digest with any number of threads, and from each of its checkpoints.
func TestJobsInBrain(t *testing.T) {
	o := brief()
	o.Precision = torch.Brain
	require.NoError(t, torch.SetThreads(2))
	digest := run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest
	require.NoError(t, torch.SetThreads(1))
	require.Equal(t, digest, run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest)
	single := o
	single.Precision = torch.Single
	require.NotEqual(t, digest, run(t, single, nil, "deepen:conv1", "widen:conv2:12").Digest)
	resumesFromItsCheckpoints(t, o)
}
