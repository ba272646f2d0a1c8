package simulate

import (
	"fmt"

	"graft/fleet"
	"graft/runner/app"
	"graft/runner/workers"
)

// openWithWorkers opens a simulation and its batch; nil if it has none.
func openWithWorkers(env *app.Env, folder string) (*workspace, *fleet.Fleet, error) {
	f, folder, err := workers.Enter(env, folder)
	if err != nil {
		return nil, nil, err
	}
	s, err := openWorkspace(env, folder)
	return s, f, err
}

func noSimulation(folder string, err error) error {
	return fmt.Errorf("open simulation %s: %w; expected a run folder of 'graft simulate'", folder, err)
}
