package contrast

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/stat"
	"graft/report/runs"
)

// accuracy is the measure of most tests.
var accuracy = runs.ContrastMeasures()[0]

// settingWith returns a setting of a folder with one swept value; arms holds values by arm and seed.
func settingWith(f *Sweep, swept string, arms map[string]map[int64]float64) *setting {
	s := &setting{Setting: Setting{f.Name, []string{swept}}, folder: f}
	f.addKeys(s.Swept)
	for _, name := range []string{"early", "late", "never"} {
		if values, has := arms[name]; has {
			s.arms = append(s.arms, &arm{name: name, planned: []int64{1, 2, 3, 4}, values: values})
		}
	}
	return s
}

// apart returns the arms late and early with the given paired differences in points, for seeds from 1.
func apart(points ...float64) map[string]map[int64]float64 {
	late, early := map[int64]float64{}, map[int64]float64{}
	for k, d := range points {
		early[int64(k+1)] = 0.5
		late[int64(k+1)] = 0.5 + d/100
	}
	return map[string]map[int64]float64{"late": late, "early": early}
}

var lateEarly = Question{Arm: "late", Against: "early"}

func near(t *testing.T, want float64, got *float64, about string) {
	t.Helper()
	require.NotNil(t, got, about)
	require.InDelta(t, want, *got, 1e-6, about)
}

// The expected numbers were computed by hand.
func TestContrastOverFourSettings(t *testing.T) {
	a, b := &Sweep{Name: "a"}, &Sweep{Name: "b"}
	c := contrastOf(lateEarly, []*setting{settingWith(a, "k=1", apart(2, 4, 6)), settingWith(a, "k=2", apart(1, 1, 1)),
		settingWith(b, "k=1", apart(-1, 0, 1)), settingWith(b, "k=2", apart(10, 10.1, 10.2))}, accuracy)
	require.Len(t, c.Settings, 4)
	first := c.Settings[0]
	require.Equal(t, 3, first.N)
	require.InDelta(t, 4, first.Mean, 1e-9)
	require.InDelta(t, 0.54, first.ArmMean, 1e-9)
	require.InDelta(t, 0.5, first.AgainstMean, 1e-9)
	near(t, 4-4.302653*2/math.Sqrt(3), first.Low, "low")
	near(t, 4+4.302653*2/math.Sqrt(3), first.High, "high")
	near(t, 1-math.Sqrt(12.0/14), first.P, "closed form for two degrees of freedom")
	near(t, 0.25, c.Settings[1].P, "equal differences: two of eight flips are as far")
	require.Nil(t, c.Settings[1].Low, "equal differences have no spread that could give an interval")
	require.Nil(t, c.Settings[1].High)
	near(t, 1, c.Settings[2].P, "mean of zero")
	near(t, 3*(1-math.Sqrt(12.0/14)), first.Holm, "second smallest of four")
	near(t, 0.5, c.Settings[1].Holm, "third smallest of four")
	near(t, 4**c.Settings[3].P, c.Settings[3].Holm, "smallest of four")
	require.Equal(t, []int{1, 0}, []int{c.Higher, c.Lower})
	near(t, 1, contrastOf(lateEarly, []*setting{settingWith(a, "k=1", apart(0, 0, 0))}, accuracy).Settings[0].P,
		"no difference")

	require.Equal(t, 4, c.Over.N)
	require.InDelta(t, 3.775, c.Over.Mean, 1e-9)
	spread := math.Sqrt(62.0075 / 3)
	near(t, 3.775-3.182446*spread/2, c.Over.Low, "low")
	near(t, 3.775+3.182446*spread/2, c.Over.High, "high")
	near(t, 0.25, c.P, "4 of 16 flips are as far, because one difference is zero")
	near(t, spread*stat.Detectable(1, 4, 0.05, 0.8), c.Detectable, "detectable")

	type row struct {
		by, name    string
		n, positive int
		mean        float64
	}
	var rows []row
	for _, g := range c.Groups {
		require.Nil(t, g.Low, "two settings have no interval")
		rows = append(rows, row{g.By, g.Name, g.N, g.Positive, stat.Round(g.Mean, 9)})
	}
	require.Equal(t, []row{{"folder", "a", 2, 2, 2.5}, {"folder", "b", 2, 1, 5.05}, {"k", "1", 2, 1, 2},
		{"k", "2", 2, 2, 5.55}}, rows)
}

