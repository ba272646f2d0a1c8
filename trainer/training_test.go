package trainer_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/torch"
	"graft/trainer"
)

// trainings lists training options that no other test sets.
var trainings = map[string]func(o *trainer.Options){
	"clipping by norm":  func(o *trainer.Options) { o.Optimizer.ClipNorm = 0.5 },
	"clipping by value": func(o *trainer.Options) { o.Optimizer.ClipValue = 0.01 },
	"a micro-batch":     func(o *trainer.Options) { o.MicroBatch = 12 },
	"a memory limit":    func(o *trainer.Options) { o.MaxMemoryMB = 1 },
	"an average":        func(o *trainer.Options) { o.EMA = 0.9 },
	"mixup":             func(o *trainer.Options) { o.Augment.Mixup = 0.4 },
	"randaugment":       func(o *trainer.Options) { o.Augment.RandAugment = 2 },
	"all": func(o *trainer.Options) {
		o.MicroBatch, o.EMA, o.LabelSmoothing, o.Optimizer.ClipNorm = 20, 0.99, 0.1, 1
		o.Augment.Mixup, o.Augment.RandAugment, o.Overrun, o.KeepBest = 0.2, 1, true, true
	},
	"label smoothing": func(o *trainer.Options) { o.LabelSmoothing = 0.1 },
}

// Each option changes the result. The result has the same bits with any number of threads, and from each checkpoint.
func TestOptionsOfTraining(t *testing.T) {
	plain := run(t, brief(), nil, "deepen:conv1", "widen:conv2:12")
	for name, set := range trainings {
		t.Run(name, func(t *testing.T) {
			o := brief()
			set(&o)
			require.NotEqual(t, trainer.Digest(brief()), trainer.Digest(o))
			digest := run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest
			require.NotEqual(t, plain.Digest, digest)
			if long || name == "all" { // TestResultsDoNotDependOnGroupingOrThreads has other options
				require.NoError(t, torch.SetThreads(2))
				again := run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest
				require.NoError(t, torch.SetThreads(1))
				require.Equal(t, digest, again)
			}
			if long || name == "all" {
				resumesFromItsCheckpoints(t, o)
			}
		})
	}
}

// The outcome of a job with an average belongs to the average.
func TestTheAverageIsTheResult(t *testing.T) {
	o, book := brief(), &memory{}
	o.EMA = 0.9
	digest := run(t, o, book, "deepen:conv1", "widen:conv2:12").Digest
	last := sections(book.saves[len(book.saves)-1])
	require.NotEqual(t, last["weights"], last["average"])
	sum := sha256.Sum256(slices.Concat(last["network.json"], last["average"]))
	require.Equal(t, digest, hex.EncodeToString(sum[:]))
}

// A job whose network has grown beyond the memory limit, and trains on as few images at once as it can, can be resumed.
func TestGrownJobsResumeBeyondTheirMemory(t *testing.T) {
	o := plan()
	o.MaxMemoryMB, o.Adapt.OnError = 1, trainer.StopOnError
	o.Timeline.Events = o.Timeline.Events[:1] // it does not shrink again
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		book := &memory{}
		j, err := trainer.New(s, parts(t, s, trainer.Parts{Recorder: book}, "widen:conv1:400"), o)
		require.NoError(t, err)
		want, err := j.Run(context.Background())
		require.NoError(t, err)
		require.ErrorContains(t, o.Fits(j.Network), "max_memory_mb is 1")
		saved, err := trainer.ReadSavedJob(sections(book.saves[len(book.saves)-1]))
		require.NoError(t, err)
		clock := steady(t)
		clock.Time = saved.Time
		j, err = trainer.Resume(s, saved, parts(t, s, trainer.Parts{Clock: clock}, "widen:conv1:400"),
			model.Placement{}, o)
		require.NoError(t, err)
		got, err := j.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, want.Digest, got.Digest)
		return nil
	}))
}
