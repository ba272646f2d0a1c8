// Package train runs a job from its configuration: it makes the network and the images, trains until the budget ends,
// and writes a run folder from which a stopped job resumes.
package train

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"graft/config"
	"graft/dataset"
	"graft/internal/failure"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/control"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/team"
)

// Options holds the options of a job that are not in its configuration.
type Options struct {
	Set []string // assignments applied after the file, such as time.budget=30s
	// path of the run folder; empty means run.folder or, if it is empty too, runs/NAME for a file NAME.toml
	Folder string
	// continues the run in the folder, or starts one if there is none; if false, a new run starts
	Resume      bool
	Force       bool            // moves an existing run folder aside; if false, an existing run folder is an error
	Tensorboard bool            // writes TensorBoard event files; if false, the key run.tensorboard applies
	Listen      control.Options // options for the job's HTTP server; an empty address means run.listen
	// Check returns an error if the job that was read is not the expected one. It is called before the job starts, and
	// again before a new run folder is created, when the initial weights have been read. Nil accepts every job.
	Check func(c *config.Job) error
}

func (o *Options) check(c *config.Job) error {
	if o.Check == nil {
		return nil
	}
	return o.Check(c)
}

// Result holds the outcome of a job; `graft train --json` prints it.
type Result struct {
	Folder string `json:"folder"` // path of the run folder
	// evaluation of initial weights from a file; nil if the initial weights are random
	Given   *runs.GivenReport `json:"given,omitempty"`
	Outcome *runs.JobOutcome  `json:"outcome"` // outcome of the job
	Events  []trainer.Note    `json:"events"`  // events in this process; the run folder has all events
	Epochs  []trainer.Row     `json:"epochs"`  // epochs in this process; the run folder has all epochs
}

// Run runs the job of a configuration file to the end of its budget; an empty path means the default job. If ctx is
// cancelled, it saves the job and returns an error that wraps trainer.ErrStopped; Options.Resume continues it. If this
// process is a task of srun and was a follower of another task, the result is nil.
func Run(ctx context.Context, env *app.Env, path string, o Options) (*Result, error) {
	c, err := readJob(env, path, &o)
	if err != nil {
		return nil, err
	}
	address, followed, err := meet(ctx, env, c.Train.Parallel, o.Set)
	if followed || err != nil {
		return nil, err
	}
	app.Warn(env.Log, c)
	if err := c.Run.Limit(); err != nil {
		return nil, err
	}
	if c.Run.Threads > 0 {
		if err := torch.SetThreads(c.Run.Threads); err != nil {
			return nil, err
		}
	}
	var result *Result
	err = torch.With(func(s *torch.Scope) (err error) {
		e := *env
		folder := app.Folder(o.Folder, c.Run.Folder, path)
		if path != "" || len(o.Set) > 0 { // otherwise only the folder identifies the job
			o.Resume = env.Resumes(o.Resume, folder)
		}
		j := &job{Job: c, o: o, env: &e, scope: s, meeting: address, folder: folder, path: path}
		e.Log, j.alone, j.runLog = app.WithRunLog(env.Log)
		defer j.close()
		result, err = j.run(ctx)
		j.logEnd(err)
		if j.record != nil {
			j.record.track.StopOrEnd(errors.Is(err, trainer.ErrStopped), err)
		}
		if errors.Is(err, trainer.ErrStopped) {
			return failure.With(failure.Requeue, fmt.Errorf("%w in %s; rerun the command with option "+
				"\"resume\"", err, j.folder))
		}
		if err != nil {
			if fault := j.discard(); fault != nil { // the error itself must not depend on it
				e.Log.Warn("cannot remove the folder of the failed job; remove it by hand", zap.Error(fault))
			}
		}
		return err
	})
	return result, err
}

// readJob reads the configuration, and reconciles it with the options.
func readJob(env *app.Env, path string, o *Options) (*config.Job, error) {
	c, err := config.ReadJob(env.Files, path, o.Set)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	if err := o.check(c); err != nil {
		return nil, err
	}
	if o.Listen.Address != "" {
		c.Run.Listen = o.Listen.Address
		if err := c.Run.Validate(); err != nil {
			return nil, failure.With(failure.Usage, err)
		}
	}
	o.Listen.Address = c.Run.Listen
	c.Run.Tensorboard = c.Run.Tensorboard || o.Tensorboard
	return c, nil
}

