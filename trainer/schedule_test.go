package trainer_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch"
	"graft/trainer"
)

// Each rule gives the rates that are computed by hand.
func TestRates(t *testing.T) {
	at := func(share float64) trainer.Moment { return trainer.Moment{Epochs: 4, Steps: 30, Share: share} }
	used := func(used float64) trainer.Moment { return trainer.Moment{Epochs: 4, Steps: 30, Share: 0.3, Used: used} }
	for name, c := range map[string]struct {
		schedule trainer.Schedule
		at       trainer.Moment
		want     float64
	}{
		"cosine, half-way":           {trainer.Schedule{}, at(0.5), 0.1},
		"cosine, at the end":         {trainer.Schedule{}, at(1), 1e-8},
		"cosine, past the end":       {trainer.Schedule{}, at(1.5), 1e-8},
		"linear":                     {trainer.Schedule{Rule: trainer.Linear}, at(0.75), 0.05},
		"linear, with a least rate":  {trainer.Schedule{Rule: trainer.Linear, MinLR: 0.01}, at(1), 0.01},
		"exponential":                {trainer.Schedule{Rule: trainer.Exponential}, at(0.9), 0.2 * math.Pow(0.9, 4)},
		"step":                       {trainer.Schedule{Rule: trainer.StepDown, Every: 3}, at(0.9), 0.02},
		"constant":                   {trainer.Schedule{Rule: trainer.Constant}, at(0.9), 0.2},
		"steps of warm-up":           {trainer.Schedule{Rule: trainer.Constant, WarmUp: 62}, at(0), 0.1},
		"a share of warm-up":         {trainer.Schedule{Rule: trainer.Constant, WarmUpShare: 0.2}, at(0.05), 0.05},
		"wsd, stable":                {trainer.Schedule{Rule: trainer.WSD}, used(0.5), 0.2},
		"wsd, before the decay":      {trainer.Schedule{Rule: trainer.WSD}, used(0.79), 0.2},
		"wsd, in the decay":          {trainer.Schedule{Rule: trainer.WSD}, used(0.85), 0.1},
		"wsd, at the end":            {trainer.Schedule{Rule: trainer.WSD}, used(1), 1e-8},
		"wsd, past the end":          {trainer.Schedule{Rule: trainer.WSD}, used(1.2), 1e-8},
		"wsd, with a least rate":     {trainer.Schedule{Rule: trainer.WSD, MinLR: 0.05}, used(0.99), 0.05},
		"wsd, a longer decay":        {trainer.Schedule{Rule: trainer.WSD, DecayShare: 0.4}, used(0.7), 0.1},
		"wsd, only a decay":          {trainer.Schedule{Rule: trainer.WSD, DecayShare: 1}, used(0.25), 0.1},
		"wsd, in a warm-up":          {trainer.Schedule{Rule: trainer.WSD, WarmUp: 62}, used(0.1), 0.1},
		"wsd, in a share of warm-up": {trainer.Schedule{Rule: trainer.WSD, WarmUpShare: 0.6}, used(0.1), 0.1},
		"after the share":            {trainer.Schedule{Rule: trainer.Constant, WarmUpShare: 0.2}, at(0.2), 0.2},
	} {
		c.schedule.EnsureDefaults()
		require.NoError(t, c.schedule.Validate(), name)
		assert.InDelta(t, c.want, c.schedule.Rate(0.2, c.at), 1e-12, name)
	}
	for _, wrong := range []trainer.Schedule{{Rule: "exp"}, {Restart: "often"}, {WarmUpShare: 1},
		{WarmUpShare: math.NaN()}, {Decay: 2}, {Rule: trainer.WSD, DecayShare: 1.5},
		{Rule: trainer.WSD, DecayShare: math.NaN()}, {DecayShare: 0.2}, {Rule: trainer.Linear, DecayShare: 0.2}} {
		assert.Error(t, wrong.Validate(), "%+v", wrong)
	}
}

