package dl2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/random/numpy"
	"graft/original/dl2"
)

// Priorities, draws and weights equal the published memory's.
func TestPublishedMemory(t *testing.T) {
	var file struct {
		Per struct {
			Capacity int
			Rewards  []float64
			Stored   []float64 `json:"leaves_after_store"`
			Total    float64   `json:"total_p"`
			Rounds   []struct {
				Tree    []int     `json:"tree_idx"`
				Items   []int     `json:"item"`
				Weights []float64 `json:"is_weights"`
				Off     []float64 `json:"abs_td"`
				Beta    float64
				Mean    float64   `json:"avg_reward"`
				Leaves  []float64 `json:"leaves_after_update"`
			}
		}
	}
	recorded(t, "golden/rng_memory_golden.json", &file)
	want := file.Per
	m, err := dl2.NewMemory[int](dl2.MemoryOptions{Capacity: want.Capacity, ByReward: true, MeanBaseline: true})
	require.NoError(t, err)
	for k, reward := range want.Rewards {
		require.NoError(t, m.Store(k, reward))
	}
	leaves := func() (all []float64) {
		for place := range want.Capacity {
			all = append(all, m.Priority(place))
		}
		return all
	}
	require.InDeltaSlice(t, want.Stored, leaves(), 1e-12)
	require.InDelta(t, want.Total, m.Total(), 1e-12)
	random := numpy.New(3)
	for _, round := range want.Rounds {
		d, err := m.Sample(len(round.Tree), random)
		require.NoError(t, err)
		for k, place := range d.Places {
			require.Equal(t, round.Tree[k]-(want.Capacity-1), place)
			require.Equal(t, round.Items[k], m.Item(place))
		}
		require.InDeltaSlice(t, round.Weights, d.Weights, 1e-12)
		require.InDelta(t, round.Beta, m.Beta(), 1e-12)
		require.InDelta(t, round.Mean, m.MeanReward(), 1e-12)
		for k, place := range d.Places {
			require.NoError(t, m.Learned(place, round.Off[k]))
		}
		require.InDeltaSlice(t, round.Leaves, leaves(), 1e-12)
	}
}

// Even draws choose as NumPy does among the transitions from oldest to newest, with weights of one, and only from a
// full memory.
func TestEvenMemory(t *testing.T) {
	var file struct {
		Want struct {
			Head []int `json:"choice_8192_256_head"`
		} `json:"rng_seed1"`
	}
	recorded(t, "golden/rng_memory_golden.json", &file)
	random := numpy.New(1)
	for range 5 {
		random.Float64()
	}
	for _, r := range [][3]int{{8, 1, 16}, {8, 3, 8}, {8, 0, 5}, {8, 0, 8}, {8, 1, 100_000}, {4, 90, 110}} {
		for range r[0] { // draws that the recorded generator made before
			random.IntN(r[1], r[2])
		}
	}
	random.Choice(20, 20)
	m, err := dl2.NewMemory[int](dl2.MemoryOptions{Capacity: 8192, Even: true, EvictLeast: true})
	require.NoError(t, err)
	const before = 100 // transitions already evicted
	for k := range before + 8192 {
		require.Equal(t, k >= 8192, m.Full())
		require.NoError(t, m.Store(k-before, float64(k)))
	}
	d, err := m.Sample(256, random)
	require.NoError(t, err)
	for k, want := range file.Want.Head {
		require.Equal(t, want, m.Item(d.Places[k]))
		require.Equal(t, 1.0, d.Weights[k])
	}
	require.NoError(t, m.Learned(d.Places[0], 3))
	require.Equal(t, 1.0, m.Priority(d.Places[0]))
}

// A full memory evicts the transition with the smallest priority, at any position.
func TestMemoryEvictsTheLeast(t *testing.T) {
	m, err := dl2.NewMemory[int](dl2.MemoryOptions{Capacity: 3, EvictLeast: true})
	require.NoError(t, err)
	for k := range 3 {
		require.NoError(t, m.Store(k, 0))
		require.NoError(t, m.Learned(k, []float64{0.5, 0.1, 0.7}[k]))
	}
	for k := 3; k < 6; k++ {
		least := m.Least()
		require.NoError(t, m.Store(k, 0))
		require.Equal(t, k, m.Item(least))
		require.Equal(t, m.Most(), m.Priority(least), "the largest there is")
	}
	require.Equal(t, []int{5, 3, 2}, []int{m.Item(0), m.Item(1), m.Item(2)}, "the first of equal ones")
}
