package trainer_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// stoppingClock is a virtual clock that calls stop at a given time.
type stoppingClock struct {
	*clock.Virtual
	at   time.Duration
	stop func()
}

func (h *stoppingClock) Spend(w clock.Work) {
	h.Virtual.Spend(w)
	if h.Time >= h.at {
		h.stop()
	}
}

// growAndShrink returns a job that grows to fourteen times its size, learns, and returns to its first size for the last
// sixth of its budget.
func growAndShrink(seed int64) trainer.Options {
	o := trainer.Options{Seed: seed, Batch: 32, Augment: torch.Augment{Pad: 1, Flip: true},
		Adapt: trainer.Adapt{Every: true}, Timeline: trainer.Timeline{Budget: 24 * time.Second,
			Events: []trainer.Event{{At: 1600 * time.Millisecond, Change: trainer.Up},
				{At: 20 * time.Second, Change: trainer.Down}}}}
	o.Adapt.Surgery.Noise = 0.1 // makes copied channels diverge
	o.Schedule = trainer.Schedule{Rule: trainer.Exponential, Decay: 0.95, Restart: trainer.RestartOnDevices}
	return o
}

// returned returns the test accuracies of two jobs that are the same until they shrink. Then one learns from the larger
// network, and the other does not.
func returned(t testing.TB, seed int64) (with, without float64, err error) {
	err = torch.With(func(s *torch.Scope) error {
		set, err := dataset.Load(s, torch.CPU, files.OS{}, dataset.Options{Seed: seed,
			Synthetic: dataset.SyntheticOptions{Size: side, Classes: 10, Train: 3000, Test: 2000}})
		if err != nil {
			return err
		}
		n, place := twoBlocks(torch.ReLU, 12, 16, leaf("flat", model.Flatten{}), leaf("fc", model.NewLinear(16, 10))),
			model.Placement{Random: s.NewGenerator(torch.CPU, seed)}
		if err := n.Materialize(s, place); err != nil {
			return err
		}
		o, book := growAndShrink(seed), &memory{}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p := parts(t, s, trainer.Parts{Network: n, Data: set, Clock: &stoppingClock{steady(t), o.Timeline.Events[1].At,
			cancel}, Recorder: book}, "widen:conv1:24", "widen:conv2:48", "deepen:conv2")
		j, err := trainer.New(s, p, o)
		if err != nil {
			return err
		}
		if _, err := j.Run(ctx); !errors.Is(err, trainer.ErrStopped) {
			return err
		}
		finish := func(off bool) float64 {
			last, err := trainer.ReadSavedJob(sections(book.saves[len(book.saves)-1]))
			require.NoError(t, err)
			clock := steady(t)
			clock.Time, p.Clock, p.Recorder = last.Time, clock, nil
			j, err := trainer.Resume(s, last, p, place, o)
			require.NoError(t, err)
			j.Distill.Off = off
			outcome, err := j.Run(context.Background())
			require.NoError(t, err)
			return outcome.Test.Accuracy
		}
		with, without = finish(false), finish(true)
		return nil
	})
	return with, without, err
}

// After a shrink, a network that also learns from the larger one reaches a higher accuracy in the same time, which
// includes the larger network's passes. The two jobs of a seed are the same until the shrink.
func TestDistillationGetsFurther(t *testing.T) {
	if !long {
		t.Skip("left out: ten seeds take two minutes; GRAFT_LONG=1 go test ./trainer -run Distillation -v")
	}
	const seeds = 10
	var gains [seeds]float64
	var with, without float64
	var mutex sync.Mutex
	var group sync.WaitGroup
	for worker := range 2 {
		group.Go(func() {
			for seed := worker; seed < seeds; seed += 2 {
				a, b, err := returned(t, int64(seed))
				mutex.Lock()
				assert.NoError(t, err)
				gains[seed], with, without = 100*(a-b), with+100*a/seeds, without+100*b/seeds
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	gain, squares, better := with-without, 0.0, 0
	for _, g := range gains {
		squares += (g - gain) * (g - gain)
		if g > 0 {
			better++
		}
	}
	deviation := math.Sqrt(squares / (seeds - 1))
	t.Logf("measured: back at the smaller network, %.1f%% with the larger one's lessons and %.1f%% without: "+
		"a gain of %.2f points, standard deviation %.2f, over %d seeds of which %d gained",
		with, without, gain, deviation, seeds, better)
	require.Greater(t, gain, 2*deviation/math.Sqrt(seeds))
}
