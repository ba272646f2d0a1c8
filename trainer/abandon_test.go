package trainer_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/torch"
	"graft/trainer"
)

// original returns a plan in which only whole epochs count, as in the original.
func original() trainer.Options {
	o := plan()
	o.Abandon, o.Overrun, o.Distill.Off, o.Schedule.Rule = true, true, true, trainer.Exponential
	o.Adapt = trainer.Adapt{Every: true, MaxDecisions: 1_000_000, Rows: 64, Reset: true}
	return o
}

// perEpoch is the number of steps in an epoch of the small dataset with batches of 32.
const perEpoch = 17

// A change of devices abandons the current epoch, but its steps count.
func TestAnEpochCutShortIsAbandoned(t *testing.T) {
	o := plan()
	o.Abandon, o.Schedule = true, trainer.Schedule{Rule: trainer.Exponential, Restart: trainer.NoRestart}
	book := &memory{}
	run(t, o, book, "deepen:conv1", "widen:conv2:12")
	require.Equal(t, []string{"start", "up", "decision", "decision", "down", "shrink", "end"}, book.events())
	up, asked := book.notes[1], book.notes[2]
	require.Positive(t, up.Step)
	require.Less(t, up.Step, perEpoch)
	require.Equal(t, up.Epoch, asked.Epoch, "the epoch has the number of the one that it stands for")
	require.Zero(t, asked.Step)
	whole := book.rows[up.Epoch]
	require.Equal(t, up.Epoch, whole.Epoch)
	require.Equal(t, int64(up.Epoch*perEpoch+up.Step+perEpoch), whole.Steps,
		"the steps count, and a whole epoch follows")
	schedule := o.Schedule
	schedule.EnsureDefaults()
	for k, row := range book.rows[:3] {
		require.Equal(t, k, row.Epoch)
		require.InEpsilon(t, schedule.Rate(0.01, trainer.Moment{Epochs: k}), row.Rate, 1e-12,
			"the rate has seen whole epochs only")
	}
}

// A change that comes during an evaluation takes effect after the epoch, before the next step.
func TestAChangeBetweenEpochs(t *testing.T) {
	book := &memory{}
	first := plan()
	first.Timeline.Events = nil
	run(t, first, book)
	o := plan()
	o.Abandon = true
	o.Timeline.Events = []trainer.Event{{At: book.rows[0].Time - time.Millisecond, Change: trainer.Up}}
	at := o.Timeline.Events[0].At
	book = &memory{}
	run(t, o, book, "deepen:conv1")
	require.Greater(t, book.rows[0].Time, at)
	require.Equal(t, int64(perEpoch), book.rows[0].Steps)
	require.Equal(t, 1, book.notes[1].Epoch)
	require.Zero(t, book.notes[1].Step)
}

// Training since the last evaluation does not count. With Overrun, a whole epoch is evaluated late rather than never.
func TestTheLastWholeEpochCounts(t *testing.T) {
	o := plan()
	o.Timeline.Events, o.Overrun, o.Schedule.Rule = nil, true, trainer.Exponential
	book := &memory{}
	outcome := run(t, o, book)
	require.Greater(t, outcome.Steps, book.rows[len(book.rows)-1].Steps, "the last steps are for nothing")
	require.Equal(t, len(book.rows), outcome.Epochs)
	require.Equal(t, book.rows[len(book.rows)-1].Validation, outcome.Validation)
	require.GreaterOrEqual(t, outcome.Used, outcome.Budget)
	require.Less(t, outcome.Used-outcome.Budget, 20*time.Millisecond, "one step")

	same := o
	same.Overrun, same.Epochs, same.Timeline.Budget = false, outcome.Epochs, time.Hour
	twin := run(t, same, nil)
	require.Equal(t, twin.Digest, outcome.Digest, "the network is that of the last evaluation")
	require.Equal(t, twin.Test, outcome.Test)
	require.Equal(t, twin.Validation, outcome.Validation)

	o.Timeline.Budget = book.rows[2].Time - time.Millisecond
	late := run(t, o, nil)
	require.Equal(t, 3, late.Epochs)
	require.Equal(t, book.rows[2].Time, late.Used)
	require.Greater(t, late.Used, late.Budget)
}

// Without a whole epoch, where the original failed, the job still evaluates once.
func TestNoWholeEpoch(t *testing.T) {
	o := original()
	o.Timeline = trainer.Timeline{Budget: 60 * time.Millisecond}
	book := &memory{}
	outcome := run(t, o, book)
	require.Len(t, book.rows, 1)
	require.Positive(t, outcome.Steps)
	require.Zero(t, outcome.Epochs)
	require.NotZero(t, outcome.Test.Loss)
}

