package trainer_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/model/modeltest"
	"graft/torch"
	"graft/trainer"
)

// flatNorm returns a network with a BatchNorm over one value per channel and image.
func flatNorm() *model.Network {
	return twoBlocks(torch.ReLU, 6, 8, leaf("flat", model.Flatten{}), leaf("fc1", model.NewLinear(8, 8)), leaf("bn",
		modeltest.BatchNorm1d(8)), leaf("relu", model.Activate(torch.ReLU)), leaf("fc", model.NewLinear(8, 4)))
}

// A rest of one image joins the images before it if a BatchNorm would see one value per channel, whose variance is NaN:
// in the last batch, in the last part of a batch, and in the halves of a measured step.
func TestNoBatchNormSeesOneValue(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	for name, c := range map[string]struct {
		images, batch, micro int
		measure              bool
		steps                int // steps per epoch
	}{
		"a last batch of one":      {97, 32, 0, false, 3},
		"a last part of one":       {96, 32, 31, false, 3},
		"parts of three and one":   {97, 32, 3, false, 3},
		"a measured batch of 3":    {99, 32, 0, true, 4},
		"a measured batch of 2":    {98, 32, 0, true, 4},
		"a last batch of two":      {98, 32, 0, false, 4},
		"fewer images than a step": {20, 32, 0, false, 1},
	} {
		for _, exact := range []bool{false, true} {
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				o := dataset.Options{Seed: 1, TestAsValidation: true,
					Synthetic: dataset.SyntheticOptions{Size: side, Classes: 4, Train: c.images, Test: 40}}
				set, err := dataset.Load(s, torch.CPU, files.OS{}, o)
				require.NoError(t, err)
				net := flatNorm()
				require.NoError(t, net.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
				job := trainer.Options{Seed: 1, Batch: c.batch, MicroBatch: c.micro, EvalBatch: 100, Exact: exact,
					Epochs: 3, Timeline: trainer.Timeline{Budget: time.Hour}}
				if c.measure {
					job.AdaptiveBatch = trainer.AdaptiveBatch{Measure: true, Interval: c.steps}
				}
				book := &memory{}
				out, err := runJob(t, job, trainer.Parts{Network: net, Data: set, Recorder: book})
				require.NoError(t, err, name)
				require.Equal(t, int64(3*c.steps), out.Steps, name)
				require.Equal(t, int64(3*c.images), book.rows[2].Images, "%s: each epoch has all images", name)
				for _, e := range net.State() {
					values, err := torch.Values[float64](s.To(e.Tensor, torch.Float64, torch.CPU))
					require.NoError(t, err)
					for _, v := range values {
						require.False(t, math.IsNaN(v), "%s: %s is not a number", name, e.Name)
					}
				}
				return nil
			}))
		}
	}
}

// Batches of one image are refused before training, with the layer that cannot normalize them.
func TestSizesOfOneImageAreRefused(t *testing.T) {
	for name, change := range map[string]func(*trainer.Options){
		"train.batch is 1; must be at least 2, because bn has only one value per channel and image " +
			"to normalize": func(o *trainer.Options) { o.Batch = 1 },
		"train.micro_batch is 1; must be at least 2, because bn": func(o *trainer.Options) { o.MicroBatch = 1 },
		"adaptive_batch.max_device_batch is 1; must be at least 2, because bn has only one value per channel and " +
			"image to normalize": func(o *trainer.Options) {
			o.AdaptiveBatch = trainer.AdaptiveBatch{On: true, Most: 64, DeviceMost: 1}
			o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.1}
		},
	} {
		o := trainer.Options{Batch: 32, Timeline: trainer.Timeline{Budget: time.Second}}
		change(&o)
		_, err := runJob(t, o, trainer.Parts{Network: flatNorm()})
		require.ErrorContains(t, err, name)
	}
	o := trainer.Options{Batch: 1, Timeline: trainer.Timeline{Budget: time.Second}}
	o.EnsureDefaults()
	require.NoError(t, o.Normalizes(smallNetwork(), 1), "its BatchNorms normalize many values of one image")
	require.ErrorContains(t, trainer.Options{}.Normalizes(flatNorm(), 1), "the number of training images is 1")
}
