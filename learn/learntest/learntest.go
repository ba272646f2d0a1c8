// Package learntest is the conformance suite of learners.
package learntest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/learn"
	"graft/torch/weights"
)

// kills limits the number of steps during which a learner may be killed.
const kills = 40

// GoesOnToTheBit stops and kills a learner at random steps. At the end, its metrics and its state must be bit-identical
// to the metrics and the state of an uninterrupted learner. It returns the uninterrupted learner.
func GoesOnToTheBit[L learn.Learner](t *testing.T, fresh func() L) (whole L) {
	t.Helper()
	whole = fresh()
	var rows []string
	for whole.Ended() == "" {
		require.NoError(t, whole.Advance(t.Context()))
		values, err := whole.Figures()
		require.NoError(t, err)
		rows = append(rows, fmt.Sprint(values))
	}
	want, err := whole.Save()
	require.NoError(t, err)

	random, l, kept := rand.New(rand.NewPCG(5, 5)), fresh(), (*weights.Set)(nil)
	for k := 0; l.Ended() == ""; k++ {
		require.NoError(t, l.Advance(t.Context()))
		values, err := l.Figures()
		require.NoError(t, err)
		require.Equal(t, rows[l.Steps()-1], fmt.Sprint(values))
		if random.IntN(2) == 0 {
			kept, err = l.Save()
			require.NoError(t, err)
		}
		if kept != nil && random.IntN(3) == 0 && k < kills { // a kill loses unsaved work
			l = fresh()
			require.NoError(t, l.Restore(kept))
		}
	}
	got, err := l.Save()
	require.NoError(t, err)
	require.Equal(t, want, got)
	return whole
}
