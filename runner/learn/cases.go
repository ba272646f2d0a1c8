package learn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/stat"
	"graft/learn"
	jobfile "graft/original/dl2/learning"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// CasesResult is the JSON output of `graft learn --cases --json`.
type CasesResult struct {
	Folder  string                    `json:"folder"`  // path of the run folder, which contains a run folder per case
	Outcome *runs.ElasticCasesOutcome `json:"outcome"` // outcome of all cases
	// wall-clock time of learning in this process, in seconds
	Seconds float64 `json:"seconds"`
}

// cases learns the schedulers of several cases of a file, one case at a time.
type cases struct {
	run
	*jobfile.File // the file without cases
	all           []*oneCase
	took          time.Duration // duration of learning in this process
}

// oneCase is a case and its configuration.
type oneCase struct {
	config.Case
	*jobfile.File
	folder string // path inside the run folder
}

// runCases checks all cases, then learns their schedulers.
func runCases(ctx context.Context, env *app.Env, d *config.Document, path string, o Options) (*CasesResult, error) {
	c, err := readCases(env, d, path, o)
	if err != nil {
		return nil, err
	}
	outcome, err := c.learn(ctx)
	if err := c.end(err); err != nil {
		return nil, err
	}
	return &CasesResult{c.o.Folder, outcome, c.took.Seconds()}, nil
}

// readCases reads the file, and the configuration of each case.
func readCases(env *app.Env, d *config.Document, path string, o Options) (*cases, error) {
	base, err := config.ReadNamed[*jobfile.File](jobfile.KindName, d, o.Set)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	named, err := config.ReadCases(env.Files, o.Cases)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	o.Folder = app.Folder(o.Folder, base.Run.Folder, path)
	c := &cases{run: newRun(env, o), File: base}
	var faults []error
	for _, one := range named {
		if err := c.read(d, one); err != nil {
			faults = append(faults, one.Located(err))
		}
	}
	return c, runs.AsConfigFault(config.JoinCases(faults))
}

// read adds a case.
func (c *cases) read(d *config.Document, one config.Case) error {
	l, err := config.ReadNamed[*jobfile.File](jobfile.KindName, d, slices.Concat(c.o.Set, one.Set))
	if err != nil {
		return err
	}
	within := func(key string) string { return filepath.Join(runs.CasesFolder, key) }
	key := one.Key(func(key string) bool {
		return slices.ContainsFunc(c.all, func(other *oneCase) bool { return other.folder == within(key) })
	})
	l.Run.Folder, l.Run.Tensorboard = "", l.Run.Tensorboard || c.o.Tensorboard // each case has its own folder
	c.all = append(c.all, &oneCase{one, l, within(key)})
	return nil
}

// digest covers the names and the digests of all cases.
func (c *cases) digest() string {
	h := sha256.New()
	for _, one := range c.all {
		fmt.Fprintf(h, "%q %s\n", one.Name, config.Digest(one.File))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// learn learns the cases without an outcome, and collects the outcomes of all.
func (c *cases) learn(ctx context.Context) (*runs.ElasticCasesOutcome, error) {
	m := results.Manifest{Seed: c.Run.Seed, ConfigSHA256: c.digest()}
	if err := c.open(runs.ElasticCasesKind, c.Text(), config.Resolved(c.File), m); err != nil {
		return nil, err
	}
	if c.stored.Manifest().ConfigSHA256 != c.digest() {
		return nil, failure.With(failure.Configuration, fmt.Errorf("resume %s: the cases have changed since the run "+
			"started: %s; "+
			"restore the cases, or start a new run with option \"folder\"", c.o.Folder, c.difference()))
	}
	c.record.Open(c.stored)
	o := &runs.ElasticCasesOutcome{}
	c.track = c.env.Track(c.o.Folder, "cases")
	for k, one := range c.all {
		c.track.Note(float64(k), float64(len(c.all)))
		c.log.Info("learning case", zap.String("name", one.Name), zap.Int("number", k+1), zap.Int("of", len(c.all)))
		learned, err := c.learnCase(ctx, one)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", one.Name, err)
		}
		o.Add(runs.ElasticCase{Name: one.Name, Set: one.Set, Folder: one.folder}, learned, one.Schedule.Schedulers)
	}
	return o, c.write(o)
}

// difference describes the differences from the cases in the run folder.
func (c *cases) difference() string {
	for _, one := range c.all {
		folder := c.stored.Path(one.folder)
		m, err := results.ReadManifest(c.env.Files, folder)
		if err == nil && m.ConfigSHA256 != config.Digest(one.File) {
			return fmt.Sprintf("in case %s, %s", one.Name,
				config.Changes(c.env.Files, filepath.Join(folder, runs.ResolvedFile), one.File))
		}
	}
	return "cases were added, removed, renamed or reordered, or cases that had not started changed"
}

// learnCase learns a case, continuing from its checkpoint.
func (c *cases) learnCase(ctx context.Context, one *oneCase) (*runs.ElasticLearningOutcome, error) {
	folder := c.stored.Path(one.folder)
	done := &runs.ElasticLearningOutcome{}
	if err := results.ReadOutcome(c.env.Files, folder, done); err == nil || !runs.NotThere(err) {
		return done, err
	}
	_, err := results.ReadManifest(c.env.Files, folder)
	if err != nil && !runs.NotThere(err) {
		return nil, err
	}
	s := &scheduler{run: newRun(c.env, Options{Folder: folder, Resume: err == nil}), world: jobs{one.File}}
	done, err = s.learn(ctx, config.Resolved(one.File))
	s.close(err)
	c.took += s.took
	return done, err
}

// write writes the table and the outcome.
func (c *cases) write(o *runs.ElasticCasesOutcome) error {
	columns := []results.Column{{Name: "case", Kind: results.String}, {Name: "seeds", Kind: results.Int},
		{Name: "jct_best"}, {Name: "jct_best_low"}, {Name: "jct_best_high"}, {Name: "jct_last"},
		{Name: "jct_lower_bound"}}
	names, missing := o.Schedulers(), math.NaN()
	for _, name := range names {
		columns = append(columns, results.Column{Name: "jct_" + name})
	}
	stream, err := c.stored.Stream(runs.ElasticCasesStream, columns)
	if err != nil {
		return err
	}
	if err := stream.Truncate(0); err != nil { // a completed run writes it again
		return err
	}
	orNaN := func(v *float64) float64 { return *cmp.Or(v, &missing) }
	for _, one := range o.Cases {
		row := []any{one.Name, one.Best.N, one.Best.Mean, orNaN(one.Best.Low), orNaN(one.Best.High),
			cmp.Or(one.Last, &stat.OverSeeds{Mean: missing}).Mean, one.Bound}
		for _, name := range names {
			v, known := one.Baselines[name]
			if !known {
				v = missing
			}
			row = append(row, v)
		}
		if err := stream.Append(row...); err != nil {
			return err
		}
	}
	return errors.Join(stream.Sync(), c.stored.WriteOutcome(o))
}

// lastValidation returns the mean time to completion at the last validation; nil if jobs were left.
func lastValidation(rows []learn.Row, figures []string) *float64 {
	column := slices.Index(figures, validationFigure)
	for _, r := range slices.Backward(rows) {
		switch v := r.Values[column]; {
		case math.IsInf(v, 0):
			return nil
		case !math.IsNaN(v):
			return &v
		}
	}
	return nil
}
