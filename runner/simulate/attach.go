// Package simulate plans simulations, runs them by workers, monitors them and collects their tables.
package simulate

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/runner/app"
	"graft/runner/workers"
)

// Attach supervises the workers of a simulation until all work is done. The argument every is the time between two
// polls of the workers; zero means 200 ms for local workers and 10 s for other engines.
func Attach(ctx context.Context, env *app.Env, folder string, every time.Duration) (*Report, error) {
	if err := workers.ValidInterval(every); err != nil {
		return nil, err
	}
	s, f, err := openWithWorkers(env, folder)
	if err != nil {
		return nil, err
	}
	if f == nil && s.Fleet.Engine != config.Kubernetes {
		return nil, workers.None(folder)
	}
	x, err := newMonitor(s)
	if err != nil {
		return nil, err
	}
	left, err := x.left()
	if err != nil {
		return nil, err
	}
	if left == 0 {
		env.Log.Info("all work is done", zap.String("cache", x.cache()))
		return x.finish()
	}
	if f == nil {
		return x.await(ctx, every)
	}
	r, err := x.runWorkers(ctx, f, every)
	return r, errors.Join(err, f.Close())
}
