package trainer_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// The evaluation of a pretrained network takes no time of the clock, and its job counts on from its epochs.
func TestAJobGoesOnFromATrainedNetwork(t *testing.T) {
	o := plan()
	o.Schedule.Rule = trainer.Exponential
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
		j, err := trainer.New(s, parts(t, s, trainer.Parts{Network: n, Data: set, Clock: clock, Recorder: book,
			Pretrained: &trainer.Pretrained{Epochs: 6, Score: score}}), o)
		require.NoError(t, err)
		outcome, err := j.Run(context.Background())
		require.NoError(t, err)
		require.InDelta(t, score.Accuracy, book.notes[0].Accuracy, 0,
			"the beginning is written down with what the weights do")
		require.Equal(t, o.Timeline.Start, book.notes[0].Time)
		require.Equal(t, 6, book.rows[0].Epoch)
		schedule := o.Schedule
		schedule.EnsureDefaults()
		require.Equal(t, schedule.Rate(0.01, trainer.Moment{Epochs: 6}), book.rows[0].Rate)
		require.Equal(t, schedule.Rate(0.01, trainer.Moment{Epochs: 7}), book.rows[1].Rate)
		require.Equal(t, 6+len(book.rows)-1, outcome.Epochs, "the last was cut short")
		require.LessOrEqual(t, outcome.Used, outcome.Budget)
		return nil
	}))
}

// Weights at the end of their budget are reported with their accuracy.
func TestNoTimeToGoOn(t *testing.T) {
	o, clock, book := plan(), steady(t), &memory{}
	o.Timeline = trainer.Timeline{Budget: time.Second, Start: time.Second - time.Millisecond}
	clock.Time = o.Timeline.Start
	score := trainer.Score{Loss: 1.25, Accuracy: 0.375}
	outcome, err := runJob(t, o, trainer.Parts{Clock: clock, Recorder: book,
		Pretrained: &trainer.Pretrained{Epochs: 6, Score: score}})
	require.NoError(t, err)
	require.Equal(t, score, outcome.Validation)
	require.Empty(t, book.rows)
	require.Zero(t, outcome.Steps)
}

func TestNetworksThatCannotGoOn(t *testing.T) {
	o := plan()
	o.Epochs = 6
	_, err := runJob(t, o, trainer.Parts{Pretrained: &trainer.Pretrained{Epochs: 6}})
	require.ErrorContains(t, err, "the network was already trained for 6 epochs, but the job ends after 6 epochs")
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, n := small(t, s, 1)
		n.Input = model.Shape{3, 8, 8}
		_, err = trainer.EvaluatePretrained(n, set, o)
		require.ErrorContains(t, err, "change the network's input, or the data")
		return nil
	}))
}

// A rate that follows the budget continues from the present share of the budget.
func TestACosineGoesOn(t *testing.T) {
	o, virtual, book := plan(), steady(t), &memory{}
	o.Timeline = trainer.Timeline{Budget: 2 * time.Second, Start: time.Second}
	o.Schedule = trainer.Schedule{Rule: trainer.Cosine}
	virtual.Time = o.Timeline.Start
	_, err := runJob(t, o, trainer.Parts{Clock: virtual, Recorder: book, Pretrained: &trainer.Pretrained{Epochs: 2}})
	require.NoError(t, err)
	// the end of the last step
	last := book.rows[0].Time - virtual.Cost(clock.Work{Kind: clock.Batches, Count: 1, Rows: 100,
		Network: smallNetwork(), Devices: 1})
	share := last.Seconds() / 2
	require.InDelta(t, 0.005*(1+math.Cos(math.Pi*share)), book.rows[0].Rate, 1e-12)
}
