package trainer_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/results"
	"graft/trainer"
)

// A forecast has the decisions, steps and epochs of a job whose network stays the same.
func TestForecastsAreTheJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	short, early := 0, 0
	for range 25 {
		o := plan()
		o.Abandon, o.Overrun, o.Adapt.Every, o.Adapt.MaxDecisions = r.IntN(3) == 0, r.IntN(3) == 0, r.IntN(4) > 0, 0
		o.Epochs = max(0, r.IntN(12)-4)
		o.Timeline.Budget, o.Timeline.Events = time.Duration(100+r.IntN(900))*time.Millisecond, nil
		if r.IntN(3) == 0 {
			o.Timeline.Stop = o.Timeline.Budget/2 + time.Duration(r.Int64N(int64(o.Timeline.Budget/2)))
		}
		for range r.IntN(4) {
			o.Timeline.Events = append(o.Timeline.Events,
				trainer.Event{At: time.Duration(r.Int64N(int64(o.Timeline.Budget))),
					Change: []trainer.Change{trainer.Up, trainer.Up, trainer.Down}[r.IntN(3)], Devices: r.IntN(3)})
		}
		slices.SortFunc(o.Timeline.Events, func(a, b trainer.Event) int { return int(a.At - b.At) })
		book := &memory{}
		outcome := run(t, o, book)
		f := trainer.Forecast{Timeline: o.Timeline, Profile: steady(t).Profile, Options: o, Training: 540,
			Validation: 60, First: smallNetwork()}
		spans, known := f.Spans()
		require.True(t, known)
		decisions, steps, epochs := made(book, o.Timeline), int64(0), 0
		require.Len(t, spans, len(decisions)+1)
		for k, s := range spans {
			steps, epochs = steps+s.Steps, epochs+s.Epochs
			if k == 0 {
				require.Zero(t, s.Decisions)
				continue
			}
			require.Equal(t, decisions[k-1], s.Decisions, o.Timeline)
			if o.Timeline.Events[k-1].Change == trainer.Up && o.Adapt.Every && s.Decisions < 3 {
				short++
			}
		}
		require.Equal(t, outcome.Steps, steps)
		require.Equal(t, outcome.Epochs, epochs)
		if o.Timeline.Stop > 0 {
			early++
			if !o.Overrun { // a decision and its surgery may end late
				require.LessOrEqual(t, outcome.Used, o.Timeline.Stop+20*time.Millisecond)
			}
		}
	}
	require.Greater(t, early, 3, "jobs that stop before their budgets")
	require.Greater(t, short, 3, "events whose decisions do not fit are among them")
	_, known := trainer.Forecast{Timeline: plan().Timeline, Profile: steady(t).Profile, Options: plan(),
		First: smallNetwork()}.Spans()
	require.False(t, known, "without a number of images")
}

// made returns the number of decisions after each event.
func made(book *memory, t trainer.Timeline) []int {
	counts, at := make([]int, len(t.Events)), -1
	for _, n := range book.notes {
		switch n.Event {
		case results.EventUp, results.EventDown:
			at++
		case results.EventDecision:
			counts[at]++
		}
	}
	return counts
}

// If the times of decisions are known in advance, a forecast has the job's decisions.
func TestForecastsOfTimesOfDecisions(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 6))
	decided, unreached := 0, 0
	for range 20 {
		o := plan()
		o.Abandon, o.Overrun = r.IntN(3) == 0, r.IntN(3) == 0
		o.Timeline.Budget, o.Timeline.Events = time.Duration(100+r.IntN(900))*time.Millisecond, nil
		o.Adapt = trainer.Adapt{When: trainer.WhenPeriodic, Interval: 0.1 + 0.5*r.Float64(), MaxDecisions: r.IntN(4)}
		if r.IntN(2) == 0 {
			o.Adapt = trainer.Adapt{When: trainer.WhenShare, At: []float64{0.5 * r.Float64(), 0.999 - 0.1*r.Float64()}}
		}
		for range r.IntN(3) {
			o.Timeline.Events = append(o.Timeline.Events,
				trainer.Event{At: time.Duration(r.Int64N(int64(o.Timeline.Budget))),
					Change: []trainer.Change{trainer.Up, trainer.Down}[r.IntN(2)], Devices: r.IntN(3)})
		}
		slices.SortFunc(o.Timeline.Events, func(a, b trainer.Event) int { return int(a.At - b.At) })
		book := &memory{}
		outcome := run(t, o, book)
		spans, known := trainer.Forecast{Timeline: o.Timeline, Profile: steady(t).Profile, Options: o, Training: 540,
			Validation: 60, First: smallNetwork()}.Spans()
		require.True(t, known)
		counts, at := make([]int, len(o.Timeline.Events)+1), 0
		for _, n := range book.notes {
			switch n.Event {
			case results.EventUp, results.EventDown:
				at++
			case results.EventDecision:
				counts[at]++
			}
		}
		steps, epochs, decisions := int64(0), 0, 0
		for k, s := range spans {
			steps, epochs, decisions = steps+s.Steps, epochs+s.Epochs, decisions+s.Decisions
			require.Equal(t, counts[k], s.Decisions, o)
		}
		require.Equal(t, []int64{outcome.Steps, int64(outcome.Epochs), int64(outcome.Decisions)},
			[]int64{steps, int64(epochs), int64(decisions)})
		decided += decisions
		unreached += len(o.Moments()) - decisions
	}
	require.Greater(t, decided, 20)
	require.Positive(t, unreached, "decisions that do not fit are among them")
}

// rating is a decider that computes gains and changes nothing.
type rating struct{ gains int }

func (r rating) Decide(_ context.Context, s decider.State) (decider.Decision, error) {
	for range r.gains {
		_, err := s.Gain(net2net.Action{Kind: "deepen", Target: "conv1"})
		if err != nil && !errors.Is(err, decider.ErrNoTime) {
			return decider.Decision{}, err
		}
	}
	return decider.Decision{}, nil
}

// A forecast charges the gains that a decider computes, as the job does.
func TestForecastsOfGains(t *testing.T) {
	var before int64
	for _, gains := range []int{0, 1, 5} {
		o := plan()
		o.Timeline.Budget = 600 * time.Millisecond
		o.Timeline.Events = []trainer.Event{{At: 100 * time.Millisecond, Change: trainer.Up}}
		outcome, err := runJob(t, o, trainer.Parts{Decider: rating{gains}})
		require.NoError(t, err)
		spans, known := trainer.Forecast{Timeline: o.Timeline, Profile: steady(t).Profile, Options: o, Training: 540,
			Validation: 60, First: smallNetwork(), Gains: func(*model.Network) int { return gains }}.Spans()
		require.True(t, known)
		steps := int64(0)
		for _, s := range spans {
			steps += s.Steps
		}
		require.Equal(t, outcome.Steps, steps, gains)
		require.NotEqual(t, before, steps, "gains take time")
		before = steps
	}
}
