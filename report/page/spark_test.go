package page

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A page accepts sparklines and bars of any numbers.
func TestSmallPictures(t *testing.T) {
	for _, values := range [][]float64{{1}, {1, 1, 1}, {0, 1, 0.5}, {math.MaxFloat64, -math.MaxFloat64, 0},
		{5e-324, 0}} {
		text := Sparkline(values, `<b> & "loss"`)
		require.NoError(t, checkSVG(text))
		require.NotContains(t, string(text), "NaN")
		require.NotContains(t, string(text), "Inf")
		require.Equal(t, len(values)-1, strings.Count(string(text), "L"), "a step per value")
	}
	require.Nil(t, Sparkline(nil, "nothing"))
	require.Contains(t, string(Sparkline([]float64{1, 3, 2}, "x")), `d="M3 21L52 3L101 12"/><circle cx="101" cy="12"`)
	for share, width := range map[float64]string{0: "0", 0.25: "24", 1: "96", 7: "96", -1: "0"} {
		text := Bar(share, "up")
		require.NoError(t, checkSVG(text))
		require.Contains(t, string(text), `class="part" width="`+width+`"`)
	}
}
