package dl2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
	"graft/original/dl2"
)

// A slot draws a number of workers and a ratio, and each action draws one number. Each job that trains with servers and
// recorded speeds draws one number for its error, which changes its progress.
func TestDrawsOfSpeedErrors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *elastic.Study)
		drawn  bool
	}{
		"servers":    {func(*elastic.Study) {}, true},
		"errors":     {func(s *elastic.Study) { s.Options.SpeedError = 0.3 }, true},
		"no servers": {func(s *elastic.Study) { s.Options.AllReduce, s.Options.SpeedError = true, 0.3 }, false},
		"analytic":   {func(s *elastic.Study) { s.Speed, s.Options.SpeedError = elastic.Analytic{}, 0.3 }, false},
		"analytic no servers": {func(s *elastic.Study) {
			s.Speed, s.Options.AllReduce = elastic.Analytic{}, true
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, random, twin := small(1), numpy.New(5), numpy.New(5)
			c.change(&s)
			e := env(t, s, dl2.EnvOptions{Likeliest: true}, random)
			twin.IntN(1, 3)
			twin.IntN(3, 8)
			if s.Options.AllReduce {
				step(t, e, certain(e, 0))
			}
			e.Observe()
			j := e.Window.Jobs[0]
			require.True(t, step(t, e, certain(e, -1)).Ended)
			factor := 1.0
			if c.drawn {
				factor += s.Options.SpeedError * (2*twin.Float64() - 1)
			}
			if _, analytic := s.Speed.(elastic.Analytic); !analytic {
				require.InDelta(t, 100*factor, j.Progress, 1e-9)
			}
			twin.IntN(1, 3)
			twin.IntN(3, 8)
			require.Equal(t, twin, random)
		})
	}
}

// Without servers a job has one action and starts a slot without tasks. With separate workers and servers it has two.
func TestActionsOfOtherForms(t *testing.T) {
	s := small(3)
	s.Options.AllReduce = true
	e := env(t, s, dl2.EnvOptions{Likeliest: true}, numpy.New(1))
	require.Equal(t, 21, e.Window.Actions())
	for k := range 4 {
		taken := step(t, e, certain(e, k%2))
		require.Equal(t, []any{k % 2, true, false}, []any{taken.Action, taken.Valid, taken.Ended})
	}
	require.Equal(t, []int{2, 2, 0}, workersOf(e))
	taken := step(t, e, certain(e, 2))
	require.Equal(t, []any{false, true}, []any{taken.Valid, taken.Ended}, "no node has room")

	e = env(t, small(2), dl2.EnvOptions{ShapeOptions: dl2.ShapeOptions{WindowOptions: elastic.WindowOptions{Size: 4,
		Apart: true}, NoStart: true}, Likeliest: true}, numpy.New(1))
	require.Equal(t, 9, e.Window.Actions())
	for _, action := range []int{2, 3, 0} {
		require.True(t, step(t, e, certain(e, action)).Valid)
	}
	require.Equal(t, []int{1, 1}, workersOf(e))
	require.Len(t, e.Window.Jobs[1].Servers, 1)
	require.Empty(t, e.Window.Jobs[0].Servers)
}

func workersOf(e *dl2.Env) (all []int) {
	e.Observe()
	for _, j := range e.Window.Jobs {
		if j != nil {
			all = append(all, len(j.Workers))
		}
	}
	return all
}

// A state without an allowed or likely action ends the slot without an action. An episode is cut after its last slot.
func TestSlotsWithoutActions(t *testing.T) {
	e := env(t, small(1), dl2.EnvOptions{MostSlots: 2, ShapeOptions: dl2.ShapeOptions{NoStart: true}}, numpy.New(1))
	for k := range 3 {
		taken := step(t, e, make([]float64, e.Window.Actions()))
		require.Equal(t, dl2.Taken{Action: -1, Ended: true}, taken)
		require.Equal(t, k == 2, e.Cut())
	}
	_, err := e.Step(nil)
	require.ErrorContains(t, err, "the episode has ended")

	s := small(1)
	s.Options.Most = 1
	e = env(t, s, dl2.EnvOptions{}, numpy.New(1))
	require.Equal(t, -1, step(t, e, certain(e, 0)).Action, "the only job is at its maximum")
}

// Rewards of actions include a job's progress in a slot, and the mean progress of the jobs that ran.
func TestGainsOfJobs(t *testing.T) {
	e := env(t, small(5), dl2.EnvOptions{Likeliest: true}, numpy.New(1))
	e.Observe()
	jobs := append([]*elastic.Job{}, e.Window.Jobs...)
	require.InDelta(t, 2.0, step(t, e, certain(e, -1)).Reward, 1e-12, "four of five jobs find room")
	require.InDelta(t, 0.5, e.Gain(jobs[3]), 1e-12)
	require.Zero(t, e.Gain(jobs[4]))
	require.InDelta(t, 0.5, e.Gain(nil), 1e-12)
}

// Training without servers and with analytic speeds sometimes ends a slot once all jobs have more workers than the
// slot's draw. With recorded speeds, injection replaces nothing.
func TestInjectedEnds(t *testing.T) {
	for _, analytic := range []bool{true, false} {
		s := small(1)
		s.Options.AllReduce, s.Options.Most = true, 4
		if analytic {
			s.Speed = elastic.Analytic{}
		}
		random, injected := numpy.New(3), 0
		for range 400 {
			e := env(t, s, dl2.EnvOptions{Training: true}, random)
			for k := range 3 {
				p := certain(e, 0)
				p[len(p)-1] = 1e-12
				taken := step(t, e, p)
				if taken.Action != 0 {
					require.True(t, analytic)
					require.Positive(t, k, "a job without workers")
					injected++
					break
				}
			}
		}
		require.Equal(t, analytic, injected > 10, "%d", injected)
	}
}

// Even draws can choose any action whose probability is not negligible.
func TestEvenDraws(t *testing.T) {
	random, seen := numpy.New(3), map[int]int{}
	for range 300 {
		e := env(t, small(1), dl2.EnvOptions{Training: true, NoInjection: true, Epsilon: 1}, random)
		p := certain(e, 0)
		p[2], p[len(p)-1] = 1e-25, 1e-15
		seen[step(t, e, p).Action]++
	}
	require.Len(t, seen, 2)
	require.Greater(t, seen[0], 100)
	require.Greater(t, seen[60], 100)
}
