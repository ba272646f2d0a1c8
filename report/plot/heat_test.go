package plot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Columns of heat maps have distinct times, for any budget.
func TestTimesLeftOfMaps(t *testing.T) {
	for _, most := range []float64{0.4, 1, 19.6, 333, 400, 4321} {
		last := 0.0
		for k := range timesShown {
			at := timeLeft(most*float64(k+1)/timesShown, most)
			require.Greater(t, at, last, most)
			last = at
		}
		require.LessOrEqual(t, last, most+most/timesShown/timesShown)
	}
	require.Equal(t, 20.0, timeLeft(20, 400))
}
