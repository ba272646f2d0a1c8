package operators

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/stat"
)

// A measurement that is left out with its network has the time that kriging gives without the network.
func TestLeftOutIsKrigingWithoutTheNetwork(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var own []measured
	groups := map[network][]int{}
	for k := range 30 {
		of := sizes{1 + random.IntN(4096), 1 + random.IntN(64), 1 + random.IntN(64), 9, 1, 1, 64, 1 << random.IntN(3),
			9}
		m := measured{call: Call{Name: "conv2d", Operations: 1e6, Bytes: 1e5, sizes: of}}
		for back := range m.times {
			m.times[back] = 1e-3 * (0.1 + random.Float64())
		}
		own = append(own, m)
		groups[networkOf(&m)] = append(groups[networkOf(&m)], k)
	}
	s := newSurface(own, nil, [pointTimes][baseRates]float64{})
	predicted := s.leaveOut(own, groups)
	for back, way := range s.ways[:evaluationTime] {
		for at, group := range groups {
			var rest []int
			for k := range own {
				if !slices.Contains(group, k) {
					rest = append(rest, k)
				}
			}
			factors, all := make([]float64, len(rest)), s.covariances(s.variances[back])
			covariances := make([][]float64, len(rest))
			base := func(k int) float64 { return way.base(amountsOf(&own[k].call)) * math.Exp(way.factor) }
			for i, k := range rest {
				factors[i] = math.Log(own[k].times[back] / base(k))
				for _, j := range rest[:i+1] {
					covariances[i] = append(covariances[i], all[k][j])
				}
			}
			stat.NewCholesky(covariances).Solve(factors)
			for _, k := range group {
				sum := 0.0
				for i, j := range rest {
					sum += factors[i] * all[max(k, j)][min(k, j)]
				}
				require.InEpsilon(t, base(k)*math.Exp(sum), predicted[k][back], 1e-6, "%v", at)
			}
		}
	}
}

// The errors of networks that are left out are small for a device with known laws, and show times that do not follow
// them.
func TestNetworksThatAreLeftOut(t *testing.T) {
	d := (lawOf{rand.New(rand.NewPCG(1, 2))}).device(t, 160)
	found := d.LeaveOut()
	assert.Greater(t, found.Networks, 60)
	assert.Less(t, found.Median, 0.05)
	assert.Less(t, found.Ten, 0.15)
	assert.Greater(t, found.Ten, found.Median)
	random := rand.New(rand.NewPCG(3, 4))
	for k := range d.Operators {
		o := &d.Operators[k]
		for i, text := range o.Points {
			m, err := parsePoint(o.Name, text)
			require.NoError(t, err)
			for back := range m.times {
				m.times[back] *= math.Exp(0.5 * random.NormFloat64())
			}
			o.Points[i] = m.text()
		}
	}
	assert.Greater(t, d.LeaveOut().Median, 3*found.Median)
	assert.Zero(t, (&Device{}).LeaveOut())
}

var studies = flag.String("studies", "", "files of bench -operators.keep, separated by commas, to improve the weights")

var only = flag.String("family", "", "family whose weights are searched; empty means all")

// familyNames name the families.
var familyNames = [families]string{"others", "convolutions", "groupedConvolutions", "linears", "norms", "attentions",
	"conversions"}

// leastGain is the relative gain of a weight's change for the change to be kept.
const leastGain = 0.005

// A search finds weights that reduce the errors of operators that are left out network by network. The error is the
// root of the mean squared logarithm, weighted by the share of the network's time. With -studies, the search uses
// measured devices instead of a device with known laws, and prints the weights.
func TestWeightsAreSearched(t *testing.T) {
	var fits []*deviceFit
	if *studies == "" {
		fits, *only = append(fits, (lawOf{rand.New(rand.NewPCG(1, 2))}).device(t, 60).fit()), "attentions"
	}
	for file := range strings.FieldsFuncSeq(*studies, func(r rune) bool { return r == ',' }) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var study struct{ Device *Device }
		require.NoError(t, json.Unmarshal(text, &study))
		fits = append(fits, study.Device.fit())
	}
	before := weightsOf
	defer func() { weightsOf = before }()
	for of := range families {
		if *only != "" && familyNames[of] != *only {
			continue
		}
		best := leftOutError(fits, of)
		first := best
		for range 2 {
			for d := range dimensions + 1 {
				best = improve(fits, of, d, best)
			}
		}
		require.Positive(t, best, "the family was measured")
		require.LessOrEqual(t, best, first)
		require.InEpsilon(t, best, leftOutError(fits, of), sameTime, "the weights that are kept have the least error")
		if *studies == "" {
			require.Less(t, best, first, "a device with known laws needs other weights than a processor")
			continue
		}
		fmt.Printf("%s: error %.4f, was %.4f\n\t{point{", familyNames[of], best, first)
		for _, w := range weightsOf[of].of {
			fmt.Printf("%.2g, ", w)
		}
		fmt.Printf("}, %.2g}\n", weightsOf[of].noise)
	}
}

// improve changes a weight, or the noise, as long as the error falls.
func improve(fits []*deviceFit, of family, d int, best float64) float64 {
	weight := &weightsOf[of].noise
	if d < dimensions {
		weight = &weightsOf[of].of[d]
	}
	for _, factor := range []float64{1.5, 1 / 1.5} {
		for {
			before := *weight
			*weight *= factor
			e := leftOutError(fits, of)
			if e > best*(1-leastGain) {
				*weight = before
				break
			}
			best = e
		}
	}
	return best
}

func leftOutError(fits []*deviceFit, of family) float64 {
	squares, shares := 0.0, 0.0
	for _, f := range fits {
		whole := map[network]float64{}
		for _, all := range f.points {
			for k := range all {
				whole[networkOf(&all[k])] += all[k].times[forwardTime] + all[k].times[backwardTime]
			}
		}
		only := *f
		only.names = slices.DeleteFunc(slices.Clone(f.names), func(name string) bool { return familyOf(name) != of })
		only.leaveOut(func(m *measured, predicted [pointTimes]float64) {
			for back := range evaluationTime {
				if m.times[back] > 0 {
					off, share := math.Log(predicted[back]/m.times[back]), m.times[back]/whole[networkOf(m)]
					squares, shares = squares+share*off*off, shares+share
				}
			}
		})
	}
	return math.Sqrt(squares / max(shares, leastSeconds))
}
