package trainer

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// machine is a machine on which the time of a row depends on the number of threads.
type machine struct {
	at      time.Time
	threads int
	perRow  map[int]time.Duration
	noise   float64 // largest relative change of a call's time
	random  *rand.Rand
}

func newMachine(seed uint64, perRow map[int]time.Duration) *machine {
	return &machine{at: time.Unix(0, 0), random: rand.New(rand.NewPCG(seed, 2)), perRow: perRow, noise: 0.05}
}

func (m *machine) chooser(most int) *ThreadChooser {
	return newThreadChooser(most, func() time.Time { return m.at }, func(n int) error { m.threads = n; return nil })
}

// best returns the time of rows with the best fixed number of threads.
func (m *machine) best(rows int) time.Duration {
	return time.Duration(rows) * slices.Min(slices.Collect(maps.Values(m.perRow)))
}

// train trains for a span of time, at the pace of a job with batches of 8.
func (m *machine) train(t *testing.T, c *ThreadChooser, network int,
	span time.Duration) (took time.Duration, rows int) {
	began := m.at
	for p := (pace{}); m.at.Sub(began) < span; {
		p.steps = c.steps(network, p)
		require.NoError(t, c.train(network, 8*p.steps, false, func() error {
			p.took = time.Duration(float64(8*p.steps) * float64(m.perRow[m.threads]) *
				(1 - m.noise + 2*m.noise*m.random.Float64()))
			m.at = m.at.Add(p.took)
			return nil
		}))
		rows += 8 * p.steps
	}
	return m.at.Sub(began), rows
}

// The choice is within 5% of the best fixed number of threads, for any times and after they change.
func TestChosenThreadsAreNearlyTheFastest(t *testing.T) {
	const ms = time.Millisecond
	worlds := map[string]map[int]time.Duration{
		"more is better": {1: 4 * ms, 2: 2100 * time.Microsecond, 4: 1100 * time.Microsecond,
			6: 800 * time.Microsecond},
		"one is best":          {1: 1 * ms, 2: 3 * ms, 4: 9 * ms, 6: 12 * ms},
		"two are best":         {1: 2 * ms, 2: 1500 * time.Microsecond, 4: 1800 * time.Microsecond, 6: 4 * ms},
		"it makes no matter":   {1: 1 * ms, 2: 1 * ms, 4: 1 * ms, 6: 1 * ms},
		"all but one is awful": {1: 1 * ms, 2: 10 * ms, 4: 15 * ms, 6: 20 * ms},
	}
	for name, before := range worlds {
		for then, after := range worlds {
			m := newMachine(1, before)
			c := m.chooser(6)
			for k, now := range []map[int]time.Duration{before, after} {
				m.perRow = now
				took, rows := m.train(t, c, 100+k, 120*time.Second)
				require.Less(t, took.Seconds(), 1.05*m.best(rows).Seconds(), "%s, then %s, part %d", name, then, k)
			}
		}
	}
}

// The choice follows a change of the machine's load, also without surgery.
func TestChosenThreadsFollowTheLoad(t *testing.T) {
	const ms = time.Millisecond
	m := newMachine(1, map[int]time.Duration{1: 2 * ms, 2: 1 * ms})
	c := m.chooser(2)
	m.train(t, c, 1, 10*time.Second)
	require.Equal(t, 1, c.current, "two threads")
	m.perRow = map[int]time.Duration{1: 2 * ms, 2: 5 * ms}
	m.train(t, c, 1, 20*time.Second)
	require.Equal(t, 0, c.current, "one thread")
	m.perRow = map[int]time.Duration{1: 2 * ms, 2: 1 * ms}
	m.train(t, c, 1, 60*time.Second)
	require.Equal(t, 1, c.current, "two threads again")
}

// A job of a second and a half, with steps about as long as a small network's, also loses at most 5% on average.
func TestChosenThreadsOfShortJobs(t *testing.T) {
	const us = time.Microsecond
	worlds := map[string]map[int]time.Duration{
		"two are faster":       {1: 1700 * us, 2: 1000 * us},
		"two are a bit faster": {1: 1200 * us, 2: 1000 * us},
		"one is a bit faster":  {1: 1000 * us, 2: 1200 * us},
		"one is faster":        {1: 1000 * us, 2: 3000 * us},
	}
	for name, perRow := range worlds {
		for _, noise := range []float64{0, 0.05, 0.2} { // with other processes, calls differ by more
			var took, best time.Duration
			for seed := range uint64(40) {
				m := newMachine(seed, perRow)
				m.noise = noise
				span, rows := m.train(t, m.chooser(2), 1, 1500*time.Millisecond)
				took, best = took+span, best+m.best(rows)
			}
			require.Less(t, took.Seconds(), 1.05*best.Seconds(), "%s, noise %g", name, noise)
		}
	}
}

// The pause after a trial doubles while the same number of threads wins, up to a bound. It is reset when another number
// wins.
func TestPausesBetweenTrialsDouble(t *testing.T) {
	at, threads := time.Unix(0, 0), 0
	perRow := map[int]time.Duration{1: 10 * time.Millisecond, 2: 10 * time.Millisecond}
	c := newThreadChooser(2, func() time.Time { return at }, func(n int) error { threads = n; return nil })
	var pauses []time.Duration
	trials := func(n int) {
		for len(pauses) < n {
			trying := c.trial != nil
			require.NoError(t, c.train(1, 8, false, func() error { at = at.Add(perRow[threads]); return nil }))
			if trying && c.trial == nil {
				pauses = append(pauses, c.pairs[0].pause)
			}
		}
	}
	trials(5)
	require.Equal(t, []time.Duration{8, 16, 32, 64, 64}, pauses)
	perRow[2] = time.Millisecond
	trials(7)
	require.Equal(t, []time.Duration{8, 16}, pauses[5:])
}

// A trial ignores a call that took unusually long, the first calls of a network and the last call of an epoch.
func TestTrialsLeaveOutWhatMisleads(t *testing.T) {
	at, threads := time.Unix(0, 0), 0
	c := newThreadChooser(2, func() time.Time { return at }, func(n int) error { threads = n; return nil })
	var used []int
	for k := range 7 {
		require.NoError(t, c.train(1, 8, k == 3, func() error {
			at = at.Add(time.Duration(threads)*10*time.Millisecond + map[int]time.Duration{2: time.Second,
				3: time.Minute, 4: time.Second}[k])
			used = append(used, threads)
			return nil
		}))
	}
	require.Equal(t, []int{2, 1, 2, 2, 1, 1, 2}, used)
	require.Equal(t, 0, c.current, "one thread")
}

// Successive jobs share a chooser: the second starts with the number of threads that the first found.
func TestChosenThreadsAreKeptForTheNextJob(t *testing.T) {
	m := newMachine(1, map[int]time.Duration{1: time.Millisecond, 2: 3 * time.Millisecond})
	c := m.chooser(2)
	m.train(t, c, 1, 2*time.Second)
	c.close()
	require.Equal(t, 2, m.threads, "for what comes after the job")
	require.NoError(t, c.evaluate(func() error { return nil }))
	require.Equal(t, 1, m.threads)
}
