package trainer_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/model"
	"graft/torch"
	"graft/trainer"
)

// A network that was trained before is evaluated while no clock runs, and its job
// counts on from its epochs.
func TestAJobGoesOnFromATrainedNetwork(t *testing.T) {
	o := plan()
	o.Timeline = trainer.Timeline{Budget: 1500 * time.Millisecond, Start: 700 * time.Millisecond}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, n := small(t, s, 1)
		clock := steady(t)
		clock.Time = o.Timeline.Start
		score, err := trainer.EvaluatePretrained(n, set, o)
		require.NoError(t, err)
		require.NotZero(t, score.Loss)
		require.Equal(t, o.Timeline.Start, clock.Now())
		again, err := trainer.EvaluatePretrained(n, set, o)
		require.NoError(t, err)
		require.Equal(t, score, again, "nothing in the network moved")

		book := &memory{}
		parts := trainer.Parts{Network: n, Data: set, Clock: clock, Decider: decider.None{}, Recorder: book, Now: time.Now, Pretrained: &trainer.Pretrained{Epochs: 6, Score: score}}
		j, err := trainer.New(s, parts, o)
		require.NoError(t, err)
		outcome, err := j.Run(context.Background())
		require.NoError(t, err)
		require.InDelta(t, score.Accuracy, book.notes[0].Accuracy, 0, "the beginning is written down with what the weights do")
		require.Equal(t, o.Timeline.Start, book.notes[0].Time)
		require.Equal(t, 6, book.rows[0].Epoch)
		schedule := trainer.Schedule{}
		schedule.EnsureDefaults()
		require.Equal(t, schedule.Rate(0.01, 6, 0, 0), book.rows[0].Rate)
		require.Equal(t, schedule.Rate(0.01, 7, 0, 0), book.rows[1].Rate)
		require.Equal(t, 6+len(book.rows)-1, outcome.Epochs, "the last was cut short")
		require.LessOrEqual(t, outcome.Used, outcome.Budget)
		return nil
	}))
}

// Weights at the end of their budget are told with the accuracy that they have.
func TestNoTimeToGoOn(t *testing.T) {
	o := plan()
	o.Timeline = trainer.Timeline{Budget: time.Second, Start: time.Second - time.Millisecond}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, n := small(t, s, 1)
		clock := steady(t)
		clock.Time = o.Timeline.Start
		score, err := trainer.EvaluatePretrained(n, set, o)
		require.NoError(t, err)
		book := &memory{}
		parts := trainer.Parts{Network: n, Data: set, Clock: clock, Decider: decider.None{}, Recorder: book, Now: time.Now, Pretrained: &trainer.Pretrained{Epochs: 6, Score: score}}
		j, err := trainer.New(s, parts, o)
		require.NoError(t, err)
		outcome, err := j.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, score, outcome.Validation)
		require.Empty(t, book.rows)
		require.Zero(t, outcome.Steps)
		return nil
	}))
}

func TestNetworksThatCannotGoOn(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, n := small(t, s, 1)
		o := plan()
		o.Epochs = 6
		parts := trainer.Parts{Network: n, Data: set, Clock: steady(t), Decider: decider.None{}, Now: time.Now, Pretrained: &trainer.Pretrained{Epochs: 6}}
		_, err := trainer.New(s, parts, o)
		require.ErrorContains(t, err, "trained for 6 epochs already, and the job ends after 6")
		n.Input = model.Shape{3, 8, 8}
		_, err = trainer.EvaluatePretrained(n, set, o)
		require.ErrorContains(t, err, "give the network that input")
		return nil
	}))
}

// A rate that follows the budget goes on from where the budget is.
func TestACosineGoesOn(t *testing.T) {
	o := plan()
	o.Timeline = trainer.Timeline{Budget: 2 * time.Second, Start: time.Second}
	o.Schedule = trainer.Schedule{Rule: trainer.Cosine}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, n := small(t, s, 1)
		clock := steady(t)
		clock.Time = o.Timeline.Start
		book := &memory{}
		parts := trainer.Parts{Network: n, Data: set, Clock: clock, Decider: decider.None{}, Recorder: book, Now: time.Now, Pretrained: &trainer.Pretrained{Epochs: 2}}
		j, err := trainer.New(s, parts, o)
		require.NoError(t, err)
		_, err = j.Run(context.Background())
		require.NoError(t, err)
		require.InDelta(t, 0.005, book.rows[0].Rate, 1e-9)
		return nil
	}))
}
