package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	"graft/simulation/grid"
	"graft/torch"
	"graft/trainer"
)

// Names in the run folder of a simulation.
const (
	resolvedFile   = "config.resolved.toml"
	planFile       = "grid.json"
	failuresFolder = "failures"
	tableFolder    = "table"
	leasesFolder   = "leases" // in the cache
	largestPlan    = 4 << 20
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
		return withCode(exitRequeue, errors.Join(trainer.ErrStopped, err))
	}
	return err
}

// site is the run folder of a simulation, as a worker or whoever watches sees it.
type site struct {
	*config.Simulation
	folder string
	plan   *grid.Plan
}

// openSite reads what a run folder says.
func openSite(folder string) (*site, error) {
	plan, err := readPlan(filepath.Join(folder, planFile))
	if err != nil {
		return nil, fmt.Errorf("open simulation %s: %w; give the run folder of 'graft simulate'", folder, err)
	}
	m, err := config.ReadSimulation(files.OS{}, filepath.Join(folder, resolvedFile), nil)
	if err != nil {
		return nil, faultyConfig(err)
	}
	return &site{m, folder, plan}, nil
}

func readPlan(path string) (*grid.Plan, error) {
	text, err := files.ReadAll(files.OS{}, path, largestPlan)
	if err != nil {
		return nil, err
	}
	p := &grid.Plan{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, withCode(exitDamaged, fmt.Errorf("%s is damaged: %w", path, err))
	}
	return p, nil
}

// grid is the simulation's tree, of which nothing is looked at yet.
func (s *site) grid() (*grid.Grid, error) {
	ground, err := s.plan.Space()
	if err != nil {
		return nil, err
	}
	store, err := grid.OpenStore(files.OS{}, s.cache())
	if err != nil {
		return nil, err
	}
	log, err := grid.OpenFailures(files.OS{}, filepath.Join(s.folder, failuresFolder))
	if err != nil {
		return nil, err
	}
	g := grid.NewGrid(*s.plan, ground, store, log)
	g.Policy = s.Likely()
	return g, nil
}

// cache is the folder that keeps what was run.
func (s *site) cache() string {
	if s.Simulate.Cache != "" {
		return s.Simulate.Cache
	}
	return cacheBeside(s.folder)
}

// cacheBeside is where a simulation keeps what it ran unless it is told otherwise.
func cacheBeside(folder string) string {
	return filepath.Join(filepath.Dir(filepath.Clean(folder)), "cache")
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
			return usageErrorf("GRAFT_THREADS is %q; it is a number", text)
		}
	}
	if n == 0 {
		return nil
	}
	return torch.SetThreads(n)
}

// lab makes all that legs need. The scope owns the images.
func (s *site) lab(scope *torch.Scope) (*grid.Executor, error) {
	device, err := s.device()
	if err != nil {
		return nil, err
	}
	data, err := dataset.Load(scope, device, files.OS{}, s.Data)
	if err != nil {
		return nil, err
	}
	if data.Digest != s.plan.Cause.Data {
		return nil, withCode(exitConfig, fmt.Errorf("the images of %s are not those that the simulation began with; give it those, or begin another with --folder", data.Name))
	}
	if code, err := causeOf(device); err != nil || code != s.plan.Cause.Code {
		return nil, errors.Join(err, withCode(exitConfig, fmt.Errorf("the simulation began with %s, and this is %s; use that, or begin another with --folder", s.plan.Cause.Code, code)))
	}
	runtime, err := torch.Describe()
	if err != nil {
		return nil, err
	}
	profile, err := s.Profile()
	if err != nil {
		return nil, err
	}
	l := &grid.Executor{Options: s.Options(), Data: data, Device: device, Now: time.Now,
		Clock: func(at time.Duration) trainer.Clock { return trainer.NewWall(time.Now, at) }}
	l.Signed.Graft, l.Signed.LibTorch, l.Options.Seed = thisVersion(), runtime.Version, 0
	if profile != nil {
		l.Options.Steady, l.Signed.Profile = true, profile.Name
		l.Clock = func(at time.Duration) trainer.Clock { return &trainer.Virtual{Profile: profile, Time: at} }
	}
	l.Begin = func(scope *torch.Scope, seed int64) (*model.Network, *trainer.Given, error) {
		n, err := firstNetwork(scope, &s.Job, data, device, seed)
		if err != nil {
			return nil, nil, err
		}
		g, err := given(&s.Job, n, data)
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
func (s *site) work(ctx context.Context, lab *grid.Executor) error {
	g, err := s.grid()
	if err != nil {
		return err
	}
	clock, log := fleet.NewClock(time.Now), loggerFrom(ctx)
	leases, err := fleet.OpenLeases(files.OS{}, filepath.Join(s.cache(), leasesFolder), fleet.LeaseOptions{Clock: clock, Host: fleet.ThisHost(files.OS{}), Random: rand.Reader,
		Owner: fmt.Sprintf("worker %s, %s", os.Getenv("GRAFT_WORKER"), files.Holder())})
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
		log.Info("ended", append(about, zap.Float64("accuracy", rounded(o.Accuracy)), zap.Int64("steps", o.Steps), zap.Float64("seconds", rounded(o.Seconds)))...)
	default:
		log.Info("stands before a decision", append(about, zap.Int64("steps", o.Steps), zap.Float64("seconds", rounded(o.Seconds)))...)
	}
}
