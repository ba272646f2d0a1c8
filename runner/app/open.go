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

// FolderOptions say how a run folder is made or opened.
type FolderOptions struct {
	Config string // text of the configuration file, kept in the run folder; empty keeps none
	Resume bool   // go on with the run in the folder, or begin one where there is none; false begins one
	Force  bool   // move an existing run folder aside; false refuses it
}

// OpenRun makes the folder of a run of a kind or, to resume, opens that of the same configuration.
func (e *Env) OpenRun(folder string, kind *runs.Kind, c config.File, o FolderOptions) (*results.Run, error) {
	if e.Resumes(o.Resume, folder) {
		run, err := results.Open(e.Files, folder)
		if err == nil && run.Manifest().ConfigSHA256 != config.Digest(c) {
			err := fmt.Errorf("resume %s: the configuration differs from the run's: %s; restore it, or start another "+
				"run with option out", folder, config.Changes(e.Files, run.Path(results.ResolvedFile), c))
			return nil, errors.Join(failure.With(failure.Configuration, err), run.Close())
		}
		return run, err
	}
	return e.CreateRun(folder, kind,
		results.CreateOptions{Force: o.Force, Config: o.Config, Resolved: config.Resolved(c)},
		results.Manifest{ConfigSHA256: config.Digest(c)})
}

// Resumes reports whether there is a run to resume, if that was asked for. A process that was killed before its
// run folder was made leaves none; the same command then begins the run.
func (e *Env) Resumes(asked bool, folder string) bool {
	if asked && results.Missing(e.Files, folder) {
		e.Log.Info("there is no run to resume; begins one", zap.String("folder", folder))
		return false
	}
	return asked
}

// Requeued says how to go on with a run after an interruption; without a folder there is none.
func Requeued(ctx context.Context, folder string, err error) error {
	if ctx.Err() == nil || err == nil || folder == "" {
		return err
	}
	return failure.With(failure.Requeue, fmt.Errorf("%s is incomplete: %w; go on with option resume", folder, err))
}
