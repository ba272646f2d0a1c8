package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/sweep"
)

// errUntuned reports a case without usable values.
var errUntuned = errors.New("a trial of every candidate diverged")

// tunedCases returns the cases file with the values selected for an entry.
func tunedCases(name string) string { return filepath.Join(runs.TunedFolder, name+".toml") }

// tunedReport returns the file with the accuracies of all candidates of an entry.
func tunedReport(name string) string { return filepath.Join(runs.TunedFolder, name+".json") }

// tune runs the trials that select values for the cases of an entry, and writes the selected values. It accepts trials
// that diverge, for example at a high learning rate. Other failures could change the selection, so that they end it.
func (p *pipeline) tune(ctx context.Context, e *config.TrialsEntry) error {
	folder := filepath.Join(runs.TuningFolder, e.Name)
	_, err := sweep.Run(ctx, p.env, e.Job, sweep.Options{Set: e.TuneAssignments(), Folder: p.at(folder), Resume: true,
		Seeds: e.Tune.Seeds, Sweep: e.Tune.Sweep, Cases: e.Cases, Workers: p.o.Workers})
	if err != nil && (ctx.Err() != nil || !errors.As(err, new(*sweep.FailedTrials))) {
		return err
	}
	o, missing := p.readSweep(folder)
	if missing != nil {
		return cmp.Or(err, missing) // without a completed trial there is no outcome
	}
	if slices.ContainsFunc(o.Failed, func(f runs.FailedTrial) bool { return !f.Diverged }) {
		return err
	}
	t, cases, err := selectValues(e, o)
	if err != nil {
		return err
	}
	for _, c := range t.Cases {
		p.env.Log.Info("selected values", zap.String("entry", e.Name), zap.String("case", c.Case),
			zap.Strings("values", c.Set), zap.Float64("validation", app.Rounded(c.Accuracy)))
	}
	if err := p.env.Files.MkdirAll(p.at(runs.TunedFolder)); err != nil {
		return err
	}
	return errors.Join(p.write(tunedCases(e.Name), config.CasesText(cases)), p.writeJSON(tunedReport(e.Name), t))
}

// selectValues selects the values of each case: the combination with the highest mean validation accuracy, the first of
// equals.
func selectValues(e *config.TrialsEntry, o *runs.SweepOutcome) (*runs.Tuning, []config.Case, error) {
	candidates, err := e.Candidates()
	if err != nil {
		return nil, nil, err
	}
	t := &runs.Tuning{Folder: filepath.Join(runs.TuningFolder, e.Name), File: tunedCases(e.Name)}
	var cases []config.Case
	for _, c := range e.Named {
		one, best := runs.TunedCase{Case: c.Name, Accuracy: math.Inf(-1)}, -1
		for k, trial := range config.CombineCases([]config.Case{c}, candidates) {
			tried := candidate(o.Case(trialName(e, trial, candidates[k])), e.Tune.Seeds)
			tried.Set = candidates[k].Set
			one.Tried = append(one.Tried, tried)
			if tried.Diverged == 0 && *tried.Accuracy > one.Accuracy {
				best, one.Accuracy, one.Set = k, *tried.Accuracy, tried.Set
			}
		}
		if best < 0 {
			return nil, nil, fmt.Errorf("case %s: %w; change tune.sweep or the case", c.Name, errUntuned)
		}
		t.Cases = append(t.Cases, one)
		cases = append(cases, config.Case{Name: c.Name, Set: slices.Concat(c.Set, one.Set)})
	}
	return t, cases, nil
}

// trialName returns the name of a candidate's case in the sweep, which has no prefix if the entry has no cases file.
func trialName(e *config.TrialsEntry, trial, candidate config.Case) string {
	if e.Cases == "" {
		return candidate.Name
	}
	return trial.Name
}

// candidate summarizes the trials of a combination of values; nil means that none has completed.
func candidate(c *runs.CaseOutcome, seeds int) (t runs.TunedCandidate) {
	t.Diverged = seeds
	if c == nil {
		return t
	}
	if _, values := c.Measure(runs.ValidationAccuracy); len(values) > 0 {
		mean := stat.Mean(values)
		t.Accuracy, t.Diverged = &mean, seeds-len(values)
	}
	return t
}

// readTuning reads the values that an earlier run or this run selected.
func (p *pipeline) readTuning(name string) (*runs.Tuning, error) {
	t := &runs.Tuning{}
	return t, p.readJSON(tunedReport(name), t)
}

// readSweep reads the outcome of trials in the folder.
func (p *pipeline) readSweep(folder string) (*runs.SweepOutcome, error) {
	o := &runs.SweepOutcome{}
	return o, p.readJSON(filepath.Join(folder, runs.OutcomeFile), o)
}

// largestOutcome limits the size of a file, in bytes.
const largestOutcome = 1 << 28

func (p *pipeline) readJSON(name string, value any) error {
	text, err := files.ReadAll(p.env.Files, p.at(name), largestOutcome)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return failure.With(failure.Damaged, fmt.Errorf("%s: %w; delete the file, and rerun the same command to "+
			"recreate it", p.at(name), err))
	}
	return nil
}

func (p *pipeline) writeJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return p.write(name, string(text)+"\n")
}
