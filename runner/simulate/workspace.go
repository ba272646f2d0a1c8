package simulate

import (
	"path/filepath"

	"graft/config"
	"graft/report/runs"
	"graft/runner/app"
	"graft/simulation/grid"
)

// workspace is a simulation and its run folder.
type workspace struct {
	*config.Simulation
	env    *app.Env
	folder string
	plan   *grid.Plan
}

// openWorkspace reads the plan and the configuration in a run folder.
func openWorkspace(env *app.Env, folder string) (*workspace, error) {
	plan, err := runs.ReadPlan(env.Files, filepath.Join(folder, runs.PlanFile))
	if err != nil {
		return nil, noSimulation(folder, err)
	}
	m, err := config.ReadSimulation(env.Files, filepath.Join(folder, runs.ResolvedFile), nil)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	return &workspace{Simulation: m, env: env, folder: folder, plan: plan}, nil
}

// grid opens the simulation's tree, without its state.
func (s *workspace) grid() (*grid.Grid, error) {
	ground, err := s.plan.Space()
	if err != nil {
		return nil, err
	}
	store, err := grid.OpenStore(s.env.Files, s.cache())
	if err != nil {
		return nil, err
	}
	log, err := grid.OpenFailures(s.env.Files, filepath.Join(s.folder, runs.FailuresFolder))
	if err != nil {
		return nil, err
	}
	g := grid.NewGrid(*s.plan, ground, store, log)
	g.Policy = s.LikelyPolicy()
	return g, nil
}

// cache returns the folder of outcomes, states and leases.
func (s *workspace) cache() string {
	if s.Simulate.Cache != "" {
		return s.Simulate.Cache
	}
	return runs.CacheBeside(s.folder)
}
