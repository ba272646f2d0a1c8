package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/dataset"
	"graft/fleet"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/train"
	"graft/runner/workers"
	"graft/simulation/grid"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// Work runs sequences of the simulation in a folder until none is left. Other workers may run concurrently.
func Work(ctx context.Context, env *app.Env, folder string, o workers.Options) error {
	w, err := openWorkspace(env, folder)
	if err != nil {
		return err
	}
	if err := w.Run.Limit(); err != nil {
		return err
	}
	if err := o.UseThreads(w.Run.Threads); err != nil {
		return err
	}
	err = torch.With(func(s *torch.Scope) error {
		if err := w.limitMemory(o); err != nil {
			return err
		}
		if o.Measure > 0 {
			return w.measure(ctx, s, o)
		}
		lab, err := w.lab(ctx, s, o)
		if err != nil {
			return err
		}
		return w.work(ctx, lab, o)
	})
	if errors.Is(err, trainer.ErrStopped) || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return failure.With(failure.Requeue, errors.Join(trainer.ErrStopped, err))
	}
	return err
}

// limitMemory limits this worker to its share of its device's memory.
func (s *workspace) limitMemory(o workers.Options) error {
	device, err := s.device(o)
	if err != nil || o.MemoryShare == "" {
		return err
	}
	share, err := strconv.ParseFloat(o.MemoryShare, 64)
	if err != nil {
		return failure.Usagef("%s is %q; expected a share of the device's memory", workers.MemoryVariable,
			o.MemoryShare)
	}
	if err := torch.LimitMemory(device, share); err != nil {
		s.env.Log.Warn("cannot limit the memory of this worker; continuing without a limit", zap.Error(err))
	}
	return nil
}

// device returns the device that this worker trains on.
func (s *workspace) device(o workers.Options) (torch.Device, error) {
	return torch.ParseDevice(cmp.Or(o.Device, s.Run.Device))
}

// lab prepares dataset, device and clock for legs. The scope owns the images.
func (s *workspace) lab(ctx context.Context, scope *torch.Scope, o workers.Options) (*grid.Executor, error) {
	device, err := s.device(o)
	if err != nil {
		return nil, err
	}
	data, err := s.data(ctx, scope, device)
	if err != nil {
		return nil, err
	}
	if err := s.checkImages(data); err != nil {
		return nil, err
	}
	if code, err := codeVersion(device); err != nil || code != s.plan.Cause.Code {
		return nil, errors.Join(err, failure.With(failure.Configuration, fmt.Errorf(
			"the simulation was started with %s, "+
				"but this worker has %s; use the same versions and devices, or start a new simulation in another "+
				"folder",
			s.plan.Cause.Code, code)))
	}
	if err := s.CheckPlan(s.env.Files, s.plan); err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	runtime, err := torch.Describe()
	if err != nil {
		return nil, err
	}
	profile, err := s.Profile()
	if err != nil {
		return nil, err
	}
	l := &grid.Executor{Options: s.Options(), Data: data, Device: device, Now: s.env.Now,
		Gains: s.Rated(),
		Clock: func(at time.Duration) clock.Clock { return clock.NewWall(s.env.Now, at) }}
	l.Provenance.Graft, l.Provenance.LibTorch, l.Options.Seed = s.env.Version, runtime.Version, 0
	l.Options.Adapt.OnError = trainer.StopOnError // a sequence without one of its actions is a different sequence
	if profile != nil {
		l.Options.Steady, l.Provenance.Profile = true, profile.Name
		l.Clock = func(at time.Duration) clock.Clock { return &clock.Virtual{Profile: profile, Time: at} }
	}
	if s.Job.Program.On() {
		s.Job.Program.Threads = max(1, s.Job.Program.Threads) // results must not depend on the number of workers
		l.Program = s.attach
	} else if cmp.Or(o.Threads, s.Run.Threads) == 0 {
		if l.Threads, err = trainer.NewThreadChooser(s.env.Now); err != nil {
			return nil, err
		}
	}
	l.Begin = func(scope *torch.Scope, seed int64) (*model.Network, *trainer.Pretrained, error) {
		n, err := train.FirstNetwork(s.env.Files, scope, &s.Job, data, device, seed)
		if err != nil {
			return nil, nil, err
		}
		g, err := train.GivenWeights(&s.Job, n, data)
		return n, g, err
	}
	return l, nil
}