// job is a job made from its configuration.
type job struct {
	*config.Job
	o        Options
	env      *app.Env    // its log also goes to the run folder
	alone    *zap.Logger // writes only into the run folder
	runLog   *app.RunLog
	scope    *torch.Scope
	folder   string
	path     string            // path of the configuration; empty if there is none
	given    *runs.GivenReport // nil if the initial weights are drawn
	record   *recorder
	stored   *results.Run
	images   *dataset.Set
	was      *config.Job     // job of the checkpoint, if this job differs from it; nil for the same
	changed  bool            // the run folder needs the job's new configuration
	accepted []string        // accepted differences between the two
	server   *control.Server // nil without an address
	live     *trainer.Live   // nil without an address
	energy   *energy         // nil measures nothing
	network  *team.Network   // joined by followers on other machines; nil for none
	meeting  string          // address for followers; empty for none
	program  *Attached       // program that trains the network; nil for none
}

func (j *job) close() {
	j.server.Close()
	j.program.Close()
	if j.network != nil {
		_ = j.network.Close()
	}
	if err := j.energy.close(); err != nil {
		j.env.Log.Warn("could not stop the energy measurement", zap.Error(err))
	}
	if j.stored != nil {
		_ = j.stored.Close() // the outcome was written after a sync
	}
}

// discard removes the folder of a new job that failed before there is anything to resume or to report, so that the same
// command can start it again.
func (j *job) discard() error {
	if j.o.Resume || j.stored == nil {
		return nil
	}
	if j.record != nil && len(j.record.rows) > 0 {
		return nil
	}
	if last, err := j.stored.LoadCheckpoint(); !errors.Is(err, results.ErrNoCheckpoint) {
		if err == nil {
			_ = last.Close() // only checked for existence
		}
		return nil
	}
	j.env.Log.Debug("trained no steps; deleting the run folder", zap.String("folder", j.folder))
	j.server.Close()
	return j.stored.Discard()
}

// run makes the job, or restores it from its last checkpoint, and runs it.
func (j *job) run(ctx context.Context) (*Result, error) {
	var err error
	if j.server, err = control.Open(j.env, j.o.Listen); err != nil { // before any other work
		return nil, err
	}
	if err := TryProgram(ctx, j.Job); err != nil { // its first decision may be hours away
		return nil, err
	}
	made, err := j.prepare(ctx)
	if err != nil {
		return nil, err
	}
	outcome, err := j.perform(ctx, made)
	if err != nil {
		return nil, err
	}
	j.program.end()
	if err := app.WriteTrained(j.env.Files, j.folder,
		app.Images{Mean: j.images.Mean, Deviation: j.images.Deviation, Classes: j.images.Classes}); err != nil {
		return nil, err
	}
	o := &runs.JobOutcome{Outcome: outcome}
	o.Saves, o.Saving = made.Saving()
	o.MachineSpeed, o.PeakMemory = made.Speed(), app.PeakMemory(j.env.Files)
	if o.Measured, err = j.measured(); err != nil {
		return nil, err
	}
	if err := errors.Join(j.record.check(), j.stored.WriteOutcome(o)); err != nil {
		return nil, err
	}
	return &Result{j.folder, j.given, o, j.record.notes, j.record.rows}, nil
}

// logEnd writes an error only into the run folder's log; the caller prints it.
func (j *job) logEnd(err error) {
	switch {
	case errors.Is(err, trainer.ErrStopped):
		j.alone.Info("stopped job", zap.Error(err))
	case err != nil:
		j.alone.Error("job failed", zap.Error(err))
	}
}

// perform runs a job and shows its progress.
func (j *job) perform(ctx context.Context, made *trainer.Job) (*trainer.Outcome, error) {
	rows, notes, err := trainer.ReadHistory(j.env.Files, j.record.Run.Path(""))
	if err != nil {
		return nil, err
	}
	if err := j.openCurves(made, rows); err != nil {
		return nil, err
	}
	j.record.monitor = control.NewMonitor(made.Network.Name(), made.Progress(), rows, notes)
	j.record.track = j.env.Track(j.folder, document.UnitSeconds)
	j.record.progress = newProgressLog(j.env.Log, j.env.Now, j.env.Show != nil)
	if err := j.server.Serve(j.folder, j.record.monitor, j.live, j.energy.gpus); err != nil {
		return nil, err
	}
	if j.env.Show != nil {
		defer j.env.Show(sceneOf(j.record.monitor, j.energy.gpus))()
	}
	j.energy.begin(made.Epoch)
	stop := j.warnOfPauses(ctx)
	outcome, err := made.Run(ctx)
	stop()
	if err == nil {
		for _, e := range made.Missed() {
			j.env.Log.Warn("the job ended before a planned change of its devices",
				zap.String("change", string(e.Change)), zap.Duration("at", e.At), zap.Duration("ended", outcome.Used))
		}
	}
	return outcome, err
}

