package trainer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/results"
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

// A network grows only if a training step can follow, whether the budget or the number of epochs ends the job.
// Otherwise the job says that the change came too late. The forecast agrees.
func TestNoGrowthWithoutTraining(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	o := plan()
	o.Timeline.Events, o.Adapt = nil, trainer.Adapt{Rows: 64}
	o.Timeline.Budget = 500 * time.Millisecond
	whole := &memory{}
	run(t, o, whole)
	second := whole.rows[1].Time
	exact, epochs := o, o
	exact.Timeline.Budget = second + 2*time.Millisecond // a step takes longer
	epochs.Epochs = 2
	for name, tc := range map[string]struct {
		o    trainer.Options
		from time.Duration
	}{
		"an incomplete epoch":       {o, o.Timeline.Budget - 60*time.Millisecond},
		"a complete epoch":          {exact, second - 60*time.Millisecond},
		"the last epoch of the job": {epochs, second - 60*time.Millisecond},
	} {
		grown, late := 0, 0
		for at := tc.from; at < tc.from+60*time.Millisecond; at += 4 * time.Millisecond {
			o := tc.o
			o.Timeline.Events = []trainer.Event{{At: at, Change: trainer.Up}}
			outcome := growsOnlyToTrain(t, o)
			late += outcome.Late
			grown += outcome.Decisions - outcome.Late
		}
		require.Positive(t, grown, name)
		require.Positive(t, late, name)
	}
}

// growsOnlyToTrain runs a job with one decision to grow, and compares its steps after the decision with its network.
func growsOnlyToTrain(t *testing.T, o trainer.Options) *trainer.Outcome {
	book := &memory{}
	outcome := run(t, o, book, "deepen:conv1")
	at := slices.IndexFunc(book.notes, func(n trainer.Note) bool { return n.Action != "" })
	if at >= 0 {
		n := book.notes[at]
		grows, trains := n.Parameters > n.Before, outcome.Steps > int64(n.Epoch*perEpoch+n.Step)
		require.Equal(t, grows, n.Event == results.EventDecision, n)
		require.True(t, trains || !grows, "the new layer is untrained: %+v, %d steps", n, outcome.Steps)
		require.Equal(t, outcome.Parameters, n.Parameters)
		require.Equal(t, grows, n.Why == "", n)
	}
	f := trainer.Forecast{Timeline: o.Timeline, Profile: steady(t).Profile, Options: o, Training: 540, Validation: 60,
		First: smallNetwork(), Decide: func(n *model.Network, _ int) (net2net.Action, *model.Network) {
			grown, action := n.Sketch(), net2net.Action{Kind: "deepen", Target: "conv1"}
			_, err := net2net.Apply(grown, action, net2net.Options{})
			require.NoError(t, err)
			return action, grown
		}}
	spans, known := f.Spans()
	require.True(t, known)
	steps, decisions, late := int64(0), 0, 0
	for _, s := range spans {
		steps, decisions, late = steps+s.Steps, decisions+s.Decisions, late+s.Late
	}
	require.Equal(t, []int64{outcome.Steps, int64(outcome.Decisions), int64(outcome.Late)},
		[]int64{steps, int64(decisions), int64(late)}, o.Timeline)
	return outcome
}
