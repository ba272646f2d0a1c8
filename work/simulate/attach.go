package simulate

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/results/failure"
	"graft/work"
)

// Attach looks after the workers of a simulation until nothing is left to run. They are
// polled every so often; zero is 200 ms for local ones and 10 s for others.
func Attach(ctx context.Context, env *work.Env, folder string, every time.Duration) (*Report, error) {
	if every < 0 || every > 0 && every < time.Millisecond {
		return nil, failure.Usagef("every is %v; a millisecond is the least", every)
	}
	s, f, err := openBoth(env, folder)
	if err != nil {
		return nil, err
	}
	if f == nil && s.Fleet.Engine != config.Kubernetes {
		return nil, noWorkers(folder)
	}
	x, err := newWatch(s)
	if err != nil {
		return nil, err
	}
	left, err := x.left()
	if err != nil {
		return nil, err
	}
	if left == 0 {
		env.Log.Info("nothing is left to run", zap.String("cache", x.cache()))
		return x.finish()
	}
	if f == nil {
		return x.await(ctx, every)
	}
	r, err := x.tend(ctx, f, every)
	return r, errors.Join(err, f.Close())
}
