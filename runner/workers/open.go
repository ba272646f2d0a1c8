package workers

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/fleet"
	"graft/report/runs"
	"graft/runner/app"
)

// Tools returns the parts of the environment that a fleet uses.
func Tools(env *app.Env) fleet.Tools {
	return fleet.Tools{Files: env.Files, Clock: fleet.NewClock(env.Now)}
}

// Assigned returns the assignments in set, followed by assignments to fleet.engine and fleet.workers. It omits the
// assignment to fleet.engine if engine is empty, and the assignment to fleet.workers if workers is zero.
func Assigned(set []string, engine string, workers int) []string {
	set = slices.Clone(set)
	if engine != "" {
		set = append(set, "fleet.engine="+engine)
	}
	if workers != 0 {
		set = append(set, fmt.Sprintf("fleet.workers=%d", workers))
	}
	return set
}

// ErrNone reports that no workers were started from a folder.
var ErrNone = errors.New("no workers were started from this folder")

// None returns an error that wraps ErrNone and states the folder and the remedy.
func None(folder string) error {
	return fmt.Errorf("find the workers of %s: %w; to start workers, run the command that created the folder",
		folder, ErrNone)
}

// Open returns the workers of a simulation or of trials, given their run folder.
func Open(env *app.Env, folder string) (*fleet.Fleet, error) {
	if _, err := env.Files.Stat(filepath.Join(folder, runs.PlanFile)); err != nil && !IsSweep(env, folder) {
		return nil, fmt.Errorf("open %s: neither %s nor %s found; expected a run folder of 'graft simulate', "+
			"or of 'graft train' or 'graft compare' with several trials", folder, runs.PlanFile, runs.SweepFile)
	}
	f, err := fleet.Attach(Tools(env), folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = None(folder)
	}
	return f, err
}

// IsSweep reports whether a folder contains trials.
func IsSweep(env *app.Env, folder string) bool {
	_, err := env.Files.Stat(filepath.Join(folder, runs.SweepFile))
	return err == nil
}

// Enter opens the workers of a run; the fleet is nil if there are none. It changes the working directory of this
// process to the folder in which the run started, because relative paths in the run's configuration start there. It
// returns the absolute path of the run folder.
func Enter(env *app.Env, folder string) (f *fleet.Fleet, path string, err error) {
	if f, err = Open(env, folder); err != nil && !errors.Is(err, ErrNone) {
		return nil, "", err
	}
	if path, err = filepath.Abs(folder); err != nil {
		return nil, "", err
	}
	if f != nil && env.Enter != nil {
		if err := env.Enter(f.Batch().Dir); err != nil {
			return nil, "", fmt.Errorf(
				"run %s: its paths are relative to the folder where it was started, but changing to that "+
					"folder failed: %w", path, err)
		}
	}
	return f, path, nil
}

// Holders returns the holder of each leased task in a folder, or nil if the folder does not exist.
func Holders(env *app.Env, dir string) (map[string]fleet.Holder, error) {
	if _, err := env.Files.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	leases, err := fleet.OpenLeases(env.Files, dir,
		fleet.LeaseOptions{Clock: fleet.NewClock(env.Now), Host: fleet.ThisHost(env.Files), Random: env.Random})
	if err != nil {
		return nil, err
	}
	list, err := leases.Holders()
	held := map[string]fleet.Holder{}
	for _, h := range list {
		held[h.Task] = h
	}
	return held, errors.Join(err, leases.Close())
}