// data loads the images of the scenario. For a program that trains, it starts the program to learn its network, and
// returns what stands for the program's examples.
func (s *workspace) data(ctx context.Context, scope *torch.Scope, device torch.Device) (*dataset.Set, error) {
	if !s.Job.Program.On() {
		return dataset.Load(scope, device, s.env.Files, s.Data)
	}
	if err := train.Introduce(ctx, s.env, &s.Job); err != nil {
		return nil, err
	}
	return s.ProgramData()
}

// attach starts the program for a leg.
func (s *workspace) attach(ctx context.Context, seed int64, devices int) (*trainer.Program, func(), error) {
	a, err := train.Attach(ctx, s.env, &s.Job, seed, devices)
	if err != nil {
		return nil, nil, err
	}
	return &a.Program, a.Close, nil
}

// codeVersion identifies the versions that outcomes depend on in addition to the configuration. All devices of a kind
// have the same.
func codeVersion(device torch.Device) (string, error) {
	runtime, err := torch.Describe()
	kind, _, _ := strings.Cut(device.String(), ":")
	switch {
	case err != nil:
		return "", err
	case device != torch.CPU:
	case torch.ComputesWith() == torch.Native:
		kind += " " + runtime.Vectors
	default:
		kind += " limited to " + string(torch.ComputesWith())
	}
	return fmt.Sprintf("legs %d, LibTorch %s, %s", grid.SegmentVersion, runtime.Version, kind), nil
}

// leaseTaker takes legs by leases in the cache.
type leaseTaker struct{ *fleet.Leases }

// Take acquires the lease of a segment. The returned context is cancelled when the lease is lost; the returned function
// releases the lease.
func (t leaseTaker) Take(ctx context.Context, key string) (context.Context, func(), error) {
	lease, err := t.Leases.Take(key)
	if errors.Is(err, fleet.ErrTaken) {
		return nil, nil, fmt.Errorf("%w: %w", grid.ErrTaken, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return lease.Keep(ctx), func() { _ = lease.Release() }, nil // an unreleased lease expires
}

// work runs legs until none is left.
func (s *workspace) work(ctx context.Context, lab *grid.Executor, o workers.Options) error {
	g, err := s.grid()
	if err != nil {
		return err
	}
	clock, log := fleet.NewClock(s.env.Now), s.env.Log
	leases, err := fleet.OpenLeases(s.env.Files, filepath.Join(s.cache(), runs.LeasesFolder),
		fleet.LeaseOptions{Clock: clock, Host: fleet.ThisHost(s.env.Files), Random: s.env.Random,
			Owner: fmt.Sprintf("worker %s, %s", o.Name, files.Holder()), Lost: s.env.LeaseTimeout})
	if err != nil {
		return fmt.Errorf("%w; set simulate.cache to a writable folder", err)
	}
	defer func() { _ = leases.Close() }()
	return g.Work(ctx, grid.Worker{Executor: lab, Leases: leaseTaker{leases},
		Wait: func(ctx context.Context) { _ = clock.Wait(ctx, idleWait) }, // the next call reports an ended context
		Tell: func(leg grid.Segment, o *grid.Outcome, err error) { logLeg(log, leg, o, err) }})
}

// idleWait is the time before a worker looks for legs again.
const idleWait = 300 * time.Millisecond

// logLeg logs the start or the end of a leg.
func logLeg(log *zap.Logger, leg grid.Segment, o *grid.Outcome, err error) {
	about := []zap.Field{zap.Strings("sequence", leg.Sequence), zap.Int64("seed", leg.Seed)}
	switch {
	case err != nil:
		log.Error("leg failed", append(about, zap.Error(err))...)
	case o == nil:
		log.Info("started leg", about...)
	case o.Ended:
		log.Info("completed sequence", append(about, zap.Float64("accuracy", app.Rounded(o.Accuracy)),
			zap.Int64("steps", o.Steps),
			zap.Float64("seconds", app.Rounded(o.Seconds)))...)
	default:
		log.Info("completed leg", append(about, zap.Int64("steps", o.Steps),
			zap.Float64("seconds", app.Rounded(o.Seconds)))...)
	}
}
