package sweep

import (
	"context"
	"time"

	"graft/runner/app"
	"graft/runner/workers"
)

// Attach supervises the workers of trials until no trial is left, and collects the outcome. The argument every is the
// time between two polls; zero means 200 ms for local workers and 10 s for other engines.
func Attach(ctx context.Context, env *app.Env, folder string, every time.Duration) (*Result, error) {
	if err := workers.ValidInterval(every); err != nil {
		return nil, err
	}
	s, f, err := openWithWorkers(env, folder)
	if err != nil {
		return nil, err
	}
	left, err := s.left()
	switch {
	case err != nil:
		return nil, err
	case left == 0:
		return s.finish()
	case f == nil:
		return nil, workers.None(folder)
	}
	if err := s.supervise(ctx, f, every); err != nil {
		return nil, err
	}
	return s.finish()
}
