package contrast

import (
	"fmt"
	"slices"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// level is the significance level of all tests.
const level = 0.05

// power is the usual power of a planned comparison (Cohen, Statistical Power Analysis for the Behavioral Sciences,
// 1988).
const power = 0.8

// Estimate is a mean with its 95% interval by Student's t-distribution.
type Estimate struct {
	N    int     `json:"n"`    // number of averaged values: seeds in a setting, otherwise settings
	Mean float64 `json:"mean"` // mean of the values
	// lower end of the interval; null for fewer than three values, and for values that are equal up to rounding
	Low  *float64 `json:"low"`
	High *float64 `json:"high"` // upper end of the interval; null if low is null
}

// estimate returns the mean of values with its interval. Equal values have no spread from which the t-distribution
// could give an interval, so they have none: the same rule selects their test in [stat.PairedP].
func estimate(values []float64, of stat.Range) Estimate {
	e := Estimate(stat.NewOverSeeds(values, level, of))
	if stat.EqualDifferences(values) {
		e.Low, e.High = nil, nil
	}
	return e
}

// Contrast holds the difference between two arms, in each setting and over all settings.
type Contrast struct {
	Question string `json:"question"` // text of the question
	Arm      string `json:"arm"`      // arm whose difference is computed
	Against  string `json:"against"`  // arm that is subtracted
	// mean over settings of the differences, in the report's difference_unit, with its 95% interval over settings by
	// Student's t-distribution; null if no setting has both arms
	Over *Estimate `json:"over_settings"`
	P    *float64  `json:"p"`      // p-value of the sign-flip test over settings; null without settings
	Holm *float64  `json:"p_holm"` // p-value after Holm's correction over the contrasts of the file
	// number of settings with a significantly positive difference, after Holm's correction over these settings
	Higher int `json:"higher"`
	Lower  int `json:"lower"` // number of settings with a significantly negative difference, in the same way
	// smallest true mean difference that the 95% interval over this number of settings excludes from zero with 80%
	// probability; null for fewer than three settings, and if all differences are equal
	Detectable *float64 `json:"detectable"`
	// the same with the given value in place of each failed trial; null without a value or a failed trial
	WithFailed *WithFailed         `json:"with_failed"`
	Settings   []SettingDifference `json:"settings"` // difference in each setting with both arms
	Groups     []SettingGroup      `json:"groups"`   // means over the settings of each sweep and of each swept value
	Missing    []MissingSetting    `json:"missing"`  // settings without this contrast
	Notes      []string            `json:"notes"`    // seeds that only one of the arms has
}

// SettingDifference is the difference between two arms in a setting.
type SettingDifference struct {
	Setting
	// mean over seeds of the paired differences, in the report's difference_unit, with its 95% interval over seeds by
	// Student's t-distribution
	Estimate
	ArmMean     float64 `json:"arm_mean"`     // mean of the arm over the paired seeds, in the report's unit
	AgainstMean float64 `json:"against_mean"` // mean of the other arm over the same seeds
	// p-value of the paired t-test or, if all differences are equal, of the sign-flip test; 1 if all differences are
	// zero; null for fewer than three seeds
	P    *float64 `json:"p"`
	Holm *float64 `json:"p_holm"` // p-value after Holm's correction over the settings of the contrast
}

// SettingGroup holds the mean difference over the settings with one sweep or one swept value.
type SettingGroup struct {
	By   string `json:"by"`   // folder, or a swept key
	Name string `json:"name"` // name of the sweep, or swept values
	Estimate
	Positive int `json:"positive"` // number of settings with a difference above zero
}

// MissingSetting is a setting that a contrast lacks.
type MissingSetting struct {
	Setting
	Why string `json:"why"` // reason
}

// contrastOf computes a contrast over all settings.
func contrastOf(q Question, all []*setting, m runs.TrialMeasure) *Contrast {
	c := &Contrast{Question: q.Question, Arm: q.Arm, Against: q.Against, Settings: []SettingDifference{},
		Groups: []SettingGroup{}, Missing: []MissingSetting{}, Notes: []string{}}
	var used []*setting
	for _, s := range all {
		if why := lacking(s, q); why != "" {
			c.Missing = append(c.Missing, MissingSetting{s.Setting, why})
			continue
		}
		d, alone := differenceIn(s, q, m)
		c.Settings, used = append(c.Settings, d), append(used, s)
		if alone != "" {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: paired by %s; %s", s.name(), words.Plural(d.N, "seed"), alone))
		}
	}
	c.correct()
	c.summarize(m)
	c.Groups = append(c.Groups, groupsOf(used, c.means(), m)...)
	return c
}

// lacking returns the reason why a setting cannot have a contrast; empty if it can.
func lacking(s *setting, q Question) string {
	a, b := s.arm(q.Arm), s.arm(q.Against)
	switch {
	case a == nil && b == nil:
		return "neither arm"
	case a == nil:
		return "no arm " + q.Arm
	case b == nil:
		return "no arm " + q.Against
	}
	for _, one := range []*arm{a, b} {
		if len(one.values) == 0 {
			return "no value of " + one.name
		}
	}
	if !slices.ContainsFunc(a.seeds(), func(seed int64) bool { return slices.Contains(b.seeds(), seed) }) {
		return "the arms have no seed in common"
	}
	return ""
}

// differenceIn pairs two arms by seed, and describes the seeds that only one of them has.
func differenceIn(s *setting, q Question, m runs.TrialMeasure) (d SettingDifference, alone string) {
	a, b := s.arm(q.Arm), s.arm(q.Against)
	var ours, theirs, values []float64
	var single []int64
	for _, seed := range a.seeds() {
		other, has := b.values[seed]
		if !has {
			single = append(single, seed)
			continue
		}
		ours, theirs = append(ours, a.values[seed]), append(theirs, other)
		values = append(values, scale(m)*stat.Difference(a.values[seed], other))
	}
	lone := slices.DeleteFunc(b.seeds(), func(seed int64) bool { _, has := a.values[seed]; return has })
	if len(single) > 0 {
		alone = fmt.Sprintf("only %s has %s", a.name, document.SeedsText(single))
	}
	if len(lone) > 0 {
		if alone != "" {
			alone += "; "
		}
		alone += fmt.Sprintf("only %s has %s", b.name, document.SeedsText(lone))
	}
	return SettingDifference{Setting: s.Setting, Estimate: estimate(values, rangeOf(m)),
		ArmMean: stat.Mean(ours), AgainstMean: stat.Mean(theirs), P: pairedP(values)}, alone
}

// pairedP tests paired differences; nil for too few.
func pairedP(values []float64) *float64 {
	if len(values) < stat.FewestSeeds {
		return nil
	}
	p := stat.PairedP(values)
	return &p
}

// correct applies Holm's correction over the settings, and counts the significant ones.
func (c *Contrast) correct() {
	var values []*float64
	for k := range c.Settings {
		values = append(values, c.Settings[k].P)
	}
	for k, p := range holm(values) {
		d := &c.Settings[k]
		d.Holm = p
		if p != nil && *p < level && d.Mean > 0 {
			c.Higher++
		} else if p != nil && *p < level && d.Mean < 0 {
			c.Lower++
		}
	}
}

func (c *Contrast) means() (list []float64) {
	for _, d := range c.Settings {
		list = append(list, d.Mean)
	}
	return list
}

// summarize computes mean, interval, test and power over the settings.
func (c *Contrast) summarize(m runs.TrialMeasure) {
	means := c.means()
	if len(means) == 0 {
		return
	}
	over, p := estimate(means, rangeOf(m)), stat.SignFlip(means)
	c.Over, c.P = &over, &p
	if len(means) >= stat.FewestSeeds && !stat.EqualDifferences(means) {
		d := stat.Detectable(stat.Deviation(means), len(means), level, power)
		c.Detectable = &d
	}
}

// holm is stat.Holm for values of which some are missing.
func holm(values []*float64) []*float64 {
	var at []int
	var given []float64
	for k, p := range values {
		if p != nil {
			at, given = append(at, k), append(given, *p)
		}
	}
	corrected := make([]*float64, len(values))
	for k, p := range stat.Holm(given) {
		corrected[at[k]] = &p
	}
	return corrected
}

// scale converts differences of a measure to the unit of differences.
func scale(m runs.TrialMeasure) float64 {
	if m.Unit == document.UnitShare {
		return 100
	}
	return 1
}

// differenceUnit returns the unit of differences of a measure.
func differenceUnit(m runs.TrialMeasure) string {
	if m.Unit == document.UnitShare {
		return document.UnitPoints
	}
	return m.Unit
}

// rangeOf returns the range of differences of a measure.
func rangeOf(m runs.TrialMeasure) stat.Range {
	if m.Unit == document.UnitShare {
		return stat.Range{Low: -100, High: 100}
	}
	return stat.Unbounded
}
