package contrast

import (
	"cmp"
	"slices"

	"graft/report/runs"
)

// ListedSetting holds all arms of a setting, the best arm first.
type ListedSetting struct {
	Setting
	Arms []ListedArm `json:"arms"` // arms by their mean, the best first; smallest first if neither direction is better
}

// ListedArm holds the mean of an arm in a setting.
type ListedArm struct {
	Arm string `json:"arm"` // name of the arm
	// mean over seeds in the report's unit, with its 95% interval over seeds by Student's t-distribution; null without
	// a value
	Over *Estimate `json:"over_seeds"`
	// mean over seeds of the paired differences from the baseline, in the report's difference_unit, with its 95%
	// interval, which is not corrected for several arms; null for the baseline, and if the seeds or the baseline are
	// missing
	Difference *Estimate `json:"difference"`
	Notes      []string  `json:"notes"` // trials without a value, with the reasons
}

// listingOf lists the arms of a setting with their differences from a baseline.
func listingOf(s *setting, baseline string, m runs.TrialMeasure) ListedSetting {
	l := ListedSetting{Setting: s.Setting, Arms: []ListedArm{}}
	for _, a := range s.arms {
		one := ListedArm{Arm: a.name, Notes: append([]string{}, a.notes...)}
		if values := a.list(); len(values) > 0 {
			e := estimate(values, valueRange(m))
			one.Over = &e
		}
		q := Question{Arm: a.name, Against: baseline}
		if a.name != baseline && lacking(s, q) == "" {
			d, _ := differenceIn(s, q, m)
			one.Difference = &d.Estimate
		}
		l.Arms = append(l.Arms, one)
	}
	slices.SortStableFunc(l.Arms, func(a, b ListedArm) int {
		switch {
		case a.Over == nil || b.Over == nil:
			return cmp.Compare(absent(a.Over), absent(b.Over))
		case m.Better == runs.Higher:
			return cmp.Compare(b.Over.Mean, a.Over.Mean)
		}
		return cmp.Compare(a.Over.Mean, b.Over.Mean)
	})
	return l
}

func absent(e *Estimate) int {
	if e == nil {
		return 1
	}
	return 0
}
