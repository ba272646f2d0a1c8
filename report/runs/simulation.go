package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/simulation/grid"
)

// errUnknownState reports a simulation whose progress cannot be computed.
var errUnknownState = errors.New("the number of steps is unknown")

// SimulationState computes the progress of a simulation from its cache.
func SimulationState(r *Run) (*grid.Progress, error) {
	plan, err := r.plan()
	if err != nil {
		return nil, err
	}
	if plan.Design.Which == grid.Likely {
		return nil, fmt.Errorf("%w: the design depends on a policy", errUnknownState)
	}
	ground, err := plan.Space()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknownState, err)
	}
	store, err := grid.OpenStore(r.Files, r.cache())
	if err != nil {
		return nil, fmt.Errorf("%w: the cache %s is missing", errUnknownState, r.cache())
	}
	log, err := grid.OpenFailures(r.Files, filepath.Join(r.Path, FailuresFolder))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknownState, err)
	}
	state, err := grid.NewGrid(*plan, ground, store, log).Progress()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknownState, err)
	}
	return &state, nil
}

// cache returns the cache folder of the simulation.
func (r *Run) cache() string {
	if said, _ := r.Setting("simulate.cache"); said != "" {
		return said
	}
	return CacheBeside(r.Path)
}

// ReadPlan reads the plan of a simulation. For a damaged plan, the error has the exit code Damaged.
func ReadPlan(fsys files.FS, path string) (*grid.Plan, error) {
	text, err := files.ReadAll(fsys, path, largestPlan)
	if err != nil {
		return nil, err
	}
	p := &grid.Plan{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("%s is damaged: %w", path, err))
	}
	return p, nil
}

// CacheBeside returns the default cache folder of a simulation: a folder next to its run folder.
func CacheBeside(folder string) string {
	return filepath.Join(filepath.Dir(filepath.Clean(folder)), "cache")
}
