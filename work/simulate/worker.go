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

	"graft/config"
	"graft/dataset"
	"graft/files"
	"graft/fleet"
	"graft/model"
	"graft/results/failure"
	"graft/results/runs"
	"graft/simulation/grid"
	"graft/torch"
	"graft/trainer"
	"graft/work"
	"graft/work/train"
)

// WorkerOptions say what one worker of a simulation is given.
type WorkerOptions struct {
	Threads int    // of LibTorch; 0 takes run.threads, else given
	Given   string // threads that the fleet gives each worker, as text; empty leaves it to LibTorch
	Device  string // where to train, such as cuda:1; empty takes run.device
	Name    string // of the worker, in leases; usually its number
}

// Work runs sequences of the simulation in a folder, beside other workers, until none is
// left.
func Work(ctx context.Context, env *work.Env, folder string, o WorkerOptions) error {
	site, err := openSite(env, folder)
	if err != nil {
		return err
	}
	if err := site.useThreads(o); err != nil {
		return err
	}
	err = torch.With(func(s *torch.Scope) error {
		lab, err := site.lab(s, o)
		if err != nil {
			return err
		}
		return site.work(ctx, lab, o)
	})
	if errors.Is(err, trainer.ErrStopped) || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return failure.With(failure.Requeue, errors.Join(trainer.ErrStopped, err))
	}
	return err
}

// site is the run folder of a simulation, as a worker or whoever watches sees it.
type site struct {
	*config.Simulation
	env    *work.Env
	folder string
	plan   *grid.Plan
}

// openSite reads what a run folder says.
func openSite(env *work.Env, folder string) (*site, error) {
	plan, err := runs.ReadPlan(env.Files, filepath.Join(folder, runs.PlanFile))
	if err != nil {
		return nil, fmt.Errorf("open simulation %s: %w; give the run folder of 'graft simulate'", folder, err)
	}
	m, err := config.ReadSimulation(env.Files, filepath.Join(folder, runs.ResolvedFile), nil)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	return &site{Simulation: m, env: env, folder: folder, plan: plan}, nil
}

// grid is the simulation's tree, of which nothing is looked at yet.
func (s *site) grid() (*grid.Grid, error) {
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

// cache is the folder that keeps what was run.
func (s *site) cache() string {
	if s.Simulate.Cache != "" {
		return s.Simulate.Cache
	}
	return runs.CacheBeside(s.folder)
}

// device is where this worker trains.
func (s *site) device(o WorkerOptions) (torch.Device, error) {
	return torch.ParseDevice(cmp.Or(o.Device, s.Run.Device))
}

// useThreads keeps this worker to its part of the processors.
func (s *site) useThreads(o WorkerOptions) error {
	n := cmp.Or(o.Threads, s.Run.Threads)
	if n == 0 && o.Given != "" {
		var err error
		if n, err = strconv.Atoi(o.Given); err != nil {
			return failure.Usagef("GRAFT_THREADS is %q; expected a number", o.Given)
		}
	}
	if n == 0 {
		return nil
	}
	return torch.SetThreads(n)
}

// lab makes all that legs need. The scope owns the images.
func (s *site) lab(scope *torch.Scope, o WorkerOptions) (*grid.Executor, error) {
	device, err := s.device(o)
	if err != nil {
		return nil, err
	}
	data, err := dataset.Load(scope, device, s.env.Files, s.Data)
	if err != nil {
		return nil, err
	}
	if data.Digest != s.plan.Cause.Data {
		return nil, failure.With(failure.Configuration, fmt.Errorf("the images of %s are not those that the simulation began with; give it those, or begin another with --folder", data.Name))
	}
	if code, err := causeOf(device); err != nil || code != s.plan.Cause.Code {
		return nil, errors.Join(err, failure.With(failure.Configuration, fmt.Errorf("the simulation began with %s, and this is %s; use that, or begin another with --folder", s.plan.Cause.Code, code)))
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
		Clock: func(at time.Duration) trainer.Clock { return trainer.NewWall(s.env.Now, at) }}
	l.Signed.Graft, l.Signed.LibTorch, l.Options.Seed = s.env.Version, runtime.Version, 0
	if profile != nil {
		l.Options.Steady, l.Signed.Profile = true, profile.Name
		l.Clock = func(at time.Duration) trainer.Clock { return &trainer.Virtual{Profile: profile, Time: at} }
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

// causeOf names what outcomes depend on beside all that is configured. Devices of a
// kind count as one.
func causeOf(device torch.Device) (string, error) {
	runtime, err := torch.Describe()
	kind, _, _ := strings.Cut(device.String(), ":")
	return fmt.Sprintf("legs %d, LibTorch %s, %s", grid.SegmentVersion, runtime.Version, kind), err
}

// turns takes legs by the leases of the cache.
type turns struct{ *fleet.Leases }

// Take gives a leg, and ends its work should the lease be lost.
func (t turns) Take(ctx context.Context, key string) (context.Context, func(), error) {
	lease, err := t.Leases.Take(key)
	if errors.Is(err, fleet.ErrTaken) {
		return nil, nil, fmt.Errorf("%w: %w", grid.ErrTaken, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return lease.Keep(ctx), func() { _ = lease.Release() }, nil // what is not given back is lost in a while
}

// work runs legs until none is left.
func (s *site) work(ctx context.Context, lab *grid.Executor, o WorkerOptions) error {
	g, err := s.grid()
	if err != nil {
		return err
	}
	clock, log := fleet.NewClock(s.env.Now), s.env.Log
	leases, err := fleet.OpenLeases(s.env.Files, filepath.Join(s.cache(), runs.LeasesFolder), fleet.LeaseOptions{Clock: clock, Host: fleet.ThisHost(s.env.Files), Random: s.env.Random,
		Owner: fmt.Sprintf("worker %s, %s", o.Name, files.Holder())})
	if err != nil {
		return fmt.Errorf("%w; name a folder that can be written with simulate.cache", err)
	}
	defer func() { _ = leases.Close() }()
	return g.Work(ctx, grid.Worker{Executor: lab, Leases: turns{leases},
		Wait: func(ctx context.Context) { _ = clock.Wait(ctx, rest) }, // a context that ends is seen by whoever asks next
		Tell: func(leg grid.Segment, o *grid.Outcome, err error) { tellLeg(log, leg, o, err) }})
}

// rest is how long a worker waits for legs that others have left.
const rest = 300 * time.Millisecond

// tellLeg writes into the worker's log.
func tellLeg(log *zap.Logger, leg grid.Segment, o *grid.Outcome, err error) {
	about := []zap.Field{zap.Strings("sequence", leg.Sequence), zap.Int64("seed", leg.Seed)}
	switch {
	case err != nil:
		log.Error("failed", append(about, zap.Error(err))...)
	case o == nil:
		log.Info("runs", about...)
	case o.Ended:
		log.Info("ended", append(about, zap.Float64("accuracy", work.Rounded(o.Accuracy)), zap.Int64("steps", o.Steps), zap.Float64("seconds", work.Rounded(o.Seconds)))...)
	default:
		log.Info("stands before a decision", append(about, zap.Int64("steps", o.Steps), zap.Float64("seconds", work.Rounded(o.Seconds)))...)
	}
}
