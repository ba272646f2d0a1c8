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

// FolderOptions configure how a run folder is made or opened.
type FolderOptions struct {
	Config string // text of the configuration file, copied into the run folder; empty copies none
	Resume bool   // continue the run in the folder, or start one if there is none; false starts one
	Force  bool   // move an existing run folder aside; false is an error if one exists
}

// OpenRun makes the folder of a run of a kind or, to resume, opens the folder of a run with the same configuration.
func (e *Env) OpenRun(folder string, kind *runs.Kind, c config.File, o FolderOptions) (*results.Run, error) {
	if e.Resumes(o.Resume, folder) {
		run, err := results.Open(e.Files, folder)
		if err == nil && run.Manifest().ConfigSHA256 != config.Digest(c) {
			err := fmt.Errorf("resume %s: the configuration has changed since the run started: %s; "+
				"restore the configuration, or start a new run with option out", folder, config.Changes(e.Files,
				run.Path(results.ResolvedFile), c))
			return nil, errors.Join(failure.With(failure.Configuration, err), run.Close())
		}
		return run, err
	}
	return e.CreateRun(folder, kind,
		results.CreateOptions{Force: o.Force, Config: o.Config, Resolved: config.Resolved(c)},
		results.Manifest{ConfigSHA256: config.Digest(c)})
}

// Resumes reports whether to resume a run: resuming is requested and a run exists. A process killed before it made its
// run folder leaves none; the same command then starts the run.
func (e *Env) Resumes(asked bool, folder string) bool {
	if asked && results.Missing(e.Files, folder) {
		e.Log.Info("no run to resume; starting a new run", zap.String("folder", folder))
		return false
	}
	return asked
}

// Requeued describes how to continue a run after an interruption. It adds nothing without a folder.
func Requeued(ctx context.Context, folder string, err error) error {
	if ctx.Err() == nil || err == nil || folder == "" {
		return err
	}
	return failure.With(failure.Requeue, fmt.Errorf("%s is incomplete: %w; continue with option resume", folder, err))
}
