package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"graft/config"
	"graft/dataset"
	"graft/fleet"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/workers"
	"graft/torch"
)

// Options configures [Run].
type Options struct {
	Set []string // assignments applied after the file
	// path of the run folder; empty means run.folder or, if it is empty too, runs/NAME for a file NAME.toml
	Folder  string
	Force   bool   // moves an existing folder aside
	Retry   bool   // retries sequences that failed too often
	Engine  string // engine that starts workers; empty means fleet.engine
	Workers int    // number of workers; zero means fleet.workers
	// makes Run supervise workers on other machines until all work is done; if false, Run returns once these workers
	// are submitted
	Wait bool
}

// Result is the report of a simulation, or the submission of its workers if they run on other machines.
type Result struct {
	Report     *Report     // report; nil while workers run elsewhere
	Submission *Submission // submission; nil if workers were supervised to the end
}

// Run runs the sequences of a scenario that have no outcome yet. If sequences failed, it returns both a result and an
// error.
func Run(ctx context.Context, env *app.Env, path string, o Options) (*Result, error) {
	if o.Engine != "" && !slices.Contains(fleet.Engines(), o.Engine) {
		return nil, failure.Usagef("unknown engine %q; expected one of: %s", o.Engine,
			strings.Join(fleet.Engines(), ", "))
	}
	m, err := config.ReadSimulation(env.Files, path, workers.Assigned(o.Set, o.Engine, o.Workers))
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	if m.Fleet.Engine == config.Kubernetes {
		return nil, failure.Usagef("with engine kubernetes the cluster starts the workers; run "+
			"'graft fleet manifest %s | kubectl apply -f -'", path)
	}
	app.Warn(env.Log, m)
	s := &workspace{Simulation: m, env: env, folder: app.Folder(o.Folder, m.Run.Folder, path)}
	if _, err := s.batch(); err != nil {
		return nil, err
	}
	if err := s.prepareFolder(ctx, path, o.Force); err != nil {
		return nil, err
	}
	x, err := newMonitor(s)
	if err != nil {
		return nil, err
	}
	if o.Retry {
		if err := x.grid.Failures.Clear(); err != nil {
			return nil, err
		}
	}
	return x.start(ctx, o)
}

