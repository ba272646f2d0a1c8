package words

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNatural(t *testing.T) {
	want := []string{"", "9", "10", "a", "a/seed-1", "a/seed-2", "a/seed-02x", "a/seed-10", "a/seed-10b", "b1", "b01c2"}
	for seed := range int64(20) {
		got := slices.Clone(want)
		rand.New(rand.NewSource(seed)).Shuffle(len(got), func(i, k int) { got[i], got[k] = got[k], got[i] })
		slices.SortFunc(got, Natural)
		require.Equal(t, want, got)
	}
}
