package trainer

import (
	"context"
	"fmt"
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/decider"
	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// long is set where tests may take minutes.
var long = os.Getenv("GRAFT_LONG") != ""

// smallStudent is a small network for images of 16 pixels in ten classes.
func smallStudent() *model.Network {
	block := func(name string, from, to int) model.Child {
		layers := &model.Container{}
		for k, l := range []model.Layer{model.NewConv2d(from, to, 3), model.NewBatchNorm2d(to), model.Activate(torch.ReLU)} {
			layers.Children = append(layers.Children, model.Child{Name: fmt.Sprint(k), Module: &model.Leaf{Layer: l}})
		}
		return model.Child{Name: name, Module: &model.Container{Mark: model.Original, Children: []model.Child{{Name: "layers", Module: layers}}}}
	}
	leaf := func(name string, l model.Layer) model.Child {
		return model.Child{Name: name, Module: &model.Leaf{Layer: l}}
	}
	return &model.Network{Input: model.Shape{3, 16, 16}, Root: &model.Container{Class: "Student", Children: []model.Child{
		block("conv1", 3, 12), leaf("pool1", model.NewAvgPool2d(model.Both(2))),
		block("conv2", 12, 16), leaf("pool2", model.AdaptiveAvgPool2d{Size: model.Both(1)}),
		leaf("flat", model.Flatten{}), leaf("fc", model.NewLinear(16, 10))}}}
}

// stoppingClock is a virtual clock that calls stop when it comes to a time.
type stoppingClock struct {
	Virtual
	at   time.Duration
	stop func()
}

func (h *stoppingClock) Spend(w Work) {
	h.Virtual.Spend(w)
	if h.Time >= h.at {
		h.stop()
	}
}

// lastCheckpoint is a book that keeps the last checkpoint alone.
type lastCheckpoint struct {
	discard
	last map[string][]byte
}

func (b *lastCheckpoint) Save(sections []Section) error {
	b.last = map[string][]byte{}
	for _, s := range sections {
		b.last[s.Name] = s.Data
	}
	return nil
}

// growAndShrink is a job that grows to fourteen times its size, learns, and returns to its
// first size for the last fifth of its budget.
func growAndShrink(t testing.TB, seed int64) Options {
	o := Options{Seed: seed, Batch: 32, Augment: torch.Augment{Pad: 1, Flip: true}, Timeline: Timeline{Budget: 24 * time.Second,
		Events: []Event{{At: 1600 * time.Millisecond, Change: Up}, {At: 20 * time.Second, Change: Down}}}, Adapt: Adapt{Every: true}}
	o.Adapt.Surgery.Noise = 0.1 // so that copied channels part
	o.Schedule.Decay = 0.95
	return o
}

// returned gives the accuracies on the test images of jobs that went one way until
// they had to shrink, and then learned from the larger network or did not.
func returned(t testing.TB, seed int64) (with, without float64, err error) {
	err = torch.With(func(s *torch.Scope) error {
		set, err := dataset.Load(s, torch.CPU, files.OS{}, dataset.Options{Seed: seed, Synthetic: dataset.SyntheticOptions{Size: 16, Classes: 10, Train: 3000, Test: 2000}})
		if err != nil {
			return err
		}
		n, place := smallStudent(), model.Placement{Random: s.NewGenerator(torch.CPU, seed)}
		if err := n.Materialize(s, place); err != nil {
			return err
		}
		o, book := growAndShrink(t, seed), &lastCheckpoint{}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		profile, err := FindProfile("steady")
		if err != nil {
			return err
		}
		script := &decider.Script{}
		for _, text := range []string{"widen:conv1:24", "widen:conv2:48", "deepen:conv2"} {
			a, err := net2net.ParseAction(text)
			if err != nil {
				return err
			}
			script.Actions = append(script.Actions, a)
		}
		clock := &stoppingClock{Virtual{Profile: profile}, o.Timeline.Events[1].At, cancel}
		parts := Parts{Network: n, Data: set, Clock: clock, Decider: script, Recorder: book, Now: time.Now}
		j, err := New(s, parts, o)
		if err != nil {
			return err
		}
		if _, err := j.Run(ctx); err != ErrStopped && ctx.Err() == nil {
			return err
		}
		finish := func(off bool) float64 {
			last, err := ReadSavedJob(book.last)
			require.NoError(t, err)
			parts := Parts{Data: set, Clock: &Virtual{Profile: profile, Time: last.Time}, Decider: script, Now: time.Now}
			j, err := Resume(s, last, parts, place, o)
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

// A network that must return to its smaller self gets further when it learns from
// the larger one as well, in the same time, of which asking the larger one takes its
// share. The two jobs of a seed are one until then.
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
	t.Logf("measured: back at the smaller network, %.1f%% with the larger one's lessons and %.1f%% without: a gain of %.2f points, standard deviation %.2f, over %d seeds of which %d gained",
		with, without, gain, deviation, seeds, better)
	require.Greater(t, gain, 2*deviation/math.Sqrt(seeds))
}