// As in the original, every epoch after an up begins with a decision, even if the decider has no more actions. It
// starts a new optimizer with the first rate, divided at each decision.
func TestTheOriginalsQuestions(t *testing.T) {
	o := original()
	o.Timeline.Events = o.Timeline.Events[:1]
	o.Adapt.Divide = 2
	book := &memory{}
	outcome := run(t, o, book, "deepen:conv1")
	asked := 0
	for _, n := range book.notes {
		if n.Event == "decision" {
			asked++
			require.Zero(t, n.Step)
		}
	}
	require.Equal(t, outcome.Decisions, asked)
	require.InEpsilon(t, 0.01, book.rows[0].Rate, 1e-12)
	up := book.notes[1].Epoch
	rate := 0.01
	for _, row := range book.rows[up:] {
		rate /= 2
		require.InEpsilon(t, rate, row.Rate, 1e-12, "the first rate, divided at each question")
	}
	require.Greater(t, len(book.rows), up+2)
}

// A down reverts the last division of the rate, and starts a new optimizer.
func TestADownBeginsAfresh(t *testing.T) {
	o := original()
	o.Adapt = trainer.Adapt{Reset: true, Divide: 2, Rows: 64}
	book := &memory{}
	run(t, o, book, "deepen:conv1")
	var up, down int
	for _, n := range book.notes {
		switch n.Event {
		case "up":
			up = n.Epoch
		case "down":
			down = n.Epoch
		}
	}
	require.Less(t, up, down)
	require.InEpsilon(t, 0.005, book.rows[up].Rate, 1e-12)
	require.InEpsilon(t, 0.005*0.9, book.rows[up+1].Rate, 1e-12)
	require.InEpsilon(t, 0.01, book.rows[down].Rate, 1e-12)
}

// A down without an earlier decision leaves the rate as it is.
func TestADownWithoutADecision(t *testing.T) {
	o := original()
	o.Adapt = trainer.Adapt{Reset: true, Divide: 2, Rows: 64}
	o.Timeline.Events = o.Timeline.Events[1:]
	require.Equal(t, trainer.Down, o.Timeline.Events[0].Change)
	book := &memory{}
	run(t, o, book)
	down := -1
	for _, n := range book.notes {
		if n.Event == "down" {
			down = n.Epoch
		}
	}
	require.GreaterOrEqual(t, down, 0)
	require.InEpsilon(t, 0.01, book.rows[down].Rate, 1e-12)
	for _, row := range book.rows {
		require.LessOrEqual(t, row.Rate, 0.01*(1+1e-12))
	}
}

// A job in which only whole epochs count resumes from each checkpoint with the same bits.
func TestWholeEpochsResume(t *testing.T) { resumesFromItsCheckpoints(t, original()) }

// resumesFromItsCheckpoints runs a job, and resumes it from six of its checkpoints, or from a third of them with
// GRAFT_LONG. Resumed jobs must give the same bits.
func resumesFromItsCheckpoints(t *testing.T, o trainer.Options) {
	o.Checkpoint.Every = 20 * ms // on the ticking clock
	book := &memory{}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		at := func(time time.Duration) trainer.Parts {
			clock := steady(t)
			clock.Time = time
			return parts(t, s, trainer.Parts{Clock: clock, Recorder: book, Now: ticking()}, "deepen:conv1",
				"widen:conv2:12")
		}
		j, err := trainer.New(s, at(0), o)
		require.NoError(t, err)
		want, err := j.Run(context.Background())
		require.NoError(t, err)
		saves := book.saves
		require.Greater(t, len(saves), 10)
		step := len(saves) / 6
		if long {
			step = 3
		}
		for k := step / 2; k < len(saves); k += step {
			stopped, err := trainer.ReadSavedJob(sections(saves[k]))
			require.NoError(t, err)
			j, err := trainer.Resume(s, stopped, at(stopped.Time), model.Placement{}, o)
			require.NoError(t, err)
			got, err := j.Run(context.Background())
			require.NoError(t, err)
			require.Equal(t, want.Digest, got.Digest, "from checkpoint %d", k)
			require.Equal(t, want.Validation, got.Validation)
			require.Equal(t, want.Test, got.Test)
			require.Equal(t, want.Steps, got.Steps)
		}
		return nil
	}))
}
