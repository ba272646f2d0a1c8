package rewrite

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/torch"
)

// A partition gives each weight to exactly one copy. Slices without a source keep their weights.
func TestPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(0, 2).Draw(t, "dimension")
		sources := rapid.IntRange(1, 5).Draw(t, "sources")
		from := rapid.SliceOfN(rapid.IntRange(-1, sources-1), 1, 12).Draw(t, "from")
		shape := []int{rapid.IntRange(1, 40).Draw(t, "rows"), 3, 2}
		shape[dim] = len(from)
		count := shape[0] * shape[1] * shape[2]
		values := make([]float32, count)
		inner := 1
		for _, n := range shape[dim+1:] {
			inner *= n
		}
		for k := range values { // copies have the value of their source
			values[k] = float32(5 + from[k/inner%len(from)] + 10*(k%inner) + 100*(k/inner/len(from)))
		}
		var got []float32
		err := torch.With(func(s *torch.Scope) (err error) {
			var parts []float32
			for _, limit := range []int{usualPart, 1} { // at once, and row by row
				x := torch.From(s, values, shape...)
				partition(s, x, dim, from, rand.New(rand.NewPCG(1, 2)), limit)
				if got, err = torch.Values[float32](x); err != nil {
					return err
				}
				require.True(t, parts == nil || slices.Equal(parts, got), "another limit gives other weights")
				parts = got
			}
			return nil
		})
		require.NoError(t, err)
		sums := map[[3]int]float32{}
		for k, v := range got {
			require.Contains(t, []float32{0, values[k]}, v)
			if from[k/inner%len(from)] < 0 {
				require.Equal(t, values[k], v)
				continue
			}
			sums[[3]int{k / inner / len(from), from[k/inner%len(from)], k % inner}] += v
		}
		for k := range values {
			if from[k/inner%len(from)] < 0 {
				continue
			}
			require.Equal(t, values[k], sums[[3]int{k / inner / len(from), from[k/inner%len(from)], k % inner}])
		}
	})
}

// coins draws each number equally often.
func TestCoins(t *testing.T) {
	c := &coins{random: rand.New(rand.NewPCG(3, 4))}
	for n := 1; n < 5; n++ {
		counts := make([]int, n)
		for range 1000 * n {
			counts[c.draw(n)]++
		}
		for _, count := range counts {
			require.InDelta(t, 1000, count, 150)
		}
	}
}
