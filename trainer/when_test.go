package trainer_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

func periodic(interval float64) trainer.Adapt {
	return trainer.Adapt{When: trainer.WhenPeriodic, Interval: interval}
}

func shares(at ...float64) trainer.Adapt { return trainer.Adapt{When: trainer.WhenShare, At: at} }

func TestMoments(t *testing.T) {
	two := periodic(.25)
	two.MaxDecisions = 2
	for name, tc := range map[string]struct {
		adapt         trainer.Adapt
		budget, start int   // in milliseconds
		want          []int // in milliseconds
	}{
		"devices":              {trainer.Adapt{}, 1000, 0, nil},
		"plateau":              {trainer.Adapt{When: trainer.WhenPlateau}, 1000, 0, nil},
		"every quarter":        {periodic(.25), 1000, 0, []int{250, 500, 750}},
		"at most two":          {two, 1000, 0, []int{250, 500}},
		"after the start":      {periodic(.25), 1000, 400, []int{500, 750}},
		"no sum of errors":     {periodic(.3), 1000, 0, []int{300, 600, 900}},
		"once":                 {periodic(.6), 1000, 0, []int{600}},
		"shares":               {shares(0, .8), 2000, 0, []int{0, 1600}},
		"shares that are past": {shares(.1, .8), 1000, 101, []int{800}},
	} {
		o := trainer.Options{Adapt: tc.adapt}
		o.Timeline.Budget = time.Duration(tc.budget) * time.Millisecond
		o.Timeline.Start = time.Duration(tc.start) * time.Millisecond
		var want []time.Duration
		for _, at := range tc.want {
			want = append(want, time.Duration(at)*time.Millisecond)
		}
		assert.Equal(t, fmt.Sprint(want), fmt.Sprint(o.Moments()), name)
	}
	o := trainer.Options{Adapt: periodic(.1), Timeline: trainer.Timeline{Budget: time.Hour}}
	o.EnsureDefaults()
	require.Equal(t, 9, o.Adapt.MaxDecisions)
	require.Len(t, o.Moments(), 9)

	o = trainer.Options{Adapt: trainer.Adapt{When: trainer.WhenPlateau}}
	o.EnsureDefaults()
	require.Equal(t, []float64{1, 1, 3}, []float64{o.Adapt.MinGain, float64(o.Adapt.Window),
		float64(o.Adapt.MaxDecisions)}, "the values of the growth study")
}

func TestRefusedTimesOfDecisions(t *testing.T) {
	plateau := func(a trainer.Adapt) trainer.Adapt {
		a.When = trainer.WhenPlateau
		return a
	}
	each, one := shares(.5), shares(.4, .5)
	each.Every, one.MaxDecisions = true, 1
	for _, tc := range []struct {
		says  string
		adapt trainer.Adapt
	}{
		{`unknown value of adapt.when "sometimes"`, trainer.Adapt{When: "sometimes"}},
		{`each_epoch applies only to adapt.when = "devices", but adapt.when is "share"; remove adapt.each_epoch`, each},
		{`interval applies only to adapt.when = "periodic", but adapt.when is "devices"`, trainer.Adapt{Interval: .5}},
		{`at applies only to adapt.when = "share"`, plateau(trainer.Adapt{At: []float64{.5}})},
		{`min_gain applies only to adapt.when = "plateau"`, trainer.Adapt{MinGain: 1}},
		{`window applies only to adapt.when = "plateau"`, trainer.Adapt{Window: 1}},
		{`interval is 0; adapt.when = "periodic" requires a share`, periodic(0)},
		{`interval is 1; adapt`, periodic(1)},
		{`interval is NaN; adapt`, periodic(math.NaN())},
		{`interval is 1e-09; adapt`, periodic(1e-9)},
		{`requires at least one share of the budget, such as at = [0.8]`, shares()},
		{`share 0 is 1; must be at least 0 and less than 1`, shares(1)},
		{`list shares in ascending order, each once`, shares(.5, .5)},
		{`max_decisions is 1, but adapt.at lists 2 shares, each with one decision; remove max_decisions`, one},
		{`min_gain is -1; must be between 0 and 100 points`, plateau(trainer.Adapt{MinGain: -1})},
		{`window is -1; must be between 0 and 1000000 epochs`, plateau(trainer.Adapt{Window: -1})},
	} {
		o := plan()
		o.Adapt = tc.adapt
		o.EnsureDefaults()
		assert.ErrorContains(t, o.Validate(), tc.says)
	}
}

// timed returns a job without events that decides by a rule.
func timed(a trainer.Adapt) trainer.Options {
	o := plan()
	o.Timeline.Events, o.Adapt = nil, a
	o.Adapt.Rows = 64
	return o
}

// decidedAt returns the times at which decisions were made.
func decidedAt(book *memory) (times []time.Duration) {
	for _, n := range book.notes {
		if n.Event == results.EventDecision {
			times = append(times, n.Time)
		}
	}
	return times
}

// Decisions follow the first step that reaches their time, without an up event.
func TestDecisionsComeAtTheirTimes(t *testing.T) {
	const ms = time.Millisecond
	c := steady(t)
	step := c.Cost(clock.Work{Kind: clock.Steps, Count: 1, Rows: 32, Network: smallNetwork(), Devices: 1})
	deciding := c.Cost(clock.Work{Kind: clock.Deciding, Count: 1, Network: smallNetwork(), Devices: 1})
	require.Positive(t, step)
	for name, tc := range map[string]struct {
		adapt trainer.Adapt
		want  []time.Duration
	}{
		"periodic": {periodic(.4), []time.Duration{600 * ms, 1200 * ms}},
		"share":    {shares(0, .8), []time.Duration{0, 1200 * ms}},
	} {
		book := &memory{}
		o := timed(tc.adapt)
		outcome := run(t, o, book, "deepen:conv1", "widen:conv2:12")
		require.Equal(t, []string{"start", "decision", "decision", "end"}, book.events(), name)
		require.LessOrEqual(t, outcome.Used, outcome.Budget)
		require.Greater(t, outcome.Parameters, smallNetwork().Parameters())
		for k, at := range decidedAt(book) {
			require.GreaterOrEqual(t, at-deciding, tc.want[k], name)
			require.Less(t, at-deciding, tc.want[k]+2*step, "%s: a step of the network that grew takes longer", name)
		}
	}
}

