package evaluation

import (
	"cmp"
	"math"

	"graft/internal/stat"
)

// Difference is the mean difference between the regrets of two candidates, paired by table, in points.
type Difference struct {
	Mean float64 `json:"mean"` // mean difference over tables, in points
	// bootstrap interval of the mean difference over tables; null for fewer than two tables
	OverTables *stat.Interval `json:"over_tables"`
	// Noise is the standard deviation of the mean difference due to noise in the tables alone. It is zero if both
	// candidates choose the same sequences.
	Noise float64 `json:"noise_points"`
	// Inside reports whether the difference is not significant: its interval over tables contains zero, a test over
	// several tables has a p-value above 0.05, or noise alone causes a difference of this size in more than 1 of 20
	// cases.
	Inside bool `json:"inside_noise"`
	// Chance is the p-value of the test over tables, not corrected for multiple comparisons.
	Chance float64 `json:"p"`
	// test over tables: a paired t-test, whose standard error is at least the known noise, for fewer than six tables;
	// a sign-flip test for six tables or more, and for differences that are equal in all tables if the noise is not
	// known. Absent in outcomes of earlier versions, whose p-value is from a sign-flip test.
	Test Test `json:"test,omitempty"`
}

// Test is the name of a test over tables.
type Test string

// Tests of paired differences over tables.
const (
	TTest        Test = "paired t-test"
	SignFlipTest Test = "sign-flip test"
)

// TestName returns the name of the test that gave the p-value.
func (d *Difference) TestName() Test { return cmp.Or(d.Test, SignFlipTest) }

// Limits of the test over tables. Bootstrap intervals over few tables are too narrow: with three tables, they exclude
// zero in a quarter of all cases without a true difference. Sign-flip tests of fewer than six tables have no p-value
// below 0.05.
const (
	significance = 0.05
	fewestFlips  = 6
)

// testOver tests differences over tables. The argument noise is the standard deviation of the mean by the known noise
// of the tables; known reports whether the noise of all tables is known. Equal differences say nothing about the
// standard error if it has no known lower limit.
func testOver(values []float64, noise float64, known bool) (p float64, by Test) {
	limited := known && noise > 0
	if n := len(values); n < 2 || n >= fewestFlips || stat.EqualDifferences(values) && !limited {
		return stat.SignFlip(values), SignFlipTest
	}
	return stat.TPValueAbove(values, noise), TTest
}

// OnlyUntested reports whether the difference is not significant for the reason alone that the test over tables does
// not find it.
func (d *Difference) OnlyUntested() bool {
	return d.Inside && d.OverTables != nil && (d.OverTables.Low > 0 || d.OverTables.High < 0) &&
		math.Abs(d.Mean) >= d.NoiseLimit()
}

// surely is the two-sided 95% quantile of a standard normal distribution.
const surely = 1.96

// NoiseLimit returns the difference, in points, that noise in the tables alone exceeds in 1 of 20 cases.
func (d *Difference) NoiseLimit() float64 { return surely * d.Noise }

// difference compares two candidates; nil if one of them could not choose in a table.
func (c *comparer) difference(name, against string) *Difference {
	var values []float64
	variance, known := 0.0, true
	for k, t := range c.trials {
		a, b := c.scores[k][name], c.scores[k][against]
		if a == nil || b == nil {
			return nil
		}
		values = append(values, regretDifference(a.mean, b.mean))
		apart := apart(a.shares, b.shares)
		variance += t.Noise * t.Noise * apart
		known = known && (t.Source != NoiseUnknown || apart == 0)
	}
	d := &Difference{Noise: math.Sqrt(variance) / float64(len(values))}
	d.Mean = stat.DividedMean(values)
	d.Chance, d.Test = testOver(values, d.Noise, known)
	d.Inside = d.Mean == 0 || known && math.Abs(d.Mean) < d.NoiseLimit()
	if len(values) < 2 {
		d.Inside = d.Inside || !known
		return d
	}
	over := stat.MeanInterval(values, 1)
	d.OverTables = &over
	d.Inside = d.Inside || over.Low <= 0 && 0 <= over.High || d.Chance > significance
	return d
}

// regretDifference returns the difference between two regrets on a table; zero if only rounding makes one.
func regretDifference(a, b Score) float64 {
	if stat.NearlyEqual(a.Accuracy, b.Accuracy) {
		return 0
	}
	return a.Regret - b.Regret
}

// Contrast compares a policy with a baseline.
type Contrast struct {
	Policy   string `json:"chooser"` // name of the policy
	Baseline string `json:"against"` // name of the baseline
	// difference of the policy's regret from the baseline's; null if either could not choose in a table
	Difference *Difference `json:"difference"`
	// p-value of the difference after Holm's correction for the baselines of the policy; null without a difference
	Holm *float64 `json:"p_holm"`
}

// contrasts compares each policy with each of the baselines.
func (c *comparer) contrasts(baselines []string) (all []Contrast) {
	for _, e := range c.candidates {
		if e.Role == RoleBaseline {
			continue
		}
		from := len(all)
		chances := make([]float64, len(baselines))
		for k, name := range baselines {
			d := c.difference(e.Name, name)
			if chances[k] = math.NaN(); d != nil {
				chances[k] = d.Chance
			}
			all = append(all, Contrast{Policy: e.Name, Baseline: name, Difference: d})
		}
		for k, p := range stat.Holm(chances) {
			if !math.IsNaN(p) {
				all[from+k].Holm = &p
			}
		}
	}
	return all
}

// apart is the variance of the difference of two means of records with a variance of one.
func apart(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += (a[k] - b[k]) * (a[k] - b[k])
	}
	return sum
}

// groups holds values of tables, by the group that is left out together.
type groups struct {
	names  []string
	values map[string][]float64
	all    []float64
}

func newGroups() *groups { return &groups{values: map[string][]float64{}} }

func (g *groups) add(t TableScores, value float64) {
	if g.values[t.Group] == nil {
		g.names = append(g.names, t.Group)
	}
	g.values[t.Group] = append(g.values[t.Group], value)
	g.all = append(g.all, value)
}

// intervals are nil below two values; that over groups also if each group is a table.
func (g *groups) intervals() (tables, groups *stat.Interval) {
	if len(g.all) < 2 {
		return nil, nil
	}
	over := stat.MeanInterval(g.all, 1)
	if len(g.names) < 2 || len(g.names) == len(g.all) {
		return &over, nil
	}
	var values [][]float64
	for _, name := range g.names {
		values = append(values, g.values[name])
	}
	whole := stat.GroupInterval(over.Mean, values, 1)
	return &over, &whole
}
