package contrast

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Four seeds differ by one test image of 50,000 each: the differences are equal, up to rounding in the last bits of the
// accuracies, so the sign-flip test tests them.
func TestEqualDifferencesOfOneImage(t *testing.T) {
	late := map[int64]float64{1: 0.6685, 2: 0.93344, 3: 0.55312, 4: 0.83918}
	early := map[int64]float64{1: 0.66848, 2: 0.93342, 3: 0.5531, 4: 0.83916}
	s := settingWith(&Sweep{Name: "a"}, "k=1", map[string]map[int64]float64{"late": late, "early": early})
	c := contrastOf(lateEarly, []*setting{s}, accuracy)
	near(t, 0.125, c.Settings[0].P, "two of 16 flips are as far")
	require.Zero(t, c.Higher)
}
