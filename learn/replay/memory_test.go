package replay

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// After any additions and changes, the sums are correct and the newest items are kept.
func TestMemoryKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 20).Draw(t, "capacity")
		m, err := NewMemory[int](capacity)
		require.NoError(t, err)
		var want []int
		var priorities []float64
		for k := range rapid.IntRange(1, 60).Draw(t, "items") {
			p := rapid.Float64Range(0, 5).Draw(t, "priority")
			require.NoError(t, m.Add(k, p))
			want, priorities = append(want, k), append(priorities, p)
			if len(want) > capacity {
				want, priorities = want[1:], priorities[1:]
			}
			at := rapid.IntRange(0, m.Len()-1).Draw(t, "place")
			p = rapid.Float64Range(0, 5).Draw(t, "another")
			require.NoError(t, m.Set(at, p))
			priorities[m.Item(at)-want[0]] = p
		}
		sum, most := 0.0, 0.0
		for k, p := range priorities {
			sum, most = sum+p, max(most, p)
			place := want[k] % capacity
			require.Equal(t, want[k], m.Item(place))
			require.Equal(t, p, m.Priority(place))
		}
		require.Equal(t, len(want), m.Len())
		require.InDelta(t, sum, m.Total(), 1e-9)
		require.Equal(t, most, m.Most())
	})
}

// Items are drawn in proportion to their priorities, and the weights compensate for it.
func TestDrawsFollowPriorities(t *testing.T) {
	m, err := NewMemory[string](5)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	_, err = m.Draw(1, 1, random)
	require.ErrorContains(t, err, "the memory is empty")
	for k, p := range []float64{1, 0, 2, 5} {
		require.NoError(t, m.Add(string(rune('a'+k)), p))
	}
	counts, weighed := map[string]float64{}, 0.0
	const draws = 20000
	for range draws {
		d, err := m.Draw(4, 1, random)
		require.NoError(t, err)
		for k, place := range d.Places {
			counts[m.Item(place)]++
			weighed += d.Weights[k]
			require.InDelta(t, 1/m.Priority(place), d.Weights[k], 1e-12)
		}
	}
	require.Zero(t, counts["b"])
	require.InDelta(t, 1.0/8, counts["a"]/(4*draws), 0.01)
	require.InDelta(t, 5.0/8, counts["d"]/(4*draws), 0.01)
	require.InDelta(t, 3.0/8, weighed/(4*draws), 0.01, "each of three counts alike")
}

func TestWhatIsNoMemory(t *testing.T) {
	_, err := NewMemory[int](0)
	require.ErrorContains(t, err, "capacity is 0; must be between 1 and")
	m, err := NewMemory[int](2)
	require.NoError(t, err)
	for _, p := range []float64{-1, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, m.Add(1, p), "must be finite and not negative")
	}
	require.Zero(t, m.Len())
}
