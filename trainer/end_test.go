package trainer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/torch"
	"graft/trainer"
)

// The accuracy of an outcome belongs to its network, also if devices are lost after the last evaluation.
func TestOutcomesAreOfTheirNetworks(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	late := 0
	for budget := 1215 * time.Millisecond; budget < 1260*time.Millisecond; budget += 5 * time.Millisecond {
		o := plan()
		o.EvalBatch = 60
		o.Timeline = trainer.Timeline{Budget: budget, Events: []trainer.Event{
			{At: 300 * time.Millisecond, Change: trainer.Up}, {At: budget - time.Millisecond, Change: trainer.Down},
		}}
		book := &memory{}
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			p := parts(t, s, trainer.Parts{Recorder: book, Clock: calling()}, "widen:conv2:16", "deepen:conv1")
			set, err := dataset.Load(s, torch.CPU, files.OS{}, dataset.Options{Seed: 1,
				Synthetic: dataset.SyntheticOptions{Size: side, Classes: 4, Train: 600, Test: 200}})
			require.NoError(t, err)
			set.Test = set.Validation // the test of the final network must repeat the last evaluation
			p.Data = set
			j, err := trainer.New(s, p, o)
			require.NoError(t, err)
			out, err := j.Run(t.Context())
			require.NoError(t, err)
			last := book.rows[len(book.rows)-1]
			require.Equal(t, out.Parameters, last.Parameters, "budget %v", budget)
			require.Equal(t, out.Test, out.Validation, "budget %v", budget)
			require.Equal(t, out.Validation, last.Validation, "budget %v", budget)
			if len(book.rows) > 1 && last.Steps == book.rows[len(book.rows)-2].Steps {
				late++
				require.LessOrEqual(t, out.Used, budget+10*time.Millisecond,
					"surgery may end late, an evaluation after it does not")
			}
			return nil
		}))
	}
	require.Positive(t, late, "no job lost its devices after its last evaluation")
}

// Events and decisions that come due during the last evaluation of a stopped job do not change its network, and the
// forecast agrees.
func TestStoppedJobsChangeNoMore(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	o := plan()
	o.Timeline.Events = nil
	whole := &memory{}
	run(t, o, whole)
	o.Timeline.Stop = whole.rows[1].Time - time.Millisecond // in the evaluation of the second epoch
	want := &memory{}
	run(t, o, want)
	require.Equal(t, whole.rows[:2], want.rows)

	with := o
	with.Timeline.Events = []trainer.Event{{At: o.Timeline.Stop, Change: trainer.Up, Devices: 2}}
	periodic := o
	periodic.Adapt = trainer.Adapt{When: trainer.WhenPeriodic,
		Interval: float64(o.Timeline.Stop+1) / float64(o.Timeline.Budget), Rows: 64}
	for name, o := range map[string]trainer.Options{"an event": with, "a decision": periodic} {
		got := &memory{}
		outcome := run(t, o, got, someActions...)
		require.Zero(t, outcome.Decisions, name)
		require.Equal(t, want.rows, got.rows, name)
		f := trainer.Forecast{Timeline: o.Timeline, Profile: steady(t).Profile, Options: o, Training: 540,
			Validation: 60, First: smallNetwork()}
		spans, known := f.Spans()
		require.True(t, known, name)
		require.Equal(t, 2, spans[0].Epochs, name)
		require.Zero(t, spans[0].Decisions, name)
		require.Empty(t, f.Timeline.Missed(spans), "%s: the job stops before it", name)
	}
}
