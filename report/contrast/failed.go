package contrast

import (
	"maps"

	"graft/internal/stat"
	"graft/report/runs"
)

// WithFailed is the difference of a contrast over settings, with a given value in place of each failed trial.
type WithFailed struct {
	Trials int `json:"trials"` // number of failed trials of both arms
	Estimate
	P *float64 `json:"p"` // p-value of the sign-flip test over settings
	// p-value after Holm's correction over the contrasts of the file; contrasts without failed trials enter by their p
	Holm *float64 `json:"p_holm"`
}

// addFailed computes the contrast again, with the file's values in place of failed trials. It does nothing if no trial
// of both arms failed or the file has no value for it.
func (c *Contrast) addFailed(q Question, f *File, all []*setting, m runs.TrialMeasure) {
	var means []float64
	trials := 0
	for _, s := range all {
		filled, n := s.filled(q, f)
		if lacking(filled, q) != "" {
			continue
		}
		d, _ := differenceIn(filled, q, m)
		means, trials = append(means, d.Mean), trials+n
	}
	if trials == 0 {
		return
	}
	p := stat.SignFlip(means)
	c.WithFailed = &WithFailed{Trials: trials, Estimate: estimate(means, rangeOf(m)), P: &p}
}

// filled returns the setting with a value for each failed trial of both arms, and the number of these trials.
func (s *setting) filled(q Question, f *File) (*setting, int) {
	value, has := f.failedValue(s.Folder)
	made, trials := &setting{Setting: s.Setting, folder: s.folder}, 0
	for _, a := range s.arms {
		one := &arm{name: a.name, planned: a.planned, values: maps.Clone(a.values)}
		if has && (a.name == q.Arm || a.name == q.Against) {
			for _, seed := range a.failed {
				one.values[seed] = value
			}
			trials += len(a.failed)
		}
		made.arms = append(made.arms, one)
	}
	return made, trials
}

// correctFailed applies Holm's correction to the contrasts with values of failed trials.
func correctFailed(all []*Contrast) {
	var values []*float64
	for _, c := range all {
		if c.WithFailed != nil {
			values = append(values, c.WithFailed.P)
			continue
		}
		values = append(values, c.P)
	}
	for k, p := range holm(values) {
		if all[k].WithFailed != nil {
			all[k].WithFailed.Holm = p
		}
	}
}
