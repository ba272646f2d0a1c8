package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/dataset"
	"graft/files"
	"graft/fleet"
	"graft/results"
	"graft/torch"
)

// simulateOptions are the flags of `graft simulate`.
type simulateOptions struct {
	set     []string // assignments after the file
	folder  string   // empty is the file's, or one named after it
	force   bool     // move an existing folder aside
	retry   bool     // try again what failed too often
	engine  string   // who starts workers; empty is the file's
	workers int      // zero is the file's
	wait    bool     // for workers elsewhere, as attach does
	json    bool     // print one object
}

// assignments are what flags say of the file's keys.
func (o simulateOptions) assignments() []string {
	set := slices.Clone(o.set)
	if o.engine != "" {
		set = append(set, "fleet.engine="+o.engine)
	}
	if o.workers != 0 {
		set = append(set, fmt.Sprintf("fleet.workers=%d", o.workers))
	}
	return set
}

func newSimulateCommand() *cobra.Command {
	var o simulateOptions
	command := &cobra.Command{
		Use:   "simulate CONFIG",
		Short: "Run every sequence of actions of a scenario, for policies to learn from",
		Long: `simulate runs the sequences of a scenario: what every decision of a job could be, one
after the other. CONFIG is the file of a job with a section simulate. Sequences that
begin alike have their beginning in common: what they share is trained once. Workers
take what nobody else runs, each in a process of its own.

What was run is kept in a cache, by all that it follows from, for this scenario and
others. The run folder gets the table that policies learn from. The same command goes
on where an earlier one was stopped or killed, and runs again what is damaged; what
failed is left out, said, and tried again with --retry.

With --engine slurm the workers are a job array: the command submits it and returns.
'graft fleet attach' watches it and collects the table, from anywhere that sees the
folder, and so does --wait. What workers get stands in the section fleet.`,
		Example: `  graft simulate late.toml
  graft simulate late.toml --set simulate.seeds=3 --workers 8
  graft simulate late.toml --engine slurm && graft fleet attach runs/late`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runSimulate(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a key, such as simulate.seeds=3; may be given several times")
	flags.StringVar(&o.folder, "folder", "", "the run folder; empty is run.folder, or runs/ and the file's name")
	flags.BoolVar(&o.force, "force", false, "move a run folder of another simulation aside")
	flags.BoolVar(&o.retry, "retry", false, "try again what failed")
	flags.StringVar(&o.engine, "engine", "", "who starts the workers: "+strings.Join(fleet.Engines(), " or ")+"; empty is fleet.engine")
	flags.IntVar(&o.workers, "workers", 0, "how many run side by side; 0 is fleet.workers")
	flags.BoolVar(&o.wait, "wait", false, "wait for workers of a cluster as for those of this machine")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func runSimulate(ctx context.Context, w io.Writer, path string, o simulateOptions) error {
	if o.engine != "" && !slices.Contains(fleet.Engines(), o.engine) {
		return usageErrorf("there is no engine %q that starts workers; there are %s", o.engine, strings.Join(fleet.Engines(), " and "))
	}
	m, err := config.ReadSimulation(files.OS{}, path, o.assignments())
	if err != nil {
		return faultyConfig(err)
	}
	if m.Fleet.Engine == config.Kubernetes {
		return usageErrorf("a cluster starts workers of the engine kubernetes by itself: graft fleet manifest %s | kubectl apply -f -", path)
	}
	ctx, stop := heedRequeue(ctx)
	defer stop()
	s := &site{Simulation: m, folder: folderOf(o.folder, m.Run.Folder, path)}
	if _, err := s.batch(); err != nil {
		return err
	}
	if err := s.settle(ctx, path, o.force); err != nil {
		return err
	}
	watch, err := newWatch(s, loggerFrom(ctx), screenFrom(ctx))
	if err != nil {
		return err
	}
	if o.retry {
		if err := watch.grid.Failures.Clear(); err != nil {
			return err
		}
	}
	return watch.start(ctx, w, o)
}

// folderOf is where a run's files go: a flag, the file's key, or a name after the file.
func folderOf(flag, key, path string) string {
	switch {
	case flag != "":
		return flag
	case key != "":
		return key
	}
	return filepath.Join("runs", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// settle goes on with the run folder of the same simulation, or makes one.
func (s *site) settle(ctx context.Context, path string, force bool) error {
	was, err := readPlan(filepath.Join(s.folder, planFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	begun := err == nil
	if begun && s.sameAsBefore() == nil {
		s.plan = was
		return nil
	}
	if begun && !force {
		return withCode(exitConfig, s.sameAsBefore())
	}
	if err := s.makePlan(); err != nil {
		return err
	}
	run, err := s.create(path, force)
	if errors.Is(err, results.ErrExists) && s.sameAsBefore() == nil { // it was killed before it had a plan
		run, err = results.Open(files.OS{}, s.folder)
	}
	if errors.Is(err, results.ErrExists) {
		return withCode(exitUsage, err)
	}
	if err != nil {
		return err
	}
	loggerFrom(ctx).Info("the sequences are planned", zap.String("scenario", s.plan.Scenario.Name), zap.String("folder", s.folder))
	return errors.Join(s.writePlan(run), run.Close())
}

// writePlan comes after all else: a folder without a plan is no simulation yet.
func (s *site) writePlan(run *results.Run) error {
	text, err := json.MarshalIndent(s.plan, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteAtomic(files.OS{}, run.Path(planFile), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// sameAsBefore says in what the simulation differs from the one in the folder.
func (s *site) sameAsBefore() error {
	was, err := config.ReadSimulation(files.OS{}, filepath.Join(s.folder, resolvedFile), nil)
	if err == nil && was.Digest() == s.Digest() {
		return nil
	}
	what := "a file that it reads is another"
	if err == nil {
		if list := s.Differences(was); len(list) > 0 {
			what = strings.Join(list, ", ")
		}
	}
	return fmt.Errorf("%s has another simulation: %s; give it what it had, name another folder with --folder, or move it aside with --force", s.folder, what)
}

// makePlan finds out all that outcomes follow from. The images are looked at on the
// CPU, and given back.
func (s *site) makePlan() error {
	device, err := torch.ParseDevice(s.Run.Device)
	if err != nil {
		return err
	}
	code, err := causeOf(device)
	if err != nil {
		return err
	}
	return torch.With(func(scope *torch.Scope) error {
		data, err := dataset.Load(scope, torch.CPU, files.OS{}, s.Data)
		if err != nil {
			return err
		}
		s.plan, err = s.Plan(files.OS{}, data, code)
		return withCode(exitConfig, err)
	})
}

// create makes the run folder.
func (s *site) create(path string, force bool) (*results.Run, error) {
	given, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // without a name the manifest has none
	return results.Create(files.OS{}, s.folder, results.CreateOptions{Force: force, Config: string(given), Resolved: s.Resolved()}, results.Manifest{
		Created: time.Now().UTC(), Graft: thisVersion(), Seed: uint64(s.Run.Seed), Device: s.Run.Device, Profile: s.Time.Profile,
		ConfigSHA256: s.Digest(), DatasetSHA256: s.plan.Cause.Data, Network: s.plan.Scenario.Network, Host: host, CommandLine: os.Args})
}

// batch is the workers of the simulation. What the engine refuses of it has the code of
// a wrong configuration.
func (s *site) batch() (fleet.Batch, error) {
	self, err := os.Executable()
	if err != nil {
		return fleet.Batch{}, err
	}
	if s.Fleet.Engine == config.Kubernetes {
		self = "graft" // the image's
	}
	folder, err := filepath.Abs(s.folder)
	if err != nil {
		return fleet.Batch{}, err
	}
	here, err := os.Getwd()
	if err != nil {
		return fleet.Batch{}, err
	}
	b := fleet.Batch{Key: "graft-" + s.Digest()[:16], Folder: folder, Dir: here, Argv: []string{self, "work", folder}, Workers: s.workers(), Resources: s.Fleet.Resources()}
	if s.Fleet.Threads > 0 {
		b.Argv = append(b.Argv, "--threads", strconv.Itoa(s.Fleet.Threads))
	}
	return b, withCode(exitConfig, s.Fleet.ValidateFor(b))
}

// manyElsewhere is how many workers a cluster runs side by side where nothing is said.
const manyElsewhere = 4

// workers is how many run side by side.
func (s *site) workers() int {
	switch {
	case s.Fleet.Workers > 0:
		return s.Fleet.Workers
	case s.Fleet.Engine != "local":
		return manyElsewhere
	case len(s.Fleet.Devices) > 0:
		return len(s.Fleet.Devices)
	case s.Run.Device != "cpu":
		return 1
	}
	return runtime.NumCPU()
}
