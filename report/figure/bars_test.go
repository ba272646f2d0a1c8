package figure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The note below bars explains dots, and explains intervals only if there are any.
func TestBarsExplainWhatIsDrawn(t *testing.T) {
	with, without := Bar{Value: 5, Low: 4, High: 6}, Bar{Value: 5}
	for name, c := range map[string]struct {
		bars []Bar
		dots bool
		want string
	}{
		"an interval":                 {[]Bar{without, with}, false, "Of jobs. Lines: intervals."},
		"one seed":                    {[]Bar{without}, false, "Of jobs."},
		"an interval without a value": {[]Bar{{Value: math.NaN(), Low: 4, High: 6}}, false, "Of jobs."},
		"zero is far off": {[]Bar{without}, true,
			"Of jobs. Dots replace bars because the axis does not start at zero."},
	} {
		b := &Bars{Note: "Of jobs.", Lines: "Lines: intervals.", Groups: []Group{{Bars: c.bars}}}
		require.Equal(t, c.want, b.remark(c.dots), name)
	}
}