// A decision of a rule restarts the schedule only if changes of the network do.
func TestDecisionsBetweenEventsAndTheSchedule(t *testing.T) {
	rate := func(restart trainer.Restart, actions ...string) float64 {
		o, book := timed(shares(.8)), &memory{}
		o.Schedule.Restart = restart
		run(t, o, book, actions...)
		return book.rows[len(book.rows)-1].Rate
	}
	require.Equal(t, rate(trainer.NoRestart, "deepen:conv1"), rate(trainer.RestartOnDevices, "deepen:conv1"))
	require.Equal(t, rate(trainer.NoRestart, "none"), rate(trainer.RestartOnSurgery, "none"))
	require.NotEqual(t, rate(trainer.NoRestart, "deepen:conv1"), rate(trainer.RestartOnSurgery, "deepen:conv1"))
}

// If decisions come at fixed times, an up asks for no decision. A down reverts the changes since the last up that no
// down has reverted.
func TestEventsBesideTimesOfDecisions(t *testing.T) {
	const ms = time.Millisecond
	for name, tc := range map[string]struct {
		at      []float64
		events  []trainer.Event
		want    []string
		changes int
	}{
		"no up": {[]float64{.2}, []trainer.Event{{At: 600 * ms, Change: trainer.Down}},
			[]string{"start", "decision", "down", "end"}, 1},
		"changed before the up": {[]float64{.2}, []trainer.Event{{At: 600 * ms, Change: trainer.Up},
			{At: 900 * ms, Change: trainer.Down}}, []string{"start", "decision", "up", "down", "end"}, 1},
		"changed before and after the up": {[]float64{.2, .5}, []trainer.Event{{At: 600 * ms, Change: trainer.Up},
			{At: 900 * ms, Change: trainer.Down}},
			[]string{"start", "decision", "up", "decision", "down", "shrink", "end"}, 1},
		"changed after the down": {[]float64{.5, .8}, []trainer.Event{{At: 600 * ms, Change: trainer.Up},
			{At: 900 * ms, Change: trainer.Down}},
			[]string{"start", "up", "decision", "down", "shrink", "decision", "end"}, 1},
	} {
		o, book := timed(trainer.Adapt{When: trainer.WhenShare, At: tc.at, Divide: 2}), &memory{}
		o.Timeline.Events = tc.events
		outcome := run(t, o, book, "deepen:conv1", "widen:conv2:12")
		require.Equal(t, tc.want, book.events(), name)
		require.Len(t, outcome.Changes, tc.changes, name)
	}
}

// If no improvement is enough, decisions come at the ends of windows until the network grows.
func TestDecisionsAtAPlateau(t *testing.T) {
	book := &memory{}
	o := timed(trainer.Adapt{When: trainer.WhenPlateau, MinGain: 100, Window: 2})
	run(t, o, book, "deepen:conv1", "widen:conv2:12")
	require.Equal(t, []string{"start", "decision", "end"}, book.events(), "100 points are never gained")
	require.Equal(t, []int{2, 0}, []int{book.notes[1].Epoch, book.notes[1].Step})

	book = &memory{}
	run(t, o, book, "none", "none", "deepen:conv1", "none")
	require.Equal(t, []string{"start", "decision", "decision", "decision", "end"}, book.events(), "at most three")
	require.Equal(t, []int{2, 4, 6}, []int{book.notes[1].Epoch, book.notes[2].Epoch, book.notes[3].Epoch})
}

// A job that is killed at random times and resumed gives the same bits as an uninterrupted job.
func TestKilledRunsWithTimesOfDecisions(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	for name, a := range map[string]trainer.Adapt{
		"periodic": periodic(.3),
		"share":    shares(.3, .7),
		"plateau":  {When: trainer.WhenPlateau, MinGain: 100, Window: 2},
	} {
		o := brief()
		o.Adapt = a
		o.Adapt.Rows = 64
		o.Timeline.Events = nil
		work := func(path string, looks int) (outcome *trainer.Outcome, digest string) {
			require.NoError(t, inFolder(t, files.OS{}, path, func(s *torch.Scope, folder *trainer.Folder) error {
				defer func() { digest = folder.Digest() }()
				j, err := goOn(t, s, folder, &killingClock{Virtual: *steady(t), looks: looks}, trainer.Parts{
					Data: fewImages(t, s), Decider: script(t, "deepen:conv1", "widen:conv2:12"), Recorder: folder}, o)
				if err != nil {
					return err
				}
				outcome, err = j.Run(context.Background())
				return err
			}))
			return outcome, digest
		}
		want, digest := work(filepath.Join(t.TempDir(), "whole"), -1)
		require.Positive(t, want.Decisions, name)
		random, kills := rand.New(rand.NewPCG(1, 2)), 0
		for kills < 6 {
			path := filepath.Join(t.TempDir(), "run")
			for {
				outcome, got := work(path, 1+random.IntN(90))
				if outcome == nil {
					kills++
					continue
				}
				require.Equal(t, want.Digest, outcome.Digest, "%s after %d kills", name, kills)
				require.Equal(t, digest, got, name)
				break
			}
		}
	}
}
