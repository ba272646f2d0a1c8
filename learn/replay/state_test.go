package replay

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A restored memory equals the saved memory. A state that does not fit the capacity is refused.
func TestRestoredMemory(t *testing.T) {
	for _, items := range []int{0, 3, 5, 12} {
		m, err := NewMemory[int](5)
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(1, 2))
		for k := range items {
			require.NoError(t, m.Add(k, random.Float64()))
			require.NoError(t, m.Set(k%m.Len(), 0.1+random.Float64()))
		}
		other, err := NewMemory[int](5)
		require.NoError(t, err)
		require.NoError(t, other.Restore(m.State()))
		require.Equal(t, m, other)
		for k := range m.Len() {
			require.Equal(t, items-m.Len()+k, m.Item(m.Nth(k)), "ages of %d items", items)
		}
	}
	m, err := NewMemory[int](2)
	require.NoError(t, err)
	for name, s := range map[string]State[int]{
		"capacity": {Sums: make([]float64, 5)}, "items": {Items: make([]int, 3), Sums: make([]float64, 3)},
		"place":   {Items: make([]int, 1), Sums: make([]float64, 3)},
		"range":   {Items: make([]int, 2), Sums: make([]float64, 3), Next: 2},
		"numbers": {Sums: []float64{0, math.NaN(), 0}}, "negative": {Sums: []float64{0, 0, -1}},
	} {
		require.Error(t, m.Restore(s), name)
	}
}

// Replace changes an item in its place and keeps the ages of all items.
func TestReplaceTheLeast(t *testing.T) {
	m, err := NewMemory[string](3)
	require.NoError(t, err)
	for k, p := range []float64{2, 1, 1} {
		require.NoError(t, m.Add(string(rune('a'+k)), p))
	}
	require.Equal(t, 1, m.Least())
	require.NoError(t, m.Replace(1, "z", 5))
	require.Equal(t, []string{"a", "z", "c"}, []string{m.Item(m.Nth(0)), m.Item(m.Nth(1)), m.Item(m.Nth(2))})
	require.Equal(t, 8.0, m.Total())
}
