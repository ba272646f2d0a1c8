package sweep

import (
	"encoding/json"
	"fmt"
	"slices"

	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/runs"
)

// finish collects the outcome of all trials, with an error if some failed.
func (s *sweep) finish() (*Result, error) {
	o, err := s.outcome()
	if err != nil {
		return nil, err
	}
	failed := s.failedError(o)
	if len(o.Cases) == 0 {
		return nil, failed
	}
	text, err := json.MarshalIndent(o, "", "  ")
	if err == nil {
		err = s.env.WriteText(s.at(runs.OutcomeFile), string(text)+"\n")
	}
	if err != nil {
		return nil, err
	}
	return &Result{s.folder, o}, failed
}

// FailedTrials is an error about trials that failed, while all other trials have completed.
type FailedTrials struct {
	Text     string // number of failed trials and the reason of the first failure, without the remedy
	Diverged bool   // all of them diverged
}

// Error returns the text with the remedy.
func (f *FailedTrials) Error() string {
	if f.Diverged {
		return f.Text + "; a retry would diverge again, so change the configuration and start another sweep"
	}
	return f.Text + "; retry with option \"resume\""
}

// failedError reports trials that failed.
func (s *sweep) failedError(o *runs.SweepOutcome) error {
	if len(o.Failed) == 0 {
		return nil
	}
	f := o.Failed[0]
	text := fmt.Sprintf("%d of %s failed, such as %s, seed %d: %s", len(o.Failed),
		words.Plural(len(s.plan.Trials()), "trial"), f.Case, f.Seed, f.Why)
	diverged := !slices.ContainsFunc(o.Failed, func(t runs.FailedTrial) bool { return !t.Diverged })
	if len(o.Cases) == 0 {
		return &FailedTrials{text, diverged}
	}
	text += "; the results of the other trials are in " + s.folder
	return failure.With(failure.Partial, &FailedTrials{text, diverged})
}

// outcome reads the completed trials.
func (s *sweep) outcome() (*runs.SweepOutcome, error) {
	o, folder := &runs.SweepOutcome{Cases: []*runs.CaseOutcome{}, Failed: []runs.FailedTrial{}}, s.reader()
	for _, c := range s.plan.Cases {
		made := &runs.CaseOutcome{Name: c.Name, Set: c.Set, Shared: c.Shared, Trials: []runs.TrialOutcome{}}
		for _, seed := range c.Seeds {
			t, err := s.lookAt(runs.SweepTrial{Case: c, Seed: seed})
			if err != nil {
				return nil, err
			}
			if t.state == failed {
				o.Failed = append(o.Failed,
					runs.FailedTrial{Case: c.Name, Seed: seed, Why: t.why, Diverged: t.diverged})
				continue
			}
			from := t.SweepTrial
			if t.same != "" {
				from.Case = s.plan.Case(t.same)
			}
			one, err := runs.ReadTrial(folder, from)
			if err != nil {
				return nil, err
			}
			one.Same = t.same
			made.Trials = append(made.Trials, *one)
		}
		if c.Selects == nil && len(made.Trials) > 0 {
			o.Cases = append(o.Cases, made)
		}
	}
	if len(o.Cases) == 0 {
		return o, nil
	}
	base := o.Cases[0].Name
	if s.plan.Comparison != nil {
		base = s.plan.Comparison.Baseline
		if err := s.compared(o); err != nil {
			return nil, err
		}
	}
	o.Summarize(base)
	return o, nil
}

// compared records how the arms of a comparison were made.
func (s *sweep) compared(o *runs.SweepOutcome) error {
	list, _, err := s.candidates()
	if err != nil {
		return err
	}
	o.Comparison = &runs.ComparisonOutcome{SweepComparison: *s.plan.Comparison, SelectionSeeds: []int64{},
		Candidates: append([]runs.Candidate{}, list...)}
	if all := s.plan.Candidates(); len(all) > 0 {
		o.Comparison.SelectionSeeds = all[0].Seeds
	}
	if len(list) > 0 {
		o.Comparison.Best = list[0].Sequence
		for _, c := range list {
			if list[0].Validation-c.Validation < sameAccuracy {
				o.Comparison.Tied++
			}
		}
	}
	return nil
}

// sameAccuracy is the largest difference of mean accuracies that counts as rounding.
const sameAccuracy = 1e-9