// Sweeps with other values of a key are grouped by the positions of the values.
func TestGroupsOfDifferentValues(t *testing.T) {
	a, b := &Sweep{Name: "a"}, &Sweep{Name: "b"}
	all := []*setting{settingWith(a, "k=8s", apart(1)), settingWith(a, "k=16s", apart(2)),
		settingWith(b, "k=3s", apart(3)), settingWith(b, "k=16s", apart(4))}
	names := func() (list []string) {
		for _, g := range contrastOf(lateEarly, all, accuracy).Groups {
			list = append(list, g.Name)
		}
		return list
	}
	require.Equal(t, []string{"a", "b", "1 of 2: 8s, 3s", "2 of 2: 16s"}, names())
	all = append(all, settingWith(b, "k=32s", apart(5)))
	require.Equal(t, []string{"a", "b", "8s", "16s", "3s", "32s"}, names(), "other numbers of values")
}

// A contrast states missing arms and seeds without a partner.
func TestIncompleteSettings(t *testing.T) {
	f := &Sweep{Name: "a"}
	uneven := apart(1, 2, 3)
	delete(uneven["late"], 1)
	uneven["early"][4], uneven["late"][2] = 0.5, 0.53
	delete(uneven["early"], 3)
	c := contrastOf(lateEarly, []*setting{settingWith(f, "k=1", uneven),
		settingWith(f, "k=2", map[string]map[int64]float64{"late": {1: 0.5}}),
		settingWith(f, "k=3", map[string]map[int64]float64{"never": {1: 0.5}}),
		settingWith(f, "k=4", map[string]map[int64]float64{"early": {1: 0.5}, "late": {}}),
		settingWith(f, "k=5", map[string]map[int64]float64{"early": {1: 0.5}, "late": {2: 0.5}})}, accuracy)
	require.Len(t, c.Settings, 1)
	require.Equal(t, 1, c.Settings[0].N)
	require.InDelta(t, 3, c.Settings[0].Mean, 1e-9)
	require.Nil(t, c.Settings[0].P)
	require.Nil(t, c.Settings[0].Holm)
	require.Equal(t, []string{"a, k=1: paired by 1 seed; only late has seed 3; only early has seeds 1, 4"}, c.Notes)
	var why []string
	for _, m := range c.Missing {
		why = append(why, m.name()+": "+m.Why)
	}
	require.Equal(t, []string{"a, k=2: no arm early", "a, k=3: neither arm", "a, k=4: no value of late",
		"a, k=5: the arms have no seed in common"}, why)
	none := contrastOf(Question{Arm: "never", Against: "late"}, nil, accuracy)
	require.Nil(t, none.Over)
	require.Nil(t, none.P)
}

// A loss is not shown in points: differences keep the unit, and the arm with the lowest loss comes first.
func TestContrastOfALoss(t *testing.T) {
	all := runs.ContrastMeasures()
	loss := all[len(all)-1]
	require.Equal(t, "validation_loss", loss.Name)
	s := settingWith(&Sweep{Name: "a"}, "k=1", map[string]map[int64]float64{"late": {1: 2.5, 2: 2.7},
		"early": {1: 2, 2: 2}, "never": {}})
	require.InDelta(t, 0.6, contrastOf(lateEarly, []*setting{s}, loss).Over.Mean, 1e-12)
	l := listingOf(s, "early", loss)
	require.Equal(t, []string{"early", "late", "never"}, []string{l.Arms[0].Arm, l.Arms[1].Arm, l.Arms[2].Arm})
	require.Nil(t, l.Arms[0].Difference, "the baseline")
	require.InDelta(t, 0.6, l.Arms[1].Difference.Mean, 1e-12)
	require.Nil(t, l.Arms[2].Over)
	require.Equal(t, "late", listingOf(s, "early", accuracy).Arms[0].Arm)
}

