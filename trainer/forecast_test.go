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

// A forecast counts the decisions that a job makes whose network stays as it is.
func TestForecastsAreTheJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	short := 0
	for range 25 {
		o := plan()
		o.Abandon, o.Overrun, o.Adapt.Every, o.Adapt.MaxDecisions = r.IntN(3) == 0, r.IntN(3) == 0, r.IntN(4) > 0, 0
		o.Timeline.Budget, o.Timeline.Events = time.Duration(100+r.IntN(900))*time.Millisecond, nil
		for range r.IntN(4) {
			o.Timeline.Events = append(o.Timeline.Events,
				trainer.Event{At: time.Duration(r.Int64N(int64(o.Timeline.Budget))),
					Change: []trainer.Change{trainer.Up, trainer.Up, trainer.Down}[r.IntN(3)], Devices: r.IntN(3)})
		}
		slices.SortFunc(o.Timeline.Events, func(a, b trainer.Event) int { return int(a.At - b.At) })
		book := &memory{}
		run(t, o, book)
		f := trainer.Forecast{Timeline: o.Timeline, Profile: steady(t).Profile, Options: o, Training: 540,
			Validation: 60, First: smallNetwork()}
		decisions, known := f.Decisions()
		require.True(t, known)
		require.Equal(t, made(book, o.Timeline), decisions, o.Timeline)
		for k, n := range decisions {
			if o.Timeline.Events[k].Change == trainer.Up && o.Adapt.Every && n < 3 {
				short++
			}
		}
	}
	require.Greater(t, short, 3, "events whose decisions do not fit are among them")
	_, known := trainer.Forecast{Timeline: plan().Timeline, Profile: steady(t).Profile, Options: plan(),
		First: smallNetwork()}.Decisions()
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
