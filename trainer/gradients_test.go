package trainer_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
)

func gradient(t *testing.T, actions ...string) decider.Gradient {
	return decider.Gradient{Random: trials(t, 0, actions...).Random}
}

// A job whose decider compares gradients records them and grows. It gives the same bits from each checkpoint and with
// any number of threads, for each rule of the times of decisions.
func TestJobsDecideByTheGradient(t *testing.T) {
	for _, when := range []trainer.When{trainer.WhenDevices, trainer.WhenPeriodic, trainer.WhenPlateau} {
		t.Run(string(when), func(t *testing.T) {
			o := brief()
			o.Checkpoint.Every = 20 * time.Millisecond // on the ticking clock
			o.Adapt.When, o.Adapt.MaxDecisions = when, 2
			switch when {
			case trainer.WhenPeriodic:
				o.Adapt.Every, o.Adapt.Interval = false, 0.3
			case trainer.WhenPlateau:
				o.Adapt.Every, o.Adapt.Window, o.Adapt.MinGain = false, 1, 100
			}
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				at := func(time time.Duration, book trainer.Recorder) trainer.Parts {
					clock := steady(t)
					clock.Time = time
					return parts(t, s, trainer.Parts{Clock: clock, Recorder: book, Now: ticking(),
						Decider: gradient(t)})
				}
				book := &memory{}
				j, err := trainer.New(s, at(0, book), o)
				require.NoError(t, err)
				want, err := j.Run(context.Background())
				require.NoError(t, err)
				grown := 0
				for _, n := range book.notes {
					if n.Event == "decision" && n.Action != "none" {
						grown++
						require.Greater(t, len(n.Gains), 2)
						require.Positive(t, n.Gains[0].Gain)
					}
				}
				require.Positive(t, grown)
				require.NoError(t, torch.SetThreads(2))
				for k := 0; k < len(book.saves); k += max(1, len(book.saves)/4) {
					stopped, err := trainer.ReadSavedJob(sections(book.saves[k]))
					require.NoError(t, err)
					j, err := trainer.Resume(s, stopped, at(stopped.Time, &memory{}), model.Placement{}, o)
					require.NoError(t, err)
					got, err := j.Run(context.Background())
					require.NoError(t, err)
					require.Equal(t, want.Digest, got.Digest, "from checkpoint %d", k)
					require.Equal(t, want.Used, got.Used)
				}
				return torch.SetThreads(1)
			}))
		})
	}
}

// Each gain, and each start of new units from the gradient, takes a training step on the images for surgery from the
// budget. With the profile steady, a step of five layers takes 10 ms, whatever its images.
func TestGradientsTakeTime(t *testing.T) {
	const step = 10 * time.Millisecond
	took := func(o trainer.Options, d decider.Decider) (took time.Duration, gains int) {
		book := &memory{}
		_, err := runJob(t, o, trainer.Parts{Recorder: book, Decider: d})
		require.NoError(t, err)
		for _, n := range book.notes {
			if n.Event == "decision" {
				return n.Took, len(n.Gains)
			}
		}
		t.Fatal("no decision was made")
		return 0, 0
	}
	plain, _ := took(epochs(), script(t, "widen:conv2:12"))
	for _, start := range []net2net.Start{"copies", "gradmax", "firefly", "tiny"} {
		o := epochs()
		o.Adapt.Surgery.Start = start
		want := plain
		if start != "copies" {
			want += step
		}
		now, _ := took(o, script(t, "widen:conv2:12"))
		require.Equal(t, want, now, start)
		deeper, _ := took(o, script(t, "deepen:conv2"))
		require.Equal(t, plain, deeper, "a new layer needs no gradient")
	}
	now, gains := took(epochs(), gradient(t, "widen:conv2:12", "deepen:conv1", "deepen:conv2"))
	require.Equal(t, 3, gains)
	require.Equal(t, plain+3*step, now)
}

// If a decision does not fit into the budget, the network stays unchanged.
func TestGradientsNeedTime(t *testing.T) {
	o, book := epochs(), &memory{}
	o.Epochs, o.Timeline.Budget = 0, 400*time.Millisecond
	o.Timeline.Events[0].At = 390 * time.Millisecond
	o.Overrun = true
	got, err := runJob(t, o, trainer.Parts{Recorder: book, Decider: gradient(t)})
	require.NoError(t, err)
	require.Empty(t, got.Changes)
	require.Contains(t, book.events(), "decision")
}
