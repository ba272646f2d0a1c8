package trainer_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
)

func trials(t *testing.T, steps int, actions ...string) decider.Trials {
	d := decider.Trials{Steps: steps}
	for _, text := range actions {
		a, err := net2net.ParseAction(text)
		require.NoError(t, err)
		d.Actions = append(d.Actions, a)
	}
	return d
}

// epochs returns a job that ends after some epochs, with a constant rate.
func epochs() trainer.Options {
	o := plan()
	o.Schedule.Rule = trainer.Constant
	o.Epochs = 4
	o.Timeline = trainer.Timeline{Budget: time.Minute,
		Events: []trainer.Event{{At: 150 * time.Millisecond, Change: trainer.Up}}}
	o.Adapt.Every = false
	return o
}

// A job whose decider tries a single choice ends with the same weights as a job that takes it at once, with dropout and
// augmentation. The trial takes time.
func TestTrialsChangeNothingButTheTime(t *testing.T) {
	want := run(t, epochs(), nil, "widen:conv2:12")
	book := &memory{}
	got, err := runJob(t, epochs(), trainer.Parts{Recorder: book, Decider: trials(t, 7, "widen:conv2:12")})
	require.NoError(t, err)
	assert.Equal(t, want.Digest, got.Digest)
	assert.Equal(t, want.Steps, got.Steps)
	assert.Greater(t, got.Used, want.Used+7*5*time.Millisecond)
	assert.Greater(t, got.FLOP, want.FLOP)
	assert.Equal(t, want.Images, got.Images, "images of trials are not those of the job")
}

func TestTheBestTrialIsTaken(t *testing.T) {
	book, choices := &memory{}, []string{"deepen:conv1", "widen:conv2:12", "none"}
	// more steps than an epoch has
	_, err := runJob(t, epochs(), trainer.Parts{Recorder: book, Decider: trials(t, 70, choices...)})
	require.NoError(t, err)
	for _, n := range book.notes {
		if n.Event != "decision" {
			continue
		}
		require.Len(t, n.Trials, len(choices))
		best := n.Trials[0]
		for k, trial := range n.Trials {
			assert.Equal(t, choices[k], trial.Action.String())
			assert.Positive(t, trial.Loss)
			if trial.Loss < best.Loss {
				best = trial
			}
		}
		assert.Equal(t, best.Action.String(), n.Action)
		return
	}
	t.Error("no decision was made")
}

// Near the end of the budget, a job tries nothing and keeps its network.
func TestTrialsNeedTime(t *testing.T) {
	o, book := epochs(), &memory{}
	o.Epochs, o.Timeline.Budget = 0, 400*time.Millisecond
	got, err := runJob(t, o, trainer.Parts{Recorder: book, Decider: trials(t, 1000, "widen:conv2:12", "none")})
	require.NoError(t, err)
	assert.Empty(t, got.Changes)
	assert.LessOrEqual(t, got.Used, got.Budget)
}

// A job that resumes from any checkpoint makes the same trials.
func TestTrialsResume(t *testing.T) {
	o := epochs()
	o.Checkpoint.Every = 20 * time.Millisecond // on the ticking clock
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		at := func(time time.Duration, book trainer.Recorder) trainer.Parts {
			clock := steady(t)
			clock.Time = time
			return parts(t, s, trainer.Parts{Clock: clock, Recorder: book, Now: ticking(),
				Decider: trials(t, 5, "deepen:conv1", "widen:conv2:12", "none")})
		}
		book := &memory{}
		j, err := trainer.New(s, at(0, book), o)
		require.NoError(t, err)
		want, err := j.Run(context.Background())
		require.NoError(t, err)
		require.Greater(t, len(book.saves), 4)
		for k := 0; k < len(book.saves); k += max(1, len(book.saves)/5) {
			stopped, err := trainer.ReadSavedJob(sections(book.saves[k]))
			require.NoError(t, err)
			j, err := trainer.Resume(s, stopped, at(stopped.Time, &memory{}), model.Placement{}, o)
			require.NoError(t, err)
			got, err := j.Run(context.Background())
			require.NoError(t, err)
			require.Equal(t, want.Digest, got.Digest, "from checkpoint %d", k)
		}
		return nil
	}))
}

// canceling is a decider that cancels the job once a trial has ended.
type canceling struct {
	decider.Decider
	cancel func()
}

func (c canceling) Decide(ctx context.Context, s decider.State) (decider.Decision, error) {
	try := s.Try
	s.Try = func(a net2net.Action, steps int) (decider.Trial, error) {
		defer c.cancel()
		return try(a, steps)
	}
	return c.Decider.Decide(ctx, s)
}

// A job that is stopped during a decision saves itself. When it resumes, it makes the decision from the start, with the
// same time, resources and outcome.
func TestStopsAmidTrialsResume(t *testing.T) {
	o := epochs()
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		part := func(time time.Duration, d decider.Decider, book trainer.Recorder) trainer.Parts {
			clock := steady(t)
			clock.Time = time
			return parts(t, s, trainer.Parts{Clock: clock, Recorder: book, Now: ticking(), Decider: d})
		}
		choose := trials(t, 5, "deepen:conv1", "widen:conv2:12", "none")
		j, err := trainer.New(s, part(0, choose, &memory{}), o)
		require.NoError(t, err)
		want, err := j.Run(context.Background())
		require.NoError(t, err)

		book := &memory{}
		ctx, cancel := context.WithCancel(context.Background())
		j, err = trainer.New(s, part(0, canceling{choose, cancel}, book), o)
		require.NoError(t, err)
		_, err = j.Run(ctx)
		require.ErrorIs(t, err, trainer.ErrStopped)
		stopped, err := trainer.ReadSavedJob(sections(book.saves[len(book.saves)-1]))
		require.NoError(t, err)
		j, err = trainer.Resume(s, stopped, part(stopped.Time, choose, &memory{}), model.Placement{}, o)
		require.NoError(t, err)
		got, err := j.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, want.Digest, got.Digest)
		require.Equal(t, want.Resources, got.Resources)
		require.Equal(t, want.Used, got.Used)
		return nil
	}))
}
