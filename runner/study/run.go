// Package study runs cluster simulations of every world into run folders.
package study

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	clusterlive "graft/cluster/live"
	"graft/cluster/study"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/live"
)

// Run runs the simulation that a configuration file describes, and returns the outcome. The simulation's results are
// written into the run folder. If jobs could not be simulated, it also returns an error with the code failure.Partial.
// Resuming a stopped or killed run performs the missing simulations and gives byte-identical results; for a completed
// run, Run reads the outcome, and checks that the input files are the same. The argument path is empty if there is no
// configuration file.
func Run(ctx context.Context, env *app.Env, w *study.World, f study.File, path string,
	o app.FolderOptions) (*study.Outcome, error) {
	folder := app.Folder("", f.Shared().Folder, nameOf(f, path))
	outcome, err := done(ctx, env, w, f, folder, o)
	if err == nil && outcome == nil {
		outcome, err = simulate(ctx, env, w, f, folder, o)
	}
	if err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, leftOut(outcome)
}

// done returns the outcome of a resumed run that is already complete; otherwise nil.
func done(ctx context.Context, env *app.Env, w *study.World, f study.File, folder string,
	o app.FolderOptions) (*study.Outcome, error) {
	outcome := &study.Outcome{}
	err := results.ReadOutcome(env.Files, folder, outcome)
	if !o.Resume || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, err := env.OpenRun(folder, runs.KindOfWorld(w), f, o)
	if err != nil {
		return nil, err // such as another configuration
	}
	if err := sameInputs(ctx, env, f, folder, outcome.Inputs); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	env.Track(folder, "cells").End(nil) // a process that was killed, or failed after the outcome, leaves its progress
	return outcome, errors.Join(study.Forget(env.Files, folder, outcome), run.Close())
}

// sameInputs returns an error if the files that a study reads have changed since a complete run. Without a digest of
// these files, the digest of the configuration covers them.
func sameInputs(ctx context.Context, env *app.Env, f study.File, folder, digest string) error {
	if digest == "" {
		return nil
	}
	s, err := Prepare(ctx, env, f, "", false)
	if err != nil {
		return err
	}
	plan := s.Plan()
	if err := withLive(env, f, plan); err != nil || plan.Inputs == digest {
		return err
	}
	return failure.With(failure.Configuration, fmt.Errorf("resume %s: the run is complete, but its input files have "+
		"changed since; choose another run folder, or set option \"force\" to move this one aside", folder))
}

// withLive adds the job file of live jobs, and the files that it names, to the inputs of a plan.
func withLive(env *app.Env, f study.File, p *study.Plan) error {
	o := liveJobs(f)
	if !o.On() {
		return nil
	}
	digest, err := live.Digest(env, o)
	p.Inputs = runs.DigestOfTexts(p.Inputs, digest)
	return err
}

// simulate simulates into a run folder, and writes the outcome.
func simulate(ctx context.Context, env *app.Env, w *study.World, f study.File, folder string,
	o app.FolderOptions) (*study.Outcome, error) {
	s, err := Prepare(ctx, env, f, folder, false)
	if err != nil {
		return nil, err
	}
	run, err := env.OpenRun(folder, runs.KindOfWorld(w), f, o)
	if err != nil {
		return nil, err
	}
	track := env.Track(folder, "cells")
	outcome, err := into(ctx, env, w, f, s, run, track)
	track.StopOrEnd(ctx.Err() != nil, err)
	return outcome, errors.Join(app.Requeued(ctx, folder, err), run.Close())
}

// nameOf returns the path after which the run folder is named: the file, or else the first trace.
func nameOf(f study.File, path string) string {
	if w := f.Shared().Workload; path == "" && w != nil && len(w.Traces) > 0 {
		return w.Traces[0]
	}
	return path
}

// Prepare returns the study that a file describes, ready to simulate into a run folder. If quick is true, it reads only
// what is needed to verify that the simulation can start.
func Prepare(ctx context.Context, env *app.Env, f study.File, folder string, quick bool) (study.Study, error) {
	o := liveJobs(f)
	if err := live.Check(env, o); err != nil {
		return nil, err
	}
	s, with := f.Study(), study.Env{Files: env.Files, Log: env.Log}
	if o.Waits() {
		with.Trainer = live.NewTrainer(env, o, folder)
	}
	err := s.Prepare(ctx, with, quick)
	if err != nil && ctx.Err() == nil {
		err = app.ReadFault(err)
	}
	return s, err
}

