package runs

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/parallel"
	"graft/report/document"
	"graft/results"
	"graft/trainer"
)

// SweepArm is a case of a sweep, split into the arm and the values of the swept keys.
type SweepArm struct {
	Arm   string      // name of the case without the swept values
	Swept []string    // swept assignments, such as time.budget=8s, in the order of the sweep
	Plan  *SweepCase  // case in the plan
	Ended []TrialSeen // trials with an outcome, in the order of seeds
	// trials that failed, in the order of seeds; nil for a sweep in progress, whose failures are unknown
	Failed []FailedTrial
}

// TrialSeen is an ended trial with one value.
type TrialSeen struct {
	Seed  int64
	Value float64 // value of a measure; NaN if the trial does not have the measure
}

// ContrastMeasures lists the measures of trials by which [Run.Arms] reads arms: the measures in reports, and the losses
// of the final network.
func ContrastMeasures() []TrialMeasure {
	loss := func(name string, of func(o *JobOutcome) trainer.Score) TrialMeasure {
		return TrialMeasure{name, document.UnitNats, "%.4f", Lower, func(o *JobOutcome) (float64, bool) {
			return of(o).Loss, of(o) != trainer.Score{}
		}}
	}
	return append(TrialMeasures(),
		loss("test_loss", func(o *JobOutcome) trainer.Score { return o.Test }),
		loss("validation_loss", func(o *JobOutcome) trainer.Score { return o.Validation }))
}

// Arms lists the cases of a sweep with a measure of their trials. If the sweep has not ended, Arms lists the trials
// that have ended so far.
func (r *Run) Arms(m TrialMeasure) ([]*SweepArm, error) {
	plan, err := ReadSweepPlan(r.Files, r.Path)
	if err != nil {
		return nil, err
	}
	o, err := OutcomeOf[SweepOutcome](r)
	if err != nil {
		return nil, err
	}
	arms := plan.arms()
	errs := make([]error, len(arms))
	parallel.Do(len(arms), 0, func(k int) {
		if o == nil {
			errs[k] = r.addEnded(arms[k], m)
			return
		}
		errs[k] = r.addOutcome(arms[k], o, m)
	})
	return arms, errors.Join(errs...)
}

// addOutcome adds the trials of an ended sweep.
func (r *Run) addOutcome(a *SweepArm, o *SweepOutcome, m TrialMeasure) error {
	for _, f := range o.Failed {
		if f.Case == a.Plan.Name {
			a.Failed = append(a.Failed, f)
		}
	}
	c := o.Case(a.Plan.Name)
	if c == nil {
		return nil
	}
	for _, t := range c.Trials {
		v, has := t.Values[m.Name]
		if !has {
			var err error
			if v, err = r.trialValue(t.Folder, m); err != nil {
				return err
			}
		}
		a.Ended = append(a.Ended, TrialSeen{t.Seed, v})
	}
	return nil
}

// addEnded adds the ended trials of a sweep in progress.
func (r *Run) addEnded(a *SweepArm, m TrialMeasure) error {
	for _, seed := range a.Plan.Seeds {
		v, err := r.trialValue(SweepTrial{Case: a.Plan, Seed: seed}.Folder(), m)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		a.Ended = append(a.Ended, TrialSeen{seed, v})
	}
	return nil
}

// trialValue reads a measure of a trial; NaN if the trial does not have it.
func (r *Run) trialValue(folder string, m TrialMeasure) (float64, error) {
	job := &JobOutcome{Outcome: &trainer.Outcome{}}
	if err := results.ReadOutcome(r.Files, filepath.Join(r.Path, folder), job); err != nil {
		return 0, err
	}
	if v, has := m.Of(job); has {
		return v, nil
	}
	return math.NaN(), nil
}

// arms splits the reported cases. With option "cases" and "sweep", graft names a case after its arm, followed by the
// swept assignments, which also end the list of the case's assignments. The split takes the largest number of swept
// keys that fits all cases.
func (p *SweepPlan) arms() (list []*SweepArm) {
	cases := p.Reported()
	swept := 0
	for n := 1; p.sweptAlike(n); n++ {
		swept = n
	}
	for _, c := range cases {
		at := len(c.Set) - swept
		a := &SweepArm{Arm: c.Name, Plan: c}
		if swept > 0 {
			a.Arm, a.Swept = strings.TrimSuffix(c.Name, " "+strings.Join(c.Set[at:], " ")), c.Set[at:]
		}
		list = append(list, a)
	}
	return list
}

// sweptAlike reports whether the last n assignments of every reported case set the same keys and end the case's name.
func (p *SweepPlan) sweptAlike(n int) bool {
	var keys []string
	for _, c := range p.Reported() {
		if len(c.Set) < n {
			return false
		}
		last := c.Set[len(c.Set)-n:]
		if arm, ends := strings.CutSuffix(c.Name, " "+strings.Join(last, " ")); !ends || arm == "" {
			return false
		}
		own := make([]string, n)
		for k, set := range last {
			own[k], _, _ = strings.Cut(set, "=")
		}
		if keys != nil && !slices.Equal(keys, own) {
			return false
		}
		keys = own
	}
	return keys != nil
}
