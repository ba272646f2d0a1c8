package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/fleet"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/train"
	"graft/runner/workers"
	"graft/trainer"
)

// Work runs trials of the sweep in a folder until none is left. Other workers may run concurrently.
func Work(ctx context.Context, env *app.Env, folder string, o workers.Options) error {
	s, err := openFolder(env, folder)
	if err != nil {
		return err
	}
	return s.work(ctx, o)
}

// openFolder opens the trials in a run folder.
func openFolder(env *app.Env, folder string) (*sweep, error) {
	plan, err := runs.ReadSweepPlan(env.Files, folder)
	if err != nil {
		return nil, fmt.Errorf("open sweep %s: %w", folder, err)
	}
	c, err := config.ReadSweep(env.Files, filepath.Join(folder, runs.ResolvedFile), nil)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	return &sweep{Sweep: c, env: env, folder: folder, plan: plan, seen: map[string]state{}}, nil
}

// work runs trials until none is left.
func (s *sweep) work(ctx context.Context, o workers.Options) error {
	if err := s.Run.Limit(); err != nil {
		return err
	}
	if err := o.UseThreads(0); err != nil {
		return err
	}
	clock := fleet.NewClock(s.env.Now)
	leases, err := fleet.OpenLeases(s.env.Files, s.at(runs.LeasesFolder),
		fleet.LeaseOptions{Clock: clock, Host: fleet.ThisHost(s.env.Files), Random: s.env.Random,
			Owner: fmt.Sprintf("worker %s, %s", o.Name, files.Holder())})
	if err != nil {
		return err
	}
	defer func() { _ = leases.Close() }()
	for {
		took, left, err := s.takeOne(ctx, leases, o)
		switch {
		case ctx.Err() != nil:
			return failure.With(failure.Requeue, errors.Join(trainer.ErrStopped, err))
		case err != nil || left == 0:
			return err
		case !took:
			_ = clock.Wait(ctx, idleWait) // the next call reports an ended context
		}
	}
}

// idleWait is the time before a worker looks for trials again.
const idleWait = 300 * time.Millisecond

// takeOne runs the first trial that no other worker runs; left counts trials without an outcome.
func (s *sweep) takeOne(ctx context.Context, leases *fleet.Leases, o workers.Options) (took bool, left int, err error) {
	all, err := s.look()
	if err != nil {
		return false, 0, err
	}
	for _, t := range all {
		if t.state == ready || t.state == waiting {
			left++
		}
	}
	for _, t := range all {
		if t.state != ready {
			continue
		}
		lease, err := leases.Take(t.Key())
		if errors.Is(err, fleet.ErrTaken) {
			continue
		}
		if err != nil {
			return false, left, err
		}
		took, err := s.perform(lease.Keep(ctx), ctx, t, o)
		_ = lease.Release() // an unreleased lease expires
		if took || err != nil {
			return took, left, err
		}
	}
	return false, left, nil
}

// perform runs a trial, unless another worker has completed it in the meantime. It returns only errors of the worker;
// errors of the trial are recorded.
func (s *sweep) perform(held, ctx context.Context, t trial, o workers.Options) (bool, error) {
	if now, err := s.lookAt(t.SweepTrial); err != nil || now.state != ready {
		return false, err
	}
	s.env.Log.Info("started trial", zap.String("case", t.Case.Name), zap.Int64("seed", t.Seed))
	r, err := s.train(held, t, o)
	switch {
	case ctx.Err() != nil:
		return true, err
	case held.Err() != nil, errors.Is(err, files.ErrLocked): // another worker runs it
		return false, nil
	case err != nil:
		s.env.Log.Error("trial failed", zap.String("case", t.Case.Name), zap.Int64("seed", t.Seed), zap.Error(err))
		return true, s.fail(t.SweepTrial, err)
	}
	s.env.Log.Info("completed trial", zap.String("case", t.Case.Name), zap.Int64("seed", t.Seed),
		zap.Float64("validation", app.Rounded(r.Outcome.Validation.Accuracy)))
	return true, nil
}

// train runs the job of a trial, or continues it from its checkpoint. A folder that cannot be resumed is moved aside,
// unless the job of the trial has changed.
func (s *sweep) train(ctx context.Context, t trial, o workers.Options) (*train.Result, error) {
	set := append(append([]string{}, t.set...), fmt.Sprintf("run.seed=%d", t.Seed))
	if o.Device != "" {
		set = append(set, "run.device="+o.Device)
	}
	var changed error
	env, path, options := *s.env, s.caseFile(t.Case), train.Options{Set: set, Folder: s.at(t.Folder())}
	options.Check = func(c *config.Job) error {
		changed = s.check(t, c, len(t.set) == 0 && o.Device == "")
		return changed
	}
	env.Show, env.Args = nil, []string{"graft", "train", path, "--folder", options.Folder}
	for _, a := range set {
		env.Args = append(env.Args, "--set", a)
	}
	_, err := results.ReadManifest(env.Files, options.Folder)
	if options.Resume = err == nil; options.Resume {
		r, err := train.Run(ctx, &env, path, options)
		if err == nil || changed != nil || ctx.Err() != nil || errors.Is(err, files.ErrLocked) {
			return r, err
		}
		s.env.Log.Warn("cannot resume trial; starting from the beginning", zap.Stringer("trial", t),
			zap.Error(err))
	}
	options.Resume, options.Force = false, true
	return train.Run(ctx, &env, path, options)
}

// check returns an error if the job of a trial, or its initial weights, changed since the sweep was planned. A plain
// job differs from the job of its case only in the seed.
func (s *sweep) check(t trial, c *config.Job, plain bool) error {
	own, err := c.WithSeed(s.Run.Seed), error(nil)
	if !plain {
		if own, err = config.ReadJob(s.env.Files, s.caseFile(t.Case), nil); err != nil {
			return err
		}
	}
	if own.Digest() != t.Case.Digest {
		return failure.With(failure.Configuration, fmt.Errorf("%s since the start of the sweep; restore it, or start "+
			"a new sweep in another folder", config.Changes(s.env.Files, s.caseFile(t.Case), own)))
	}
	return s.checkWeights(t, c)
}

// checkWeights returns an error if the initial weights of a trial changed since the sweep was planned.
func (s *sweep) checkWeights(t trial, c *config.Job) error {
	k := slices.Index(t.Case.Seeds, t.Seed)
	if k >= len(t.Case.Weights) || t.Case.Weights[k] == "" || t.Case.Final != "" { // a final network has fresh weights
		return nil
	}
	digest, err := c.WeightsDigest(s.env.FileDigests(), t.Seed)
	if err == nil && digest != "" && digest != t.Case.Weights[k] { // a trial with a checkpoint does not need the file
		err = failure.With(failure.Configuration, fmt.Errorf("the content of network.weights (%s) changed since the "+
			"start of the sweep; restore the file, or start a new sweep in another folder", c.Network.Weights))
	}
	return err
}