// prepare makes all parts of a job.
func (j *job) prepare(ctx context.Context) (*trainer.Job, error) {
	device, err := torch.ParseDevice(j.Run.Device)
	if err != nil {
		return nil, err
	}
	parts := trainer.Parts{Now: j.env.Now, Files: j.env.Files}
	if j.Run.Threads == 0 && device == torch.CPU {
		if parts.Threads, err = trainer.NewThreadChooser(j.env.Now); err != nil {
			return nil, err
		}
	}
	if parts.Decider, err = j.Decider(); err != nil {
		return nil, err
	}
	if j.Program.On() {
		return j.prepareProgram(ctx, parts)
	}
	if err := j.loadData(device); err != nil {
		return nil, err
	}
	parts.Data = j.images
	if parts.Starter, err = j.starter(device); err != nil {
		return nil, err
	}
	if !j.o.Resume { // before the folder exists, which a fault would leave behind
		if err := j.covered(parts.Data); err != nil {
			return nil, err
		}
		if err := j.begin(&parts, device); err != nil {
			return nil, err
		}
	}
	last, err := j.open(parts.Data, device)
	if err != nil {
		return nil, err
	}
	if parts.Network == nil && last == nil { // stopped before its first checkpoint
		if err := j.begin(&parts, device); err != nil {
			return nil, err
		}
	}
	if j.was != nil { // later actions may need other costs
		if err := j.covered(parts.Data); err != nil {
			return nil, err
		}
	}
	parts.Recorder, parts.Watch = j.record, j.record.watch
	made, err := j.make(parts, device, last)
	if err != nil {
		return nil, err
	}
	return made, j.adopt(last)
}

// loadData loads the dataset onto a device.
func (j *job) loadData(device torch.Device) (err error) {
	if j.images, err = dataset.Load(j.scope, device, j.env.Files, j.Data); err != nil {
		return j.Elsewhere("data.path", err)
	}
	data, loaded := j.images, "loaded images onto the device"
	if data.Tokens() {
		loaded = "loaded text onto the device as windows of tokens"
	}
	if data.Cut > 0 {
		j.env.Log.Warn("truncated text longer than data.context", zap.Int("texts", data.Cut))
	}
	j.env.Log.Info(loaded, zap.String("dataset", data.Name), zap.Int("training", data.Train.Count),
		zap.Int("validation", data.Validation.Count), zap.Int("test", data.Test.Count))
	return nil
}

// make makes a new job, or restores it from the last checkpoint.
func (j *job) make(parts trainer.Parts, device torch.Device, last *trainer.SavedJob) (*trainer.Job, error) {
	o := j.Options()
	at := o.Timeline.Start
	if last != nil {
		at = last.Time
	}
	profile, err := j.Profile()
	if err != nil {
		return nil, err
	}
	// Do not spend the machine's time on waiting for processes.
	o.Parallel.Background = true
	if parts.Clock = clock.Clock(clock.NewWall(j.env.Now, at)); profile != nil {
		parts.Clock, o.Steady, o.Parallel.Background = &clock.Virtual{Profile: profile, Time: at}, true, false
	}
	if j.was != nil {
		was := j.was.Options()
		was.Steady = o.Steady
		parts.Was = &was
	}
	if j.server != nil {
		j.live = trainer.NewLive(o.Timeline, parts.Clock)
		parts.Scheduler = j.live
	}
	if last != nil {
		j.env.Log.Info("continuing from the last checkpoint", zap.Duration("at", at))
		return trainer.Resume(j.scope, last, parts, placement(j.scope, device, j.Run.Seed), o)
	}
	return trainer.New(j.scope, parts, o)
}