// prepareFolder opens the run folder of the same simulation, or makes one.
func (s *workspace) prepareFolder(ctx context.Context, path string, force bool) error {
	was, err := runs.ReadPlan(s.env.Files, filepath.Join(s.folder, runs.PlanFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	begun := err == nil
	if begun && s.checkSame() == nil {
		s.plan = was
		if err = s.checkInputs(ctx); err == nil || !force {
			return failure.With(failure.Configuration, err)
		}
		begun = false // moved aside
	}
	if begun && !force {
		return failure.With(failure.Configuration, s.checkSame())
	}
	stamp := s.stamp()
	if err := s.makePlan(ctx); err != nil {
		return err
	}
	run, err := s.create(force)
	if errors.Is(err, results.ErrExists) && s.checkSame() == nil { // killed before it had a plan
		run, err = results.Open(s.env.Files, s.folder)
	}
	if err != nil {
		return err
	}
	s.env.Log.Info("planned the action sequences", zap.String("scenario", s.plan.Scenario.Name),
		zap.String("folder", s.folder))
	return errors.Join(s.writeStamp(stamp), s.writePlan(run), run.Close())
}

// writePlan is the last step: a folder without a plan is not a simulation yet.
func (s *workspace) writePlan(run *results.Run) error {
	text, err := json.MarshalIndent(s.plan, "", "  ")
	if err != nil {
		return err
	}
	return s.env.WriteText(run.Path(runs.PlanFile), string(text)+"\n")
}

// checkSame returns an error if the simulation in the folder differs from this one.
func (s *workspace) checkSame() error {
	was, err := config.ReadSimulation(s.env.Files, filepath.Join(s.folder, runs.ResolvedFile), nil)
	if err == nil && was.Digest() == s.Digest() {
		return nil
	}
	what := config.Changes(s.env.Files, filepath.Join(s.folder, runs.ResolvedFile), s.Simulation)
	return fmt.Errorf("%s contains another simulation: %s; restore its configuration, "+
		"choose another folder with option \"folder\", or set option \"force\" to move the existing folder aside",
		s.folder, what)
}

// checkInputs returns an error if the initial weights or the images differ from the start of the simulation. It loads
// the images only if their files may have changed since the last check; workers check them in any case.
func (s *workspace) checkInputs(ctx context.Context) error {
	if err := s.CheckInitialWeights(s.env.Files, s.plan); err != nil || s.Job.Program.On() {
		return err
	}
	stamp := s.stamp()
	if s.Data.Path == "" || stamp != "" && stamp == s.readStamp() {
		return nil
	}
	if err := s.Run.Limit(); err != nil {
		return err
	}
	return torch.With(func(scope *torch.Scope) error {
		data, err := s.data(ctx, scope, torch.CPU)
		if err != nil { // completed work does not need the images
			s.env.Log.Warn("cannot check that the images are the same as at the start of the simulation",
				zap.Error(err))
			return nil
		}
		if err := s.checkImages(data); err != nil {
			return err
		}
		return s.writeStamp(stamp)
	})
}

// checkImages returns an error if images differ from the start of the simulation.
func (s *workspace) checkImages(data *dataset.Set) error {
	if data.Digest == s.plan.Cause.Data {
		return nil
	}
	return failure.With(failure.Configuration, fmt.Errorf("the images of %s differ from the images at the start of "+
		"the simulation; restore them, or start a new simulation in another folder", data.Name))
}

// makePlan computes the plan. It loads the images on the CPU only for their digest.
func (s *workspace) makePlan(ctx context.Context) error {
	if err := s.Run.Limit(); err != nil {
		return err
	}
	device, err := torch.ParseDevice(s.Run.Device)
	if err != nil {
		return err
	}
	code, err := codeVersion(device)
	if err != nil {
		return err
	}
	return torch.With(func(scope *torch.Scope) error {
		data, err := s.data(ctx, scope, torch.CPU)
		if err != nil {
			return err
		}
		s.plan, err = s.Plan(s.env.Files, data, code)
		return failure.With(failure.Configuration, err)
	})
}

// create makes the run folder.
func (s *workspace) create(force bool) (*results.Run, error) {
	return s.env.CreateRun(s.folder, runs.SimulationKind,
		results.CreateOptions{Force: force, Config: s.Text(), Resolved: s.Resolved()},
		results.Manifest{Seed: uint64(s.Run.Seed),
			Device: s.Run.Device, Profile: s.Time.Profile, ConfigSHA256: s.Digest(), DatasetSHA256: s.plan.Cause.Data,
			Network: s.plan.Scenario.Network})
}

// batch describes the workers. If the engine rejects the batch, the exit code is Configuration.
func (s *workspace) batch() (fleet.Batch, error) {
	self := s.env.Program
	if s.Fleet.Engine == config.Kubernetes {
		self = "graft" // in the image
	}
	folder, err := filepath.Abs(s.folder)
	if err != nil {
		return fleet.Batch{}, err
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return fleet.Batch{}, err
	}
	b := fleet.Batch{Key: s.key(folder), Folder: folder, Dir: here, Argv: []string{self, "work", folder},
		Workers: workers.Number(s.Fleet, s.Run.Device), Resources: s.Fleet.Resources()}
	if s.Fleet.Threads > 0 {
		b.Argv = append(b.Argv, "--threads", strconv.Itoa(s.Fleet.Threads))
	}
	return b, failure.With(failure.Configuration, s.Fleet.ValidateFor(b))
}

// key identifies the workers of a folder: the same simulation in another folder has other workers. A folder whose
// workers were started by an earlier version of graft keeps the key, which did not depend on the folder.
func (s *workspace) key(folder string) string {
	earlier := "graft-" + s.Digest()[:16]
	if f, err := fleet.Attach(workers.Tools(s.env), folder); err == nil && f.Batch().Key == earlier {
		return earlier
	}
	sum := sha256.Sum256([]byte(folder + s.Digest()))
	return fmt.Sprintf("graft-%x", sum[:8])
}
