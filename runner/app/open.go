package app

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/results"
)

// FolderOptions determines how a run folder is created or opened.
type FolderOptions struct {
	Config string // text of the configuration file, copied into the run folder; empty copies none
	// continues the run in the folder, or starts one if there is none; if false, a new run starts
	Resume bool
	Force  bool // moves an existing run folder aside; if false, an existing run folder is an error
}

// OpenRun creates the folder of a run. To resume a run, it opens the run's folder, which must have the same
// configuration.
func (e *Env) OpenRun(folder string, kind *runs.Kind, c config.File, o FolderOptions) (*results.Run, error) {
	if e.Resumes(o.Resume, folder) {
		run, err := results.Open(e.Files, folder)
		if err == nil && run.Manifest().ConfigSHA256 != config.Digest(c) {
			err := fmt.Errorf("resume %s: the configuration has changed since the run started: %s; "+
				"restore the configuration, or start a new run with option \"out\"", folder, config.Changes(e.Files,
				run.Path(results.ResolvedFile), c))
			return nil, errors.Join(failure.With(failure.Configuration, err), run.Close())
		}
		return run, err
	}
	return e.CreateRun(folder, kind,
		results.CreateOptions{Force: o.Force, Config: o.Config, Resolved: config.Resolved(c)},
		results.Manifest{ConfigSHA256: config.Digest(c)})
}

// Resumes reports whether to resume a run: resuming is requested and a run exists. If a process is killed before it
// creates its run folder, no run exists, so the same command then starts the run.
func (e *Env) Resumes(asked bool, folder string) bool {
	if asked && results.Missing(e.Files, folder) {
		e.Log.Info("no run to resume; starting a new run", zap.String("folder", folder))
		return false
	}
	return asked
}

// Requeued adds an explanation of how to continue the run to an error that follows the end of ctx, unless the error has
// one. It returns all other errors unchanged, and all errors if the folder is empty.
func Requeued(ctx context.Context, folder string, err error) error {
	if ctx.Err() == nil || err == nil || folder == "" {
		return err
	}
	if failure.CodeOf(ctx, err) == failure.Requeue {
		return fmt.Errorf("%s is incomplete: %w", folder, err)
	}
	if onlyIs(err, ctx.Err()) {
		err = stopped{err}
	}
	return failure.With(failure.Requeue, fmt.Errorf("%s is incomplete: %w; rerun the command with option "+
		"\"resume\"", folder, err))
}

// onlyIs reports whether an error has a single cause, and it is the given one.
func onlyIs(err, cause error) bool {
	for ; err != nil; err = errors.Unwrap(err) { // joined errors unwrap to nil
		if err == cause {
			return true
		}
	}
	return false
}

// stopped is the error of a run that a signal stopped.
type stopped struct{ cause error }

func (s stopped) Error() string { return "the run was stopped" }

func (s stopped) Unwrap() error { return s.cause }
