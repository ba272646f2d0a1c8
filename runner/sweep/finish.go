package sweep

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/runs"
	"graft/results"
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
	images := imagesOf{}
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
			one, err := s.readTrial(folder, from)
			if err != nil {
				return nil, err
			}
			if err := images.add(s, from); err != nil {
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

// readTrial reads the outcome of a completed trial.
func (s *sweep) readTrial(folder *runs.Folder, t runs.SweepTrial) (*runs.TrialOutcome, error) {
	o, err := runs.ReadTrial(folder, t)
	if err != nil {
		err = fmt.Errorf("%w; to run the trial again, delete its folder %s and continue with option \"resume\"", err,
			s.at(t.Folder()))
	}
	return o, err
}

// compared records how the arms of a comparison were made.
func (s *sweep) compared(o *runs.SweepOutcome) error {
	list, tied, _, err := s.candidates()
	if err != nil {
		return err
	}
	o.Comparison = &runs.ComparisonOutcome{SweepComparison: *s.plan.Comparison, SelectionSeeds: []int64{},
		Candidates: append([]runs.Candidate{}, list...)}
	if all := s.plan.Candidates(); len(all) > 0 {
		o.Comparison.SelectionSeeds = all[0].Seeds
	}
	if o.Comparison.Tied = tied; tied > 0 {
		o.Comparison.Best = list[0].Sequence
	}
	return nil
}

// imagesOf holds the first trial of cases with the same options of data, by these options.
type imagesOf map[string]imagesOfTrial

type imagesOfTrial struct {
	trial  runs.SweepTrial
	digest string
}

// add returns an error if a trial used other images than an earlier trial with the same options of data. Files of
// images can change between the trials of a sweep. Programs state no digest of their examples.
func (i imagesOf) add(s *sweep, t runs.SweepTrial) error {
	if s.Job.Program.On() {
		return nil
	}
	m, err := results.ReadManifest(s.env.Files, s.at(t.Folder()))
	if err != nil {
		return fmt.Errorf("trial %s: %w", t, err)
	}
	key := strings.Join(slices.DeleteFunc(slices.Sorted(slices.Values(t.Case.Set)),
		func(set string) bool { return !selectsImages(set) }), "\n")
	first, known := i[key]
	if !known {
		i[key] = imagesOfTrial{t, m.DatasetSHA256}
		return nil
	}
	if first.digest == m.DatasetSHA256 || first.digest == "" || m.DatasetSHA256 == "" {
		return nil
	}
	return failure.With(failure.Configuration, fmt.Errorf("trial %s has other images than trial %s, so their "+
		"difference has two causes: the files of the images changed during the sweep; restore them, delete the "+
		"folders in %s of the trials with other images, and continue with option \"resume\", or start a new sweep in "+
		"another folder", t, first.trial, s.at(runs.TrialsFolder)))
}

// selectsImages reports whether an assignment changes the options of data or of a program: a key or the whole table.
func selectsImages(set string) bool {
	key, _, _ := strings.Cut(set, "=")
	table, _, _ := strings.Cut(strings.TrimSpace(key), ".")
	return table == "data" || table == "program"
}
