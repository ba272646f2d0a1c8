// Package pipeline runs the stages from scenarios to policies: it simulates the scenarios, trains policies on their
// tables and evaluates them. It also runs the trials of several jobs, each after the selection of its values. Unchanged
// stages are skipped.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/simulate"
)

// Options holds the options that are not in the configuration file.
type Options struct {
	Set []string // assignments applied after the file, such as run.seeds=20; empty means none
	// path of the run folder; empty means pipeline.folder or, if it is empty too, runs/NAME for a file NAME.toml
	Folder string
	// moves an existing run folder aside and starts from the beginning; if false, the run in the existing folder
	// continues
	Force bool
	Retry bool // retries sequences that failed too often; false skips them
	// number of workers of each simulation or of each entry's trials; zero means fleet.workers of the scenario or job
	Workers int
	Only    []string // names of the entries of pipeline.trials to run; empty means all
}

// Result is the JSON output of `graft pipeline --json`.
type Result struct {
	Folder  string                `json:"folder"`  // path of the pipeline's run folder
	Policy  string                `json:"policy"`  // path of the vote of all seeds; empty for a pipeline of trials
	Stages  []Stage               `json:"stages"`  // stages in order
	Outcome *runs.PipelineOutcome `json:"outcome"` // evaluation of the policies, or the trials
}

// Stage describes a completed stage.
type Stage struct {
	Stage   string  `json:"stage"`   // name of the stage, such as learn
	Skipped bool    `json:"skipped"` // the stage was unchanged and did not run
	Seconds float64 `json:"seconds"` // duration of the stage in this process in seconds
}

// Skipped returns the names of unchanged stages, separated by commas.
func (r *Result) Skipped() string {
	var names []string
	for _, s := range r.Stages {
		if s.Skipped {
			names = append(names, s.Stage)
		}
	}
	return strings.Join(names, ", ")
}

// Run runs the pipeline of a configuration file, or continues it in its folder. If sequences of a scenario failed, the
// policies do not learn from the table of this scenario; Run then returns a result and an error with the code
// failure.Partial; it also does so if trials failed. When ctx ends, completed work is kept, and the error has the code
// failure.Requeue.
func Run(ctx context.Context, env *app.Env, path string, o Options) (*Result, error) {
	c, err := config.ReadPipeline(env.Files, path, o.Set)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	p := &pipeline{Pipeline: c, o: o, env: env, folder: app.Folder(o.Folder, c.Pipeline.Folder, path)}
	p.simulate = func(ctx context.Context, path, folder string) error {
		_, err := simulate.Run(ctx, env, path, simulate.Options{Set: c.Assignments(), Folder: folder, Force: true,
			Retry: o.Retry, Engine: "local", Workers: o.Workers})
		return err
	}
	if err := p.checkOnly(); err != nil {
		return nil, err
	}
	if err := CheckTrials(env, c); err != nil {
		return nil, err
	}
	return p.run(ctx)
}

// pipeline is a running pipeline.
type pipeline struct {
	*config.Pipeline
	o        Options
	env      *app.Env
	folder   string
	journal  *runs.Journal
	before   completed // pipeline in the folder before this run
	track    *results.Tracker
	lock     io.Closer
	done     []Stage
	simulate func(ctx context.Context, path, folder string) error // runs a scenario; tests replace it
}

// run runs all stages in the folder.
func (p *pipeline) run(ctx context.Context) (*Result, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	defer func() { _ = p.lock.Close() }() // the end of the process also frees it
	p.track = p.env.Track(p.folder, "stages")
	run := p.stages
	if len(p.Entries()) > 0 {
		run = p.trials
	}
	outcome, err := run(ctx)
	if p.refused(ctx, err) {
		p.track.End(nil)
		return nil, errors.Join(err, p.before.restore(p))
	}
	if outcome != nil { // although some scenarios may have failed
		p.track.End(nil)
	}
	p.track.StopOrEnd(ctx.Err() != nil, err)
	if ctx.Err() != nil {
		return nil, failure.With(failure.Requeue, errors.Join(
			fmt.Errorf("stopped; completed work is kept in %s; run the same command again to continue", p.folder), err))
	}
	if outcome == nil {
		return nil, err
	}
	r := &Result{Folder: p.folder, Stages: p.done, Outcome: outcome}
	if len(p.Entries()) == 0 {
		r.Policy = p.at(runs.PolicyFolder, runs.VoteFile)
	}
	return r, err
}

func (p *pipeline) at(names ...string) string {
	return filepath.Join(append([]string{p.folder}, names...)...)
}

// open makes the folder, and records the pipeline.
func (p *pipeline) open() (err error) {
	if p.o.Force {
		if err := results.MakeRoom(p.env.Files, p.folder); err != nil {
			return err
		}
	}
	if err := p.env.Files.MkdirAll(p.folder); err != nil {
		return fmt.Errorf("open the run folder: %w", err)
	}
	if p.lock, err = results.Lock(p.env.Files, p.folder); err != nil {
		return err
	}
	if err := p.record(); err != nil {
		return errors.Join(err, p.lock.Close())
	}
	return nil
}

