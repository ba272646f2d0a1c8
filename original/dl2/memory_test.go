package dl2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic/numpy"
	"graft/original/dl2"
)

// Priorities, draws and weights are those of the published memory.
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
