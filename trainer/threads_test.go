package trainer

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A machine on which a row takes a time that depends on the threads.
type machine struct {
	at      time.Time
	threads int
	perRow  map[int]time.Duration
	random  *rand.Rand
}

// train trains for a span of time, at the pace of a job with batches of 8.
func (m *machine) train(t *testing.T, c *threadChooser, network int, span time.Duration) (took time.Duration, rows int) {
	began := m.at
	for p := (pace{}); m.at.Sub(began) < span; {
		p.steps = p.next()
		require.NoError(t, c.train(network, 8*p.steps, func() error {
			p.took = time.Duration(float64(8*p.steps) * float64(m.perRow[m.threads]) * (0.95 + 0.1*m.random.Float64()))
			m.at = m.at.Add(p.took)
			return nil
		}))
		rows += 8 * p.steps
	}
	return m.at.Sub(began), rows
}

// Whatever the times are, and after they change, the choice is within 5% of the best fixed
// number of threads.
func TestChosenThreadsAreNearlyTheFastest(t *testing.T) {
	const ms = time.Millisecond
	worlds := map[string]map[int]time.Duration{
		"more is better":       {1: 4 * ms, 2: 2100 * time.Microsecond, 4: 1100 * time.Microsecond, 6: 800 * time.Microsecond},
		"one is best":          {1: 1 * ms, 2: 3 * ms, 4: 9 * ms, 6: 12 * ms},
		"two are best":         {1: 2 * ms, 2: 1500 * time.Microsecond, 4: 1800 * time.Microsecond, 6: 4 * ms},
		"it makes no matter":   {1: 1 * ms, 2: 1 * ms, 4: 1 * ms, 6: 1 * ms},
		"all but one is awful": {1: 1 * ms, 2: 40 * ms, 4: 60 * ms, 6: 80 * ms},
	}
	for name, before := range worlds {
		for then, after := range worlds {
			m := &machine{at: time.Unix(0, 0), random: rand.New(rand.NewPCG(1, 2)), perRow: before}
			c := newThreadChooser(6, func() time.Time { return m.at }, func(n int) error { m.threads = n; return nil })
			for k, perRow := range []map[int]time.Duration{before, after} {
				m.perRow = perRow
				took, rows := m.train(t, c, 100+k, 120*time.Second)
				best := time.Hour
				for _, d := range perRow {
					best = min(best, d)
				}
				require.Less(t, took.Seconds(), 1.05*best.Seconds()*float64(rows), "%s, then %s, part %d", name, then, k)
			}
		}
	}
}

// Without surgery a change of the machine's load is noticed as well.
func TestChosenThreadsFollowTheLoad(t *testing.T) {
	const ms = time.Millisecond
	m := &machine{at: time.Unix(0, 0), random: rand.New(rand.NewPCG(1, 2)), perRow: map[int]time.Duration{1: 2 * ms, 2: 1 * ms}}
	c := newThreadChooser(2, func() time.Time { return m.at }, func(n int) error { m.threads = n; return nil })
	m.train(t, c, 1, 10*time.Second)
	require.Equal(t, 1, c.fastest(), "two threads")
	m.perRow = map[int]time.Duration{1: 2 * ms, 2: 5 * ms}
	m.train(t, c, 1, 20*time.Second)
	require.Equal(t, 0, c.fastest(), "one thread")
	m.perRow = map[int]time.Duration{1: 2 * ms, 2: 1 * ms}
	m.train(t, c, 1, 60*time.Second)
	require.Equal(t, 1, c.fastest(), "two threads again")
}