// The rate follows the share of the budget in the same way with and without growth. A restart resets it to its first
// value.
func TestRestarts(t *testing.T) {
	last := func(restart trainer.Restart, actions ...string) map[time.Duration]float64 {
		o, book := plan(), &memory{}
		o.Schedule.Restart = restart
		run(t, o, book, actions...)
		rates := map[time.Duration]float64{}
		for _, r := range book.rows {
			rates[r.Time.Truncate(200*time.Millisecond)] = r.Rate
		}
		return rates
	}
	const within200ms = 2.2e-3 // the cosine changes by 2.1e-3 at most
	grows, never := last(trainer.NoRestart, "deepen:conv1", "widen:conv2:12"), last(trainer.NoRestart, "none", "none")
	for at, rate := range never {
		if other, both := grows[at]; both {
			assert.InDelta(t, rate, other, within200ms, "the job's rates %v: %v and %v", at, grows, never)
		}
		assert.InDelta(t, 0.005*(1+math.Cos(math.Pi*at.Seconds()/1.5)), rate, within200ms)
	}
	late := 1200 * time.Millisecond
	for restart, higher := range map[trainer.Restart][2]bool{trainer.RestartOnDevices: {true, true},
		trainer.RestartOnSurgery: {true, false}} {
		for k, actions := range [][]string{{"deepen:conv1", "none"}, {"none", "none"}} {
			rates := last(restart, actions...)
			assert.Equal(t, higher[k], rates[late] > 2*never[late], "%s, %v: %v, %v", restart, actions, rates, never)
		}
	}
}

// The rule wsd decays at the end of the budget, whatever restarts the schedule.
func TestWSDInJobs(t *testing.T) {
	rates := func(restart trainer.Restart) (rates []float64, times []time.Duration) {
		o, book := plan(), &memory{}
		o.Schedule = trainer.Schedule{Rule: trainer.WSD, Restart: restart, DecayShare: 0.5}
		run(t, o, book, "deepen:conv1", "widen:conv2:12")
		for _, r := range book.rows {
			rates, times = append(rates, r.Rate), append(times, r.Time)
		}
		return rates, times
	}
	want, times := rates(trainer.NoRestart)
	decays := 0
	for k, at := range times {
		left := max(0, 1-at.Seconds()/1.5)
		expected := 0.01
		if left < 0.5 {
			expected *= 1 - math.Sqrt(1-left/0.5)
			decays++
		}
		assert.InDelta(t, expected, want[k], 1e-3, "%v of %v", at, times)
	}
	require.Greater(t, decays, 1)
	require.Less(t, want[len(want)-1], 0.002)
	for _, restart := range []trainer.Restart{trainer.RestartOnDevices, trainer.RestartOnSurgery} {
		got, _ := rates(restart)
		require.Equal(t, want, got, restart)
	}
}

// A rate that is low long before the end is reported once. A rate that follows the budget is not reported.
func TestLowRate(t *testing.T) {
	for rule, told := range map[trainer.Rule]int{trainer.Exponential: 1, trainer.Cosine: 0} {
		o, book := plan(), &memory{}
		o.Schedule.Rule, o.Schedule.Decay = rule, 0.01
		run(t, o, book, "none", "none")
		count := 0
		for _, n := range book.notes {
			if n.Event == "low rate" {
				count++
				assert.Regexp(t, `^learning rate 1e-06, initially 0.01, after \d+ % of the budget$`, n.Why)
			}
		}
		assert.Equal(t, told, count, rule)
	}
}

// Training that diverges ends with an error that names a remedy, and saves no checkpoint.
func TestDivergence(t *testing.T) {
	o, book := plan(), &memory{}
	o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 1e30}
	_, err := runJob(t, o, trainer.Parts{Recorder: book}, "none", "none")
	require.ErrorIs(t, err, trainer.ErrDiverged)
	require.ErrorContains(t, err, "restart with a lower learning rate or a warm-up")
	require.Empty(t, book.saves, "of what is not a number nothing is saved")
}
