package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/dataset"
	"graft/files"
	"graft/model"
	"graft/results"
	"graft/torch"
	"graft/trainer"
)

// trainOptions are the flags of `graft train`.
type trainOptions struct {
	set    []string      // assignments after the file
	folder string        // empty is the file's, or one named after it
	resume bool          // go on with a run that was stopped
	force  bool          // move an existing folder aside
	json   bool          // print one object
	listen listenOptions // where it is watched and steered; zero is nowhere
	board  bool          // write event files for TensorBoard; false leaves it to the file
	// passing says that the folder is thrown away, so that nobody is told of it.
	passing bool
}

func newTrainCommand() *cobra.Command {
	var o trainOptions
	command := &cobra.Command{
		Use:   "train [CONFIG]",
		Short: "Train a network within a time budget, adapting as its devices come and go",
		Long: `train runs one job: from the first step to the end of its time budget, growing and
shrinking its network as the timeline and the decider say. Without a file, or where
a file is silent, the defaults hold; 'graft config show' prints them all.

What happens is written into a run folder. An existing one is never overwritten:
--resume goes on with it, --force moves it aside. SIGTERM, SIGUSR1 and the first
SIGINT save the job and leave with exit code 75; the same command with --resume then
goes on, to the bits that the job would have had on the virtual clock. A second SIGINT
leaves at once.

With --listen the job can be watched and steered while it runs: GET /status and GET
/metrics say where it stands, POST /allocation gives it devices or takes them away.
Every request needs a token: that of --token-file or GRAFT_TOKEN, or else one that is
made and written into the run folder, beside the address.`,
		Example: `  graft train job.toml
  graft train --set time.budget=30s --set network.name=ConvNet3 --folder runs/first
  graft train job.toml --resume
  graft train job.toml --listen 127.0.0.1:0`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			return runTrain(command.Context(), command.OutOrStdout(), path, o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a key, such as time.budget=30s; may be given several times")
	flags.StringVar(&o.folder, "folder", "", "the run folder; empty is run.folder, or runs/ and the file's name")
	flags.BoolVar(&o.resume, "resume", false, "go on with the run in the folder")
	flags.BoolVar(&o.force, "force", false, "move an existing run folder aside")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.StringVar(&o.listen.address, "listen", "", "serve /status, /metrics and /allocation at an address such as 127.0.0.1:0; empty is run.listen")
	flags.BoolVar(&o.listen.anywhere, "listen-anywhere", false, "let that be an address to which other machines can come, without encryption")
	flags.StringVar(&o.listen.tokenFile, "token-file", "", "take the token of --listen from a file; empty takes GRAFT_TOKEN, or makes one")
	boardFlag(command, &o.board)
	command.MarkFlagsMutuallyExclusive("resume", "force")
	return command
}

func runTrain(ctx context.Context, w io.Writer, path string, o trainOptions) error {
	job, err := config.ReadJob(files.OS{}, path, o.set)
	if err != nil {
		var faults config.Faults
		if errors.As(err, &faults) {
			err = withCode(exitConfig, err)
		}
		return err
	}
	if o.listen.address != "" {
		job.Run.Listen = o.listen.address
		if err := job.Run.Validate(); err != nil {
			return withCode(exitUsage, err)
		}
	}
	o.listen.address = job.Run.Listen
	job.Run.Tensorboard = job.Run.Tensorboard || o.board
	ctx, stop := heedRequeue(ctx)
	defer stop()
	if job.Run.Threads > 0 {
		if err := torch.SetThreads(job.Run.Threads); err != nil {
			return err
		}
	}
	return torch.With(func(s *torch.Scope) error {
		r := &performance{Job: job, trainOptions: o, s: s, screen: screenFrom(ctx), folder: runFolder(o, job, path), path: path}
		r.log, r.alone, r.record = recorded(loggerFrom(ctx))
		defer r.close()
		outcome, err := r.run(ctx)
		r.remember(err)
		if errors.Is(err, trainer.ErrStopped) && o.passing {
			return withCode(exitInterrupted, errors.New("stopped; nothing is kept"))
		}
		if errors.Is(err, trainer.ErrStopped) {
			return withCode(exitRequeue, fmt.Errorf("%w in %s; go on with --resume", err, r.folder))
		}
		if err != nil {
			return err
		}
		return r.print(w, outcome)
	})
}

// heedRequeue is a context that SIGUSR1 cancels too: with it Slurm warns of the end
// of an allocation.
func heedRequeue(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, syscall.SIGUSR1)
}

// runFolder is where a run's files go.
func runFolder(o trainOptions, job *config.Job, path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	switch {
	case o.folder != "":
		return o.folder
	case job.Run.Folder != "":
		return job.Run.Folder
	case path == "":
		return filepath.Join("runs", "job")
	}
	return filepath.Join("runs", name)
}

// performance is a job that is made from its configuration.
type performance struct {
	*config.Job
	trainOptions
	s       *torch.Scope
	screen  *screen
	log     *zap.Logger
	alone   *zap.Logger // writes into the run folder only
	record  *record
	folder  string
	path    string       // of the configuration; empty where there is none
	given   *givenReport // on first weights that were read; nil where they are drawn
	book    *diary
	stored  *results.Run
	counter *counter      // nil where nobody listens
	live    *trainer.Live // nil where nobody listens
}

func (r *performance) close() {
	r.counter.close()
	if r.stored != nil {
		_ = r.stored.Close()
	}
}

// run makes the job, or makes it anew from its last checkpoint, and runs it.
func (r *performance) run(ctx context.Context) (*jobOutcome, error) {
	var err error
	if r.counter, err = openCounter(r.listen, r.log); err != nil { // before anything is done or made
		return nil, err
	}
	job, err := r.prepare()
	if err != nil {
		return nil, err
	}
	outcome, err := r.perform(ctx, job)
	if err != nil {
		return nil, err
	}
	o := &jobOutcome{Outcome: outcome}
	o.Saves, o.Saving = job.Saving()
	return o, r.stored.WriteOutcome(o)
}

// remember writes into the run folder's log how the job ended, which a person is
// told otherwise.
func (r *performance) remember(err error) {
	switch {
	case errors.Is(err, trainer.ErrStopped):
		r.alone.Info("stopped", zap.Error(err))
	case err != nil:
		r.alone.Error("failed", zap.Error(err))
	}
}

// perform runs a job before the eyes of whoever wants to see it.
func (r *performance) perform(ctx context.Context, job *trainer.Job) (*trainer.Outcome, error) {
	rows, notes, err := r.book.History(files.OS{})
	if err != nil {
		return nil, err
	}
	if err := r.book.show(r.stored, job, rows, r.Job); err != nil {
		return nil, err
	}
	drawn := drawable(r.screen)
	r.book.board, r.book.teller = newBoard(job.Network.Name(), job.Progress(), rows, notes), newTeller(r.log, time.Now, drawn)
	if err := r.counter.serve(r.folder, r.book.board, r.live); err != nil {
		return nil, err
	}
	if drawn {
		defer drawBars(r.screen, r.book.board.scene()).close()
	}
	return job.Run(ctx)
}

// prepare makes all that a job consists of.
func (r *performance) prepare() (*trainer.Job, error) {
	device, err := torch.ParseDevice(r.Run.Device)
	if err != nil {
		return nil, err
	}
	parts := trainer.Parts{Now: time.Now, Scratch: scratchFolder}
	if parts.Decider, err = r.Decider(); err != nil {
		return nil, err
	}
	if parts.Data, err = dataset.Load(r.s, device, files.OS{}, r.Data); err != nil {
		return nil, err
	}
	r.log.Info("images are on the device", zap.String("dataset", parts.Data.Name), zap.Int("training", parts.Data.Train.Count),
		zap.Int("validation", parts.Data.Validation.Count), zap.Int("test", parts.Data.Test.Count))
	if parts.Starter, err = r.starter(device); err != nil {
		return nil, err
	}
	if !r.resume { // before there is a folder, which a fault would leave behind
		if err := r.covered(parts.Data); err != nil {
			return nil, err
		}
		if err := r.begin(&parts, device); err != nil {
			return nil, err
		}
	}
	last, err := r.open(parts.Data)
	if err != nil {
		return nil, err
	}
	if parts.Network == nil && last == nil { // it was stopped before its first checkpoint
		if err := r.begin(&parts, device); err != nil {
			return nil, err
		}
	}
	parts.Book, parts.Watch = r.book, r.book.watch
	return r.job(parts, device, last)
}

// job begins anew, or where the last checkpoint was written.
func (r *performance) job(parts trainer.Parts, device torch.Device, last *trainer.Stopped) (*trainer.Job, error) {
	o := r.Options()
	at := o.Timeline.Start
	if last != nil {
		at = last.Time
	}
	profile, err := r.Profile()
	if err != nil {
		return nil, err
	}
	// The machine's time is not spent on waiting for processes.
	o.Parallel.Background = true
	if parts.Clock = trainer.Clock(trainer.NewWall(time.Now, at)); profile != nil {
		parts.Clock, o.Steady, o.Parallel.Background = &trainer.Virtual{Profile: profile, Time: at}, true, false
	}
	if r.counter != nil {
		r.live = trainer.NewLive(o.Timeline, parts.Clock)
		parts.Scheduler = r.live
	}
	if last != nil {
		r.log.Info("going on from the last checkpoint", zap.Duration("at", at))
		return trainer.Resume(r.s, last, parts, r.placement(device), o)
	}
	return trainer.New(r.s, parts, o)
}

func (r *performance) placement(device torch.Device) model.Placement {
	return placement(r.s, device, r.Run.Seed)
}

func placement(s *torch.Scope, device torch.Device, seed int64) model.Placement {
	return model.Placement{Device: device, Random: s.NewGenerator(torch.CPU, seed)}
}

// firstNetwork makes a job's network with its first weights, those that are drawn from
// a seed.
func firstNetwork(s *torch.Scope, job *config.Job, data *dataset.Set, device torch.Device, seed int64) (*model.Network, error) {
	n, err := job.Model(data.Shape[:], len(data.Classes))
	if err != nil {
		return nil, err
	}
	if err := job.Suits(n); err != nil { // before an up, which may be hours away
		return nil, withCode(exitConfig, err)
	}
	first := job.Beginning().Weights
	if err := n.Materialize(s, placement(s, device, seed)); err != nil || first == "" {
		return n, err
	}
	set, err := readWeights(first)
	if err != nil {
		return nil, err
	}
	if err := n.Load(set); err != nil {
		return nil, fmt.Errorf("%s: %w", first, err)
	}
	return n, nil
}

// given is what is known of first weights that were read, found out while no clock
// runs; nil where they were drawn.
func given(job *config.Job, n *model.Network, data *dataset.Set) (*trainer.Given, error) {
	b := job.Beginning()
	if b.Weights == "" {
		return nil, nil
	}
	score, err := trainer.Appraise(n, data, job.Options())
	if err != nil {
		return nil, err
	}
	return &trainer.Given{Epochs: b.Epochs, Score: score}, nil
}

// begin makes the network that a new job begins with.
func (r *performance) begin(parts *trainer.Parts, device torch.Device) (err error) {
	if parts.Network, err = firstNetwork(r.s, r.Job, parts.Data, device, r.Run.Seed); err != nil {
		return err
	}
	if parts.Given, err = given(r.Job, parts.Network, parts.Data); err != nil || parts.Given == nil {
		return err
	}
	b, accuracy := r.Beginning(), parts.Given.Score.Accuracy
	r.given = &givenReport{Weights: b.Weights, Epochs: b.Epochs, Start: r.Time.Start, Accuracy: accuracy, Published: b.Accuracy}
	r.log.Info("the first weights are evaluated", zap.Int("epochs", b.Epochs), zap.Float64("validation", rounded(accuracy)), zap.Float64p("published", b.Accuracy))
	return nil
}

// covered is an error where the profile cannot say what the work takes that is known
// before the job begins.
func (r *performance) covered(data *dataset.Set) error {
	profile, err := r.Profile()
	if err != nil || profile == nil {
		return err
	}
	if profile.Closed() && r.Roams() {
		return withCode(exitConfig, fmt.Errorf("the profile %s has no rates, and the decider %s may make networks that were not measured; measure more of them with 'graft profile', or take a profile with rates", profile.Name, r.Adapt.Decider))
	}
	n, err := r.Model(data.Shape[:], len(data.Classes))
	if err != nil {
		return err
	}
	return withCode(exitConfig, profile.Covers(n, r.Options(), r.Adapt.Actions))
}

// open makes the run folder, or opens it and finds the last checkpoint.
func (r *performance) open(data *dataset.Set) (*trainer.Stopped, error) {
	var err error
	if r.resume {
		r.stored, err = results.Open(files.OS{}, r.folder)
	} else {
		r.stored, err = r.create(data)
	}
	if err != nil {
		if errors.Is(err, results.ErrExists) {
			err = withCode(exitUsage, err)
		}
		return nil, err
	}
	if err := r.same(); err != nil {
		return nil, err
	}
	folder, err := trainer.OpenFolder(r.stored)
	if err != nil {
		return nil, err
	}
	r.book = &diary{Folder: folder}
	r.record.open(r.stored)
	if !r.resume {
		return nil, nil
	}
	for _, name := range []string{listenFile, tokenFile} { // of a process that was killed
		_ = os.Remove(r.stored.Path(name))
	}
	return folder.Last()
}

// same checks that a run that goes on is of the job that it was.
func (r *performance) same() error {
	if r.stored.Manifest().ConfigSHA256 == r.Digest() {
		return nil
	}
	what := "a file that it reads is another"
	if was, err := config.ReadJob(files.OS{}, r.stored.Path(resolvedFile), nil); err == nil {
		if list := r.Differences(was); len(list) > 0 {
			what = strings.Join(list, ", ")
		}
	}
	return withCode(exitConfig, fmt.Errorf("resume %s: the job is not the one that began there: %s; give it what it had, or begin another run with --folder", r.folder, what))
}

func (r *performance) create(data *dataset.Set) (*results.Run, error) {
	given := ""
	if r.path != "" {
		text, err := os.ReadFile(r.path)
		if err != nil {
			return nil, err
		}
		given = string(text)
	}
	host, _ := os.Hostname() // without a name the manifest has none
	return results.Create(files.OS{}, r.folder, results.CreateOptions{Force: r.force, Config: given, Resolved: r.Resolved()}, results.Manifest{
		Created: time.Now().UTC(), Graft: thisVersion(), Seed: uint64(r.Run.Seed), Device: r.Run.Device, Profile: r.Time.Profile,
		ConfigSHA256: r.Digest(), DatasetSHA256: data.Digest, Network: r.Network.Name, Host: host, CommandLine: os.Args})
}
