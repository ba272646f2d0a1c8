package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"graft/files"
	"graft/results/failure"
	"graft/simulation/grid"
)

// errNoState says that how far a simulation has come is not known.
var errNoState = errors.New("how many steps were taken is not known")

func StateOf(r *Run) (*grid.Progress, error) {
	plan, err := ReadPlan(r.Fsys, filepath.Join(r.Path, PlanFile))
	if err != nil {
		return nil, err
	}
	if plan.Design.Which == grid.Likely {
		return nil, fmt.Errorf("%w: the design goes by a policy", errNoState)
	}
	ground, err := plan.Space()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoState, err)
	}
	store, err := grid.OpenStore(r.Fsys, r.cache())
	if err != nil {
		return nil, fmt.Errorf("%w: the cache %s is not there", errNoState, r.cache())
	}
	log, err := grid.OpenFailures(r.Fsys, filepath.Join(r.Path, FailuresFolder))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoState, err)
	}
	state, err := grid.NewGrid(*plan, ground, store, log).Progress()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoState, err)
	}
	return &state, nil
}

// cache is where the simulation keeps what it ran.
func (r *Run) cache() string {
	if said, _ := r.Setting("simulate.cache"); said != "" {
		return said
	}
	return CacheBeside(r.Path)
}

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

// CacheBeside is where a simulation keeps what it ran unless it is told otherwise.
func CacheBeside(folder string) string {
	return filepath.Join(filepath.Dir(filepath.Clean(folder)), "cache")
}