// unusedSeeds states that the file asks for several seeds, and that no simulation of the plan draws random numbers.
func unusedSeeds(s *study.Schedule, p *study.Plan) []string {
	several := func(one study.Scheduler) bool { return one.Draws() }
	if s == nil || s.Seeds < 2 || slices.ContainsFunc(p.Schedulers, several) {
		return nil
	}
	return []string{"schedule.seeds has no effect: neither the cluster nor a scheduler of this run draws random " +
		"numbers."}
}

// into simulates into an open run.
func into(ctx context.Context, env *app.Env, w *study.World, f study.File, s study.Study,
	run *results.Run, track *results.Tracker) (*study.Outcome, error) {
	job := &study.Job{
		Env: study.Env{Files: env.Files, Log: env.Log}, World: w.Name, Folder: run.Path(""), Study: s, Plan: s.Plan(),
	}
	job.Tell = func(p study.Progress) {
		track.Note(float64(p.Done), float64(p.Of))
		if p.Metric != nil {
			track.Measure(p.Metric.Name, p.Metric.Unit, p.Value)
		}
	}
	if err := withLive(env, f, job.Plan); err != nil {
		return nil, err
	}
	job.Plan.Remarks = append(job.Plan.Remarks, unusedSeeds(f.Shared().Schedule, job.Plan)...)
	job.Inputs = runs.DigestOfTexts(config.Digest(f), env.Version, job.Plan.Inputs)
	cells, parts, err := streams(run, job.Plan.Metrics) // these tables identify the folder
	if err != nil {
		return nil, err
	}
	outcome, err := job.Run(ctx)
	if err != nil {
		return nil, err
	}
	if o := liveJobs(f); o.On() && !o.Waits() {
		if outcome.Live, err = live.Train(ctx, env, o, run.Path(""), outcome.Cells); err != nil {
			return nil, err
		}
	}
	outcome.Folder, outcome.Inputs = "", job.Plan.Inputs
	if err := errors.Join(tables(cells, parts, outcome), run.WriteOutcome(outcome)); err != nil {
		return nil, err
	}
	return outcome, errors.Join(study.Forget(env.Files, run.Path(""), outcome), live.Forget(env.Files, run.Path("")))
}

// liveJobs returns the options of the live jobs of a file; without live jobs, they are off.
func liveJobs(f study.File) (o clusterlive.Options) {
	if l, has := f.(interface{ LiveJobs() clusterlive.Options }); has {
		o = l.LiveJobs()
	}
	return o
}

// streams opens the tables of a run, empty.
func streams(run *results.Run, metrics []study.Metric) (cells, parts *results.Stream, err error) {
	if cells, err = run.Stream(runs.CellsStream, runs.CellColumns(metrics)); err == nil {
		err = cells.Truncate(0)
	}
	if err != nil {
		return nil, nil, err
	}
	if parts, err = run.Stream(runs.PartsStream, runs.PartColumns(metrics)); err == nil {
		err = parts.Truncate(0)
	}
	return cells, parts, err
}

// tables writes the rows of all cells and their parts.
func tables(cells, parts *results.Stream, o *study.Outcome) error {
	for _, c := range o.Cells {
		head := []any{c.Point, c.Workload, c.Scheduler, c.Seed}
		if err := cells.Append(append(head, values(o.Metrics, c.Values)...)...); err != nil {
			return err
		}
		for _, p := range c.Parts {
			row := append(head[:len(head):len(head)], p.Group, p.Name)
			if err := parts.Append(append(row, values(o.Metrics, p.Values)...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func values(metrics []study.Metric, of study.Values) (row []any) {
	for k := range metrics {
		if v, has := of[metrics[k].Key()]; has {
			row = append(row, float64(v))
		} else {
			row = append(row, nil)
		}
	}
	return row
}

// leftOutText counts omitted jobs and lists the reasons.
func leftOutText(list []study.LeftOut) string {
	n := 0
	for _, l := range list {
		n += l.Jobs
	}
	return fmt.Sprintf("%s: %s", words.Plural(n, "job"), study.LeftOutText(list))
}

// Check prepares the study that a file describes as far as necessary to find faults, and returns a remark about jobs
// that simulations will leave out; empty if there are none.
func Check(ctx context.Context, env *app.Env, f study.File) (remark string, err error) {
	s, err := Prepare(ctx, env, f, "", true)
	if err != nil {
		return "", err
	}
	if l, has := s.(interface{ LeftOut() []study.LeftOut }); has && len(l.LeftOut()) > 0 {
		remark = "; simulations will leave out " + leftOutText(l.LeftOut())
	}
	return remark, nil
}

// leftOut returns an error if jobs were left out.
func leftOut(o *study.Outcome) error {
	if len(o.Left) == 0 {
		return nil
	}
	return failure.With(failure.Partial, fmt.Errorf("could not simulate %s; correct the trace or the nodes",
		leftOutText(o.Left)))
}
