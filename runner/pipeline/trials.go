package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/sweep"
	"graft/runner/train"
)

// CheckTrials returns an error if the initial weights of a case do not match its network.
func CheckTrials(env *app.Env, c *config.Pipeline) error {
	var faults []error
	for _, e := range c.Entries() {
		for _, one := range slices.Concat(e.Study, e.Tuning) {
			if err := train.CheckWeights(env, one.Job, one.Job.Run.Seed); err != nil {
				faults = append(faults, fmt.Errorf("%s, case %s: %w", e.Name, one.Name, err))
			}
		}
	}
	return failure.With(failure.Configuration, config.JoinCases(faults))
}

// plannedTrials returns the stages of all entries, with their runs and outputs.
func (p *pipeline) plannedTrials() (all []*runs.Stage) {
	for _, e := range p.Entries() {
		if e.Tune.On() {
			folder := filepath.Join(runs.TuningFolder, e.Name)
			all = append(all, &runs.Stage{Name: runs.TuneStage + e.Name, State: runs.StageWaiting,
				Parts: []string{folder}, Files: []string{filepath.Join(folder, runs.OutcomeFile),
					tunedCases(e.Name), tunedReport(e.Name)}})
		}
		all = append(all, &runs.Stage{Name: runs.TrialsStage + e.Name, State: runs.StageWaiting,
			Parts: []string{e.Name}, Files: []string{filepath.Join(e.Name, runs.OutcomeFile)}})
	}
	return all
}

// checkOnly returns an error if a selected entry does not exist.
func (p *pipeline) checkOnly() error {
	var names []string
	for _, e := range p.Entries() {
		names = append(names, e.Name)
	}
	for _, name := range p.o.Only {
		if len(names) == 0 {
			return failure.Usagef("option \"only\" selects entries of pipeline.trials, but the pipeline has none; " +
				"omit it")
		}
		if !slices.Contains(names, name) {
			return failure.Usagef("option \"only\": no entry %q; the entries are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// trials runs the remaining stages of the selected entries. Failed trials do not end the pipeline.
func (p *pipeline) trials(ctx context.Context) (*runs.PipelineOutcome, error) {
	o, open := &runs.PipelineOutcome{Trials: []runs.EntryOutcome{}}, 0
	var failed []string
	for _, e := range p.Entries() {
		one, err := p.entry(ctx, e)
		if ctx.Err() != nil {
			return nil, err
		}
		why, tolerated := failedText(err)
		if err != nil && !tolerated {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		if err != nil {
			p.env.Log.Warn("some trials failed", zap.String("entry", e.Name), zap.String("reason", why))
			failed = append(failed, e.Name+": "+why)
		}
		if one == nil || err != nil {
			open++
		}
		if one != nil {
			o.Trials = append(o.Trials, *one)
		}
	}
	if len(failed) > 0 {
		return o, failure.With(failure.Partial, fmt.Errorf("trials failed in %d of %d entries; run the same command "+
			"again to retry them: %s", len(failed), len(p.Entries()), strings.Join(failed, "; ")))
	}
	if open > 0 { // option "only"
		return o, nil
	}
	return o, p.writeJSON(runs.OutcomeFile, o)
}

// failedText describes the error of an entry whose trials failed. It reports false for all other errors.
func failedText(err error) (text string, failed bool) {
	var trials *sweep.FailedTrials
	switch {
	case errors.As(err, &trials):
		return trials.Text, true
	case errors.Is(err, errUntuned):
		return err.Error(), true
	}
	return "", false
}

// entry runs the stages of an entry. It returns nil if the entry is neither selected nor complete.
func (p *pipeline) entry(ctx context.Context, e *config.TrialsEntry) (*runs.EntryOutcome, error) {
	cases, from := e.Cases, e.Digest()
	var tuning *runs.Tuning
	if e.Tune.On() {
		if ran, err := p.step(ctx, e, runs.TuneStage+e.Name, e.TuneDigest(),
			func() error { return p.tune(ctx, e) }); err != nil || !ran {
			return nil, err
		}
		var err error
		if tuning, err = p.readTuning(e.Name); err != nil {
			return nil, err
		}
		cases = p.at(tunedCases(e.Name))
		digest, err := runs.DigestOf(p.env.Files, cases)
		if err != nil {
			return nil, err
		}
		from = runs.DigestOfTexts(from, digest)
	}
	var failed error
	ran, err := p.step(ctx, e, runs.TrialsStage+e.Name, from, func() error {
		_, failed = sweep.Run(ctx, p.env, e.Job, sweep.Options{Set: e.Assignments(), Folder: p.at(e.Name), Resume: true,
			Seeds: e.Seeds, Sweep: e.Sweep, Cases: cases, Workers: p.o.Workers})
		return failed
	})
	if !ran || err != nil && !errors.As(err, new(*sweep.FailedTrials)) {
		return nil, err
	}
	one, missing := p.entryOutcome(e, tuning)
	if err == nil {
		err = missing
	}
	return one, err
}

// step runs a stage of an entry. If the entry is not selected, step only records a completed stage as reused. It
// reports whether the stage has run, now or earlier.
func (p *pipeline) step(ctx context.Context, e *config.TrialsEntry, name, from string, do func() error) (bool, error) {
	if len(p.o.Only) > 0 && !slices.Contains(p.o.Only, e.Name) && !p.journal.Holds(p.journal.Entry(name), from) {
		return false, nil
	}
	return true, p.stage(ctx, name, from, do)
}

// entryOutcome reads the outcome of an entry's trials; nil if no trial has completed.
func (p *pipeline) entryOutcome(e *config.TrialsEntry, tuning *runs.Tuning) (*runs.EntryOutcome, error) {
	o, err := p.readSweep(e.Name)
	if err != nil {
		return nil, err
	}
	one := &runs.EntryOutcome{Name: e.Name, Folder: e.Name, Cases: len(o.Cases), Failed: len(o.Failed), Tuning: tuning}
	for _, c := range o.Cases {
		one.Trials += len(c.Trials)
	}
	return one, nil
}
