package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/dataset"
	"graft/files"
	"graft/fleet"
	"graft/model"
	"graft/results/failure"
	"graft/results/runs"
	"graft/simulation"
	"graft/torch"
	"graft/trainer"
	"graft/work"
	"graft/work/train"
)

// newWorkCommand is `graft work`, which people have no use for.
func newWorkCommand() *cobra.Command {
	threads := 0
	command := &cobra.Command{
		Use:    "work FOLDER",
		Hidden: true,
		Short:  "Run sequences of a simulation, beside other workers",
		Long: `work is what 'graft simulate' starts, here or on the nodes of a cluster: it takes what
nobody else runs, until nothing is left. GRAFT_WORKER is its number, GRAFT_THREADS how
many processors it has, and GRAFT_DEVICE where it trains.`,
		Example: "  graft work runs/late",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runWork(command.Context(), args[0], threads)
		},
	}
	command.Flags().IntVar(&threads, "threads", 0, "how many LibTorch works with; 0 is run.threads or GRAFT_THREADS")
	return command
}

func runWork(ctx context.Context, folder string, threads int) error {
	ctx, stop := heedRequeue(ctx)
	defer stop()
	site, err := openSite(folder)
	if err != nil {
		return err
	}
	if err := site.useThreads(threads); err != nil {
		return err
	}
	err = torch.With(func(s *torch.Scope) error {
		lab, err := site.lab(s)
		if err != nil {
			return err
		}
		return site.work(ctx, lab)
	})
	if errors.Is(err, trainer.ErrStopped) || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return failure.With(failure.Requeue, errors.Join(trainer.ErrStopped, err))
	}
	return err
}

// site is the run folder of a simulation, as a worker or whoever watches sees it.
type site struct {
	*config.Simulation
	folder string
	plan   *simulation.Plan
}

// openSite reads what a run folder says.
func openSite(folder string) (*site, error) {
	plan, err := runs.ReadPlan(filepath.Join(folder, runs.PlanFile))
	if err != nil {
		return nil, fmt.Errorf("open simulation %s: %w; give the run folder of 'graft simulate'", folder, err)
	}
	m, err := config.ReadSimulation(files.OS{}, filepath.Join(folder, runs.ResolvedFile), nil)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	return &site{m, folder, plan}, nil
}

// grid is the simulation's tree, of which nothing is looked at yet.
func (s *site) grid() (*simulation.Grid, error) {
	ground, err := s.plan.Ground()
	if err != nil {
		return nil, err
	}
	store, err := simulation.OpenStore(files.OS{}, s.cache())
	if err != nil {
		return nil, err
	}
	log, err := simulation.OpenTroubles(files.OS{}, filepath.Join(s.folder, runs.FailuresFolder))
	if err != nil {
		return nil, err
	}
	g := simulation.NewGrid(*s.plan, ground, store, log)
	g.Policy = s.Likely()
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
func (s *site) device() (torch.Device, error) {
	if name := os.Getenv("GRAFT_DEVICE"); name != "" {
		return torch.ParseDevice(name)
	}
	return torch.ParseDevice(s.Run.Device)
}

// useThreads keeps this worker to its part of the processors, where n does not say more.
func (s *site) useThreads(n int) error {
	if n == 0 {
		n = s.Run.Threads
	}
	if text := os.Getenv("GRAFT_THREADS"); n == 0 && text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			return failure.Usagef("GRAFT_THREADS is %q; it is a number", text)
		}
	}
	if n == 0 {
		return nil
	}
	return torch.SetThreads(n)
}

// lab makes all that legs need. The scope owns the images.
func (s *site) lab(scope *torch.Scope) (*simulation.Lab, error) {
	device, err := s.device()
	if err != nil {
		return nil, err
	}
	data, err := dataset.Load(scope, device, files.OS{}, s.Data)
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
	l := &simulation.Lab{Options: s.Options(), Data: data, Device: device, Now: time.Now,
		Clock: func(at time.Duration) trainer.Clock { return trainer.NewWall(time.Now, at) }}
	l.Signed.Graft, l.Signed.LibTorch, l.Options.Seed = thisVersion(), runtime.Version, 0
	if profile != nil {
		l.Options.Steady, l.Signed.Profile = true, profile.Name
		l.Clock = func(at time.Duration) trainer.Clock { return &trainer.Virtual{Profile: profile, Time: at} }
	}
	l.Begin = func(scope *torch.Scope, seed int64) (*model.Network, *trainer.Given, error) {
		n, err := train.FirstNetwork(files.OS{}, scope, &s.Job, data, device, seed)
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
	return fmt.Sprintf("legs %d, LibTorch %s, %s", simulation.LegVersion, runtime.Version, kind), err
}

// turns takes legs by the leases of the cache.
type turns struct{ *fleet.Leases }

// Take gives a leg, and ends its work should the lease be lost.
func (t turns) Take(ctx context.Context, key string) (context.Context, func(), error) {
	lease, err := t.Leases.Take(key)
	if errors.Is(err, fleet.ErrTaken) {
		return nil, nil, fmt.Errorf("%w: %w", simulation.ErrTaken, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return lease.Keep(ctx), func() { _ = lease.Release() }, nil // what is not given back is lost in a while
}

// work runs legs until none is left.
func (s *site) work(ctx context.Context, lab *simulation.Lab) error {
	g, err := s.grid()
	if err != nil {
		return err
	}
	clock, log := fleet.NewClock(time.Now), loggerFrom(ctx)
	leases, err := fleet.OpenLeases(files.OS{}, filepath.Join(s.cache(), runs.LeasesFolder), fleet.LeaseOptions{Clock: clock, Host: fleet.ThisHost(),
		Owner: fmt.Sprintf("worker %s, %s", os.Getenv("GRAFT_WORKER"), files.Holder())})
	if err != nil {
		return fmt.Errorf("%w; name a folder that can be written with simulate.cache", err)
	}
	defer func() { _ = leases.Close() }()
	return g.Work(ctx, simulation.Worker{Lab: lab, Taker: turns{leases},
		Rest: func(ctx context.Context) { _ = clock.Wait(ctx, rest) }, // a context that ends is seen by whoever asks next
		Tell: func(leg simulation.Leg, o *simulation.Outcome, err error) { tellLeg(log, leg, o, err) }})
}

// rest is how long a worker waits for legs that others have left.
const rest = 300 * time.Millisecond

// tellLeg writes into the worker's log.
func tellLeg(log *zap.Logger, leg simulation.Leg, o *simulation.Outcome, err error) {
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
