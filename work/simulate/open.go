package simulate

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"graft/fleet"
	"graft/results/runs"
	"graft/work"
)

// openBatch finds the workers of a simulation.
func openBatch(env *work.Env, folder string) (*fleet.Fleet, error) {
	if _, err := env.Files.Stat(filepath.Join(folder, runs.PlanFile)); err != nil {
		return nil, noSimulation(folder, err)
	}
	f, err := fleet.Attach(tools(env), folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = noWorkers(folder)
	}
	return f, err
}

// errNoWorkers says that a simulation has no batch.
var errNoWorkers = errors.New("no workers were started from here")

func noWorkers(folder string) error {
	return fmt.Errorf("find the workers of %s: %w; 'graft simulate' starts some", folder, errNoWorkers)
}

// openBoth opens a simulation and finds its workers, which are nil where there are none.
func openBoth(env *work.Env, folder string) (*site, *fleet.Fleet, error) {
	f, err := openBatch(env, folder)
	if err != nil && !errors.Is(err, errNoWorkers) {
		return nil, nil, err
	}
	s, err := openWatched(env, folder, f)
	return s, f, err
}

func noSimulation(folder string, err error) error {
	return fmt.Errorf("open simulation %s: %w; give the run folder of 'graft simulate'", folder, err)
}

// openWatched opens a simulation as its workers see it: paths in its file are from the
// folder in which it was begun. Without workers they are from this one.
func openWatched(env *work.Env, folder string, f *fleet.Fleet) (*site, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if f != nil && env.Enter != nil {
		if err := env.Enter(f.Batch().Dir); err != nil {
			return nil, fmt.Errorf("the paths of the simulation in %s are from the folder in which it was begun: %w", folder, err)
		}
	}
	return openSite(env, folder)
}
