// Package learn trains policies on tables of simulated sequences: structural policies on many tables, or a policy in
// the original system's format on one table.
package learn

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	jobfile "graft/original/dl2/learning"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/simulation/learning"
	"graft/torch"
)

// Options holds the options that are not in the configuration file.
type Options struct {
	// assignments applied after the file, such as learn.steps=500; empty means none
	Set []string
	// path of the run folder; empty means run.folder or, if it is empty too, runs/NAME for a file NAME.toml
	Folder string
	// continues the run in the folder, or starts one if there is none; if false, a new run starts
	Resume bool
	Force  bool // moves an existing run folder aside; if false, an existing run folder is an error
	// path of a TOML file of named cases, for schedulers of elastic jobs; empty means no cases: the configuration file
	// is used unchanged
	Cases       string
	Tensorboard bool // writes TensorBoard event files; if false, the key run.tensorboard applies
}

// Result holds the result of a learning run. One field is set; the other fields are nil.
type Result struct {
	Policies  *PoliciesResult  // result of structural policies
	Study     *StudyResult     // result of a policy in the original system's format
	Scheduler *SchedulerResult // result of a scheduler
	Cases     *CasesResult     // results of schedulers of elastic jobs in several cases
}

// Run trains the policies of a configuration file. When ctx ends, Run saves checkpoints and returns an error with the
// code failure.Requeue. With Resume, the run then continues with bit-identical results.
func Run(ctx context.Context, env *app.Env, path string, o Options) (*Result, error) {
	d := config.Open(env.Files, path)
	kind := d.Kind()
	if o.Cases != "" {
		if kind.Name != jobfile.KindName {
			return nil, failure.Usagef("option \"cases\" applies only to files that train schedulers (section "+
				"workloads); "+
				"%s is a file of another kind; omit the option", path)
		}
		r, err := runCases(ctx, env, d, path, o)
		return &Result{Cases: r}, err
	}
	switch {
	case kind == config.TreeLearningKind:
	case kind.Name == jobfile.KindName, learns(kind):
		r, err := runScheduler(ctx, env, d, path, o)
		return &Result{Scheduler: r}, err
	default:
		return runStudy(ctx, env, d, path, o)
	}
	l, err := d.TreeLearning(o.Set)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	o.Folder = app.Folder(o.Folder, l.Run.Folder, path)
	r, err := Structural(ctx, env, l, d.Text(), o)
	if err != nil {
		return nil, err
	}
	return &Result{Policies: r}, nil
}

// run holds the state that both kinds of learning share.
type run struct {
	env    *app.Env
	o      Options
	log    *zap.Logger
	alone  *zap.Logger // writes only into the run folder
	record *app.RunLog
	stored *results.Run // nil until the folder is open
	track  *results.Tracker
}

func newRun(env *app.Env, o Options) run {
	o.Resume = env.Resumes(o.Resume, o.Folder)
	r := run{env: env, o: o}
	r.log, r.alone, r.record = app.WithRunLog(env.Log)
	return r
}

// open makes the run folder with the given text of the configuration or, to resume, opens it.
func (r *run) open(kind *runs.Kind, given, resolved string, m results.Manifest) (err error) {
	if r.o.Resume {
		r.stored, err = results.Open(r.env.Files, r.o.Folder)
		return err
	}
	m.Device = "cpu"
	r.stored, err = r.env.CreateRun(r.o.Folder, kind,
		results.CreateOptions{Force: r.o.Force, Config: given, Resolved: resolved}, m)
	return err
}

// end closes the folder. It logs an error, and sets the exit code of an interruption.
func (r *run) end(err error) error {
	r.close(err)
	if errors.Is(err, learning.ErrStopped) {
		return failure.With(failure.Requeue, fmt.Errorf("%w in %s; rerun the command with option "+
			"\"resume\"", err, r.o.Folder))
	}
	return err
}

// close closes the folder, with an error in its log.
func (r *run) close(err error) {
	switch {
	case errors.Is(err, learning.ErrStopped):
		r.alone.Info("stopped learning", zap.Error(err))
	case err != nil:
		r.alone.Error("learning failed", zap.Error(err))
	}
	r.track.StopOrEnd(errors.Is(err, learning.ErrStopped), err)
	if r.stored != nil {
		_ = r.stored.Close() // the outcome is on disk, or there is already an error
	}
}

// oneThread limits LibTorch to the single thread that learning uses.
func oneThread() error { return torch.SetThreads(1) }
