package app

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRounded(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, 0.51234: 0.5123, 0.51235: 0.5124, -0.3: -0.3, -0.29996: -0.3,
		1e300: 1e300, -3: -3,
		math.Inf(1): math.Inf(1), math.Inf(-1): math.Inf(-1), 123456789012.34567: 123456789012.3457} {
		require.Equal(t, want, Rounded(v))
	}
	require.True(t, math.IsNaN(Rounded(math.NaN())))
}
