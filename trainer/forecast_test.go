package trainer_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/results"
	"graft/trainer"
)

// A forecast has the decisions, steps and epochs of a job whose network stays the same.
func TestForecastsAreTheJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	short := 0
	for range 25 {
		o := plan()
		o.Abandon, o.Overrun, o.Adapt.Every, o.Adapt.MaxDecisions = r.IntN(3) == 0, r.IntN(3) == 0, r.IntN(4) > 0, 0
		o.Epochs = max(0, r.IntN(12)-4)
		o.Timeline.Budget, o.Timeline.Events = time.Duration(100+r.IntN(900))*time.Millisecond, nil
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
	}
	require.Greater(t, short, 3, "events whose decisions do not fit are among them")
	_, known := trainer.Forecast{Timeline: plan().Timeline, Profile: steady(t).Profile, Options: plan(),
		First: smallNetwork()}.Spans()
	require.False(t, known, "without a number of images")
}

// made counts the decisions after each event.
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