// completed is the record of a completed pipeline. It is kept if a run with another configuration is refused.
type completed struct {
	journal  runs.Journal
	resolved string // resolved configuration
}

// restore writes the record of the completed pipeline again.
func (c *completed) restore(p *pipeline) error {
	return errors.Join(p.write(runs.ResolvedFile, c.resolved), c.journal.Restore())
}

// refused reports whether the folder still has a completed pipeline that this run did not change, because the run was
// refused before its first stage.
func (p *pipeline) refused(ctx context.Context, err error) bool {
	code := failure.CodeOf(ctx, err)
	ran := slices.ContainsFunc(p.done, func(s Stage) bool { return !s.Skipped })
	return (code == failure.Configuration || code == failure.Usage) && !ran && p.before.resolved != "" &&
		p.before.journal.Complete()
}

// largestResolved is the maximum size of a resolved configuration that is restored, in bytes.
const largestResolved = 16 << 20

// record writes the pipeline and its planned stages into the folder.
func (p *pipeline) record() (err error) {
	if p.journal, err = runs.OpenJournal(p.env.Files, p.at(runs.JournalFile)); err != nil {
		return err
	}
	if text, err := files.ReadAll(p.env.Files, p.at(runs.ResolvedFile), largestResolved); err == nil {
		p.before = completed{*p.journal, string(text)}
	}
	if err := p.write(runs.ResolvedFile, p.Resolved()); err != nil {
		return err
	}
	return p.journal.Plan(p.env.Manifest(runs.PipelineKind,
		results.Manifest{Seed: p.Run.Seed, ConfigSHA256: p.Digest()}), p.planned())
}

// planned returns all stages, with their runs and outputs.
func (p *pipeline) planned() (all []*runs.Stage) {
	if len(p.Entries()) > 0 {
		return p.plannedTrials()
	}
	for _, m := range p.Scenarios() {
		name := m.Simulate.Name
		all = append(all, &runs.Stage{Name: runs.SimulateStage + name, State: runs.StageWaiting, Parts: []string{name},
			Files: []string{filepath.Join(name, runs.TableFolder)}})
	}
	learn := &runs.Stage{Name: runs.LearnStage, State: runs.StageWaiting, Parts: []string{runs.PolicyFolder}}
	for _, name := range []string{runs.VoteFile, runs.SeedFolder, runs.OutcomeFile} {
		learn.Files = append(learn.Files, filepath.Join(runs.PolicyFolder, name))
	}
	judge := &runs.Stage{Name: runs.EvaluateStage, State: runs.StageWaiting, Parts: []string{runs.EvaluationFolder},
		Files: []string{runs.OutcomeFile, filepath.Join(runs.EvaluationFolder, runs.OutcomeFile)}}
	if p.Evaluate.LeaveOut != config.LeaveNone {
		judge.Parts, judge.Files = append(judge.Parts, runs.LeftOutFolder),
			append(judge.Files, filepath.Join(runs.LeftOutFolder, runs.OutcomeFile))
	}
	return append(all, learn, judge)
}

// stages runs the remaining stages.
func (p *pipeline) stages(ctx context.Context) (*runs.PipelineOutcome, error) {
	tables, failed, err := p.simulateAll(ctx)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, failure.With(failure.Partial,
			fmt.Errorf("cannot learn policies, because no scenario has a complete table: %w", errors.Join(failed...)))
	}
	l, err := p.learn(ctx, tables)
	if err != nil {
		return nil, err
	}
	outcome, err := p.judge(ctx, l)
	if err != nil {
		return nil, err
	}
	if len(failed) > 0 {
		err = failure.With(failure.Partial, fmt.Errorf("the policies were learned from only %d of %s; the other "+
			"tables are incomplete: %w",
			len(tables), words.Plural(len(p.Scenarios()), "table"), errors.Join(failed...)))
	}
	return outcome, err
}

// stage runs a stage, unless it is complete and was made from the same inputs.
func (p *pipeline) stage(ctx context.Context, name, from string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.track.Note(float64(len(p.done)), float64(len(p.journal.Stages)))
	e := p.journal.Entry(name)
	if p.journal.Holds(e, from) {
		p.env.Log.Info("skipped unchanged stage", zap.String("stage", name))
		p.done = append(p.done, Stage{Stage: name, Skipped: true})
		return p.journal.Reuse(e)
	}
	p.env.Log.Info("started stage", zap.String("stage", name), zap.Int("number", len(p.done)+1),
		zap.Int("of", len(p.journal.Stages)))
	began := p.env.Now()
	if err := p.journal.Begin(e, began); err != nil {
		return err
	}
	if err := do(); err != nil {
		if ctx.Err() == nil {
			err = errors.Join(err, p.journal.Fail(e, err))
		}
		return err
	}
	seconds := app.Rounded(p.env.Now().Sub(began).Seconds())
	p.done = append(p.done, Stage{Stage: name, Seconds: seconds})
	return p.journal.End(e, from, seconds)
}
