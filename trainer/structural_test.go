package trainer_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/decider"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/model"
	"graft/torch"
	"graft/trainer"
)

// overheard records the states that a decider gets.
type overheard struct {
	decider.Decider
	states []decider.State
	steps  []time.Duration // step time of each state's network, which surgery changes afterwards
}

func (o *overheard) Decide(ctx context.Context, s decider.State) (decider.Decision, error) {
	o.states, o.steps = append(o.states, s), append(o.steps, s.StepOf(s.Network))
	return o.Decider.Decide(ctx, s)
}

// A job tells a structural policy the step times and the learning curve, and applies its decisions.
func TestJobWithStructuralPolicy(t *testing.T) {
	policy, err := decider.NewStructural(decider.StructuralShape{}, decider.Scale{}, decider.Scale{}, 1)
	require.NoError(t, err)
	policy.Sample, policy.Seed = true, 4
	spy, book := &overheard{Decider: policy}, &memory{}
	o := plan()
	o.Timeline.Budget, o.Timeline.Events = 700*time.Millisecond, o.Timeline.Events[:1]
	before := 0
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, err := dataset.Load(s, torch.CPU, files.OS{},
			dataset.Options{Seed: 1, Synthetic: dataset.SyntheticOptions{Train: 200, Test: 60}})
		require.NoError(t, err)
		n, err := model.Zoo("ConvSmall", model.ZooOptions{})
		require.NoError(t, err)
		before = n.Parameters()
		j, err := trainer.New(s, parts(t, s, trainer.Parts{Network: n, Data: set, Decider: spy, Recorder: book}), o)
		require.NoError(t, err)
		_, err = j.Run(context.Background())
		return err
	}))
	require.Len(t, spy.states, 2)
	require.Equal(t, []string{"start", "up", "decision", "decision", "end"}, book.events())
	curve, rows := decider.Curve{}, book.rows
	for k, state := range spy.states {
		require.Equal(t, state.Step, spy.steps[k])
		wide, err := model.Zoo("ConvNet2", model.ZooOptions{})
		require.NoError(t, err)
		require.Greater(t, state.StepOf(wide), time.Duration(0))
		for len(rows) > 0 && rows[0].Time <= book.notes[2+k].Time {
			curve = curve.Next(rows[0].Loss, rows[0].Accuracy-rows[0].Validation.Accuracy)
			rows = rows[1:]
		}
		require.Equal(t, curve, state.Curve)
	}
	require.NotZero(t, spy.states[1].Curve.Loss)
	for k, note := range book.notes[2:4] {
		require.InDelta(t, 1, stat.Mean(note.Probabilities)*float64(len(note.Probabilities)), 1e-12)
		require.Positive(t, spy.states[k].Step)
		require.Equal(t, k, spy.states[k].Decisions)
	}
	require.NotEqual(t, "none", book.notes[2].Action, "the seed is one that adapts")
	require.Greater(t, book.notes[2].Parameters, before)
}
