package runs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
	"graft/report/document"
)

func cased(name string, accuracies map[int64]float64) *CaseOutcome {
	c := &CaseOutcome{Name: name}
	for seed := range int64(9) {
		if v, has := accuracies[seed]; has {
			c.Trials = append(c.Trials, TrialOutcome{Seed: seed, Values: map[string]float64{TestAccuracy: v}})
		}
	}
	return c
}

// Differences use only seeds that both cases have. Intervals are corrected for several differences.
func TestDifferencesArePaired(t *testing.T) {
	base := map[int64]float64{1: 0.5, 2: 0.7, 3: 0.6, 4: 0.9}
	o := &SweepOutcome{Cases: []*CaseOutcome{cased("a", base),
		cased("b", map[int64]float64{2: 0.71, 3: 0.61, 4: 0.92, 5: 0.1}), cased("c", map[int64]float64{6: 0.1})}}
	o.Summarize("a")
	require.Nil(t, o.Cases[0].Difference)
	require.Nil(t, o.Cases[2].Difference, "no common seed")
	d := o.Cases[1].Difference
	require.Equal(t, "a", d.From)
	require.Equal(t, 3, d.N)
	require.InDelta(t, 0.04/3, d.Mean, 1e-12)
	require.Equal(t, 0.975, d.Level, "two differences, together 95%")
	require.InDelta(t, 0.04/3-6.205347*0.005773503/1.7320508, *d.Low, 1e-7) // quantile 0.9875 at two degrees of freedom
	require.False(t, d.Clear)
	require.InDelta(t, 0.005773503*stat.Detectable(1, 3, 0.025, 0.8), d.Detectable.Difference, 1e-8,
		"of the corrected interval")
	require.InDelta(t, 0.005773503*stat.Detectable(1, 6, 0.025, 0.8), d.Detectable.Twice, 1e-8)
	require.Equal(t, 6, d.Detectable.TwiceN)
	require.Equal(t, document.UnitShare, d.Detectable.Unit)
	o.Cases = o.Cases[:2]
	o.Summarize("a")
	require.Equal(t, 0.95, o.Cases[1].Difference.Level)
}

// A difference without a spread has no detectable difference. It occurs if an arm reuses trials.
func TestEqualDifferencesDetectNothing(t *testing.T) {
	o := &SweepOutcome{Cases: []*CaseOutcome{cased("a", map[int64]float64{1: 0.1, 2: 0.2, 3: 0.3}),
		cased("b", map[int64]float64{1: 0.2, 2: 0.3, 3: 0.4}), cased("c", map[int64]float64{1: 0.2, 2: 0.3})}}
	o.Summarize("a")
	require.Nil(t, o.Cases[1].Difference.Detectable, "equal up to rounding")
	require.False(t, o.Cases[1].Difference.Clear, "two of eight flips of signs are as far")
	require.Nil(t, o.Cases[2].Difference.Detectable, "two seeds")
}

// Differences that are equal for all seeds have an interval without a width. They are significant only if there are
// enough of them.
func TestEqualDifferencesNeedSeeds(t *testing.T) {
	worse, same := map[int64]float64{}, map[int64]float64{}
	for seed := range int64(6) {
		same[seed] = 0.5 + 0.01*float64(seed)
		worse[seed] = same[seed] - 0.005
		o := &SweepOutcome{Cases: []*CaseOutcome{cased("a", same), cased("b", worse), cased("c", same)}}
		o.Summarize("a")
		require.Equal(t, false, o.Cases[1].Difference.Clear, "%d seeds, two differences", seed+1)
		require.False(t, o.Cases[2].Difference.Clear)
		o.Cases = o.Cases[:2]
		o.Summarize("a")
		require.Equal(t, seed == 5, o.Cases[1].Difference.Clear, "2/32 and 2/64 of the flips")
	}
}

// The swept assignments end the name and the assignments of every case. The rest of the name is the arm.
func TestArmsAreSplitFromSweptValues(t *testing.T) {
	type made struct {
		name string
		set  []string
	}
	for about, c := range map[string]struct {
		cases []made
		want  [][2]string
	}{
		"cases and two keys": {[]made{{"never a=1 b=2", []string{"a=1", "b=2"}},
			{"x y a=2 b=2", []string{"c=3", "a=2", "b=2"}}},
			[][2]string{{"never", "a=1 b=2"}, {"x y", "a=2 b=2"}}},
		"cases alone": {[]made{{"never", nil}, {"late", []string{"a=1"}}},
			[][2]string{{"never", ""}, {"late", ""}}},
		"one key alone": {[]made{{"a=1", []string{"a=1"}}, {"a=2", []string{"a=2"}}},
			[][2]string{{"a=1", ""}, {"a=2", ""}}},
		"two keys": {[]made{{"a=1 b=1", []string{"a=1", "b=1"}}}, [][2]string{{"a=1", "b=1"}}},
		"names like values": {[]made{{"x a=1", []string{"a=1"}}, {"y", []string{"a=1"}}},
			[][2]string{{"x a=1", ""}, {"y", ""}}},
		"other keys in cases": {[]made{{"x a=1", []string{"a=1"}}, {"y b=1", []string{"b=1"}}},
			[][2]string{{"x a=1", ""}, {"y b=1", ""}}},
	} {
		p := &SweepPlan{}
		for _, one := range c.cases {
			p.Cases = append(p.Cases, &SweepCase{Name: one.name, Set: one.set})
		}
		var got [][2]string
		for _, a := range p.arms() {
			got = append(got, [2]string{a.Arm, strings.Join(a.Swept, " ")})
		}
		require.Equal(t, c.want, got, about)
	}
}
