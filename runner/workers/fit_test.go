package workers

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const mib = 1 << 20

// madeUp is a machine whose throughput levels off at some number of workers. Each worker takes memory.
type madeUp struct {
	level  float64 // number of workers at full throughput
	each   int64   // bytes per worker
	common int64   // bytes shared by all workers
	breaks int     // number of workers that fails; zero never fails
	tried  []int
}

func (m *madeUp) rate(n int) float64 { return 100 * math.Min(float64(n), m.level) }

func (m *madeUp) try(n int) (Load, error) {
	m.tried = append(m.tried, n)
	if m.breaks > 0 && n >= m.breaks {
		return Load{}, errors.New("out of memory")
	}
	return Load{Workers: n, Rate: m.rate(n), Memory: m.common + int64(n)*m.each}, nil
}

func TestFitOnMadeUpMachines(t *testing.T) {
	for name, c := range map[string]struct {
		m     madeUp
		most  int
		limit int64
		best  int
		tried []int
		why   string
	}{
		"throughput levels off": {madeUp{level: 4, each: 10 * mib}, 64, 0, 4, []int{1, 2, 4, 8},
			"8 workers train 400 images/s, but 4 workers train 400 images/s"},
		"memory ends first": {madeUp{level: 64, each: 10 * mib}, 64, 45 * mib, 4, []int{1, 2, 4},
			"8 workers would need 80 of 45 MiB"},
		"shared memory is spared": {madeUp{level: 64, each: 10 * mib, common: 20 * mib}, 64, 64 * mib, 4,
			[]int{1, 2, 4}, "8 workers would need 100 of 64 MiB"},
		"the device runs out": {madeUp{level: 64, each: 10 * mib, breaks: 4}, 64, 0, 2, []int{1, 2, 4},
			"4 workers do not fit: out of memory"},
		"few processors": {madeUp{level: 64, each: mib}, 6, 0, 4, []int{1, 2, 4}, "reached the maximum of 6 workers"},
		"one fills the device": {madeUp{level: 1, each: 40 * mib}, 8, 64 * mib, 1, []int{1},
			"2 workers would need 80 of 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			best, why, err := Fit(c.most, c.limit, c.m.try)
			require.NoError(t, err)
			require.Equal(t, c.best, best.Workers)
			require.Equal(t, c.tried, c.m.tried)
			require.Equal(t, c.why, why)
		})
	}
	_, _, err := Fit(8, 0, (&madeUp{breaks: 1}).try)
	require.ErrorContains(t, err, "the job failed even with only one worker: out of memory")
	_, _, err = Fit(8, mib, (&madeUp{each: 2 * mib}).try)
	require.ErrorContains(t, err, "2 MiB of memory, more than the limit of 1 MiB")
}

// The chosen number fits, and no power of two that fits is notably faster.
func TestFitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := madeUp{level: rapid.Float64Range(1, 200).Draw(t, "level"),
			each: rapid.Int64Range(1, 100).Draw(t, "each") * mib}
		most, limit := rapid.IntRange(1, 128).Draw(t, "most"), rapid.Int64Range(100, 4000).Draw(t, "limit")*mib
		best, _, err := Fit(most, limit, m.try)
		require.NoError(t, err)
		require.LessOrEqual(t, best.Memory, limit)
		require.LessOrEqual(t, best.Workers, most)
		for n := 1; n <= most && int64(n)*m.each <= limit; n *= 2 {
			require.GreaterOrEqual(t, best.Rate*leastGain, m.rate(n), "%d workers fit too", n)
		}
	})
}