// Swapping the arms changes only signs.
func TestExchangedArms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &Sweep{Name: "a"}
		var all []*setting
		for k := range rapid.IntRange(1, 6).Draw(t, "settings") {
			points := rapid.SliceOfN(rapid.Float64Range(-40, 40), 1, 4).Draw(t, "points")
			all = append(all, settingWith(f, "k="+string(rune('0'+k)), apart(points...)))
		}
		c := contrastOf(lateEarly, all, accuracy)
		d := contrastOf(Question{Arm: "early", Against: "late"}, all, accuracy)
		require.Equal(t, c.P, d.P)
		require.Equal(t, []int{c.Higher, c.Lower}, []int{d.Lower, d.Higher})
		exchanged(t, *c.Over, *d.Over)
		require.Equal(t, c.Detectable == nil, d.Detectable == nil)
		for k := range c.Settings {
			exchanged(t, c.Settings[k].Estimate, d.Settings[k].Estimate)
			require.Equal(t, c.Settings[k].P, d.Settings[k].P)
		}
		for k := range c.Groups {
			exchanged(t, c.Groups[k].Estimate, d.Groups[k].Estimate)
		}
	})
}

func exchanged(t *rapid.T, a, b Estimate) {
	require.InDelta(t, a.Mean, -b.Mean, 1e-9)
	require.Equal(t, a.Low == nil, b.Low == nil)
	if a.Low != nil {
		require.InDelta(t, *a.Low, -*b.High, 1e-9)
		require.InDelta(t, *a.High, -*b.Low, 1e-9)
	}
}

// The smallest p-value of n settings is one in 2^(n-1).
func TestUndecidable(t *testing.T) {
	r := &Report{}
	require.False(t, r.Undecidable())
	r.Contrasts = []*Contrast{{Settings: make([]SettingDifference, 5)}}
	require.True(t, r.Undecidable(), "1/16")
	r.Contrasts[0].Settings = make([]SettingDifference, 6)
	require.False(t, r.Undecidable(), "1/32")
	r.Contrasts = append(r.Contrasts, &Contrast{})
	require.True(t, r.Undecidable(), "2/32")
}

// The expected numbers were computed by hand. If a failed trial counts as chance, its difference is 10 - 50 points.
func TestFailedTrialsByTheirValue(t *testing.T) {
	a := &Sweep{Name: "a"}
	diverged := settingWith(a, "k=1", apart(2, 4, 6))
	late := diverged.arm("late")
	late.failed = []int64{2}
	delete(late.values, 2)
	other := settingWith(&Sweep{Name: "b"}, "k=1", apart(3, 3, 3))
	all := []*setting{diverged, settingWith(a, "k=2", apart(1, 1, 1)), other}
	c := contrastOf(lateEarly, all, accuracy)
	require.InDelta(t, (4.0+1+3)/3, c.Over.Mean, 1e-9)

	c.addFailed(lateEarly, &File{}, all, accuracy)
	require.Nil(t, c.WithFailed, "without a value")
	f := &File{Failed: []FailedValue{{Sweep: "b", Value: 0.9}, {Value: 0.1}}}
	c.addFailed(lateEarly, f, all, accuracy)
	require.Equal(t, 1, c.WithFailed.Trials)
	require.InDelta(t, ((2.0-40+6)/3+1+3)/3, c.WithFailed.Mean, 1e-9)
	near(t, 1, c.WithFailed.P, "the largest difference has the other sign")

	without := &Contrast{P: c.P}
	correctFailed([]*Contrast{c, without})
	near(t, 1, c.WithFailed.Holm, "two contrasts")
	require.Nil(t, without.WithFailed)
	require.Empty(t, late.values[2], "the setting itself is unchanged")
}
