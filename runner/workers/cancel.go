package workers

import (
	"context"

	"graft/runner/app"
)

// Cancel ends the workers of a run folder. It returns the number of workers that were live before, and their engine.
func Cancel(ctx context.Context, env *app.Env, folder string) (live int, engine string, err error) {
	f, err := Open(env, folder)
	if err != nil {
		return 0, "", err
	}
	states, err := f.Workers(ctx)
	if err != nil {
		return 0, "", err
	}
	for _, s := range states {
		if s.State.Live() {
			live++
		}
	}
	return live, f.Engine(), f.Cancel(ctx)
}
