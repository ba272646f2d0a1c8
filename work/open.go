package work

import (
	"errors"
	"fmt"

	"graft/results"
	"graft/results/failure"
)

// FolderOptions say how a run folder is made or opened.
type FolderOptions struct {
	Config string // text of the configuration file, kept in the run folder; empty keeps none
	Resume bool   // go on with the run in the folder, or begin one where there is none; false begins one
	Force  bool   // move an existing run folder aside; false refuses it
}

// settings are a configuration that a run folder keeps.
type settings interface {
	Resolved() string
	Digest() string
}

// OpenRun makes a run folder or, to resume, opens that of the same configuration. Where it is of another
// one, differs tells the differences from the run's.
func (e *Env) OpenRun(folder string, c settings, o FolderOptions, differs func(run *results.Run) string) (*results.Run, error) {
	if o.Resume {
		run, err := results.Open(e.Files, folder)
		if err == nil && run.Manifest().ConfigSHA256 != c.Digest() {
			err := fmt.Errorf("resume %s: the configuration differs from the run's: %s; restore it, or start another run with option out", folder, differs(run))
			return nil, errors.Join(failure.With(failure.Configuration, err), run.Close())
		}
		if !errors.Is(err, results.ErrNoRun) {
			return run, err
		}
	}
	return e.CreateRun(folder, results.CreateOptions{Force: o.Force, Config: o.Config, Resolved: c.Resolved()}, results.Manifest{ConfigSHA256: c.Digest()})
}
