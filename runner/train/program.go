package train

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"graft/config"
	"graft/dataset"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/report/runs"
	"graft/runner/app"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/program"
)

// Attached is a running program that trains the network of a job.
type Attached struct {
	trainer.Program
	env     *app.Env
	options program.Options
	seed    int64
	folder  string // for files of tensors
}

// Attach starts the program of a job for a number of devices, and reads the network from the program. The caller closes
// the program.
func Attach(ctx context.Context, env *app.Env, c *config.Job, seed int64, devices int) (*Attached, error) {
	a := &Attached{env: env, options: c.Program, seed: seed}
	a.Validation, a.Pushed = c.Program.ValidationExamples, a.pushed
	if c.Program.Restarts() {
		a.Restart = a.restart
	}
	if err := a.open(ctx, devices); err != nil {
		return nil, startFailure(ctx, err)
	}
	return a, nil
}

// open starts the program with a new folder.
func (a *Attached) open(ctx context.Context, devices int) (err error) {
	if a.folder, err = a.env.Files.MkdirTemp("", "graft-program-"); err != nil {
		return err
	}
	printed := a.env.Log.Named("program")
	a.Session, err = program.Open(ctx, a.options, program.Start{Files: a.env.Files, Folder: a.folder, Seed: a.seed,
		Devices: devices, PythonPath: os.Getenv("PYTHONPATH"), Print: func(line string) { printed.Info(line) }})
	if err != nil {
		a.Close()
	}
	return err
}

// restart ends the program and starts it again for another number of devices. A stop of the job waits for the start.
func (a *Attached) restart(devices int) error {
	a.env.Log.Info("restarting the program, because the number of devices changed", zap.Int("devices", devices))
	a.Close()
	if err := a.open(context.Background(), devices); err != nil {
		return fmt.Errorf("restart the program for %s: %w; the checkpoints are kept, and option \"resume\" "+
			"continues from the last one", words.Plural(devices, "device"), err)
	}
	return nil
}

// startFailure describes why a program has not reached its first epoch.
func startFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return failure.With(failure.Requeue, errors.New("stopped while the program started; rerun the command"))
	}
	return failure.With(failure.Configuration, fmt.Errorf("program.command: %w", err))
}

// Close ends the program, if it still runs, and removes its folder.
func (a *Attached) Close() {
	if a == nil || a.folder == "" {
		return
	}
	a.Session.Close()
	if err := files.RemoveAll(a.env.Files, a.folder); err != nil {
		a.env.Log.Warn("cannot remove the temporary folder of the training program", zap.Error(err))
	}
	a.Session, a.folder = nil, ""
}

// end lets the program leave its loop. Its results are complete, so a fault is only a warning.
func (a *Attached) end() {
	if a == nil {
		return
	}
	if err := a.Session.End(); err != nil {
		a.env.Log.Warn("the program failed after the end of training", zap.Error(err))
	}
}

// pushed reports how the program took over a changed network.
func (a *Attached) pushed(p program.Pushed) {
	code := "generated code"
	if p.Own {
		code = "its own code"
	}
	a.env.Log.Info("the program switched to the changed network", zap.String("forward", code),
		zap.Float64p("outputs_moved_by", p.Moved))
}

// Introduce runs the program of a job until its first epoch starts, and then ends it. From the program it learns the
// network, the optimizer and the size of an epoch. If the decider is a script, Introduce returns an error if an action
// of the script does not fit the network. It does nothing for a job that graft trains itself.
func Introduce(ctx context.Context, env *app.Env, c *config.Job) error {
	if !c.Program.On() {
		return nil
	}
	a, err := Start(ctx, env, c)
	a.Close()
	return err
}

// Start runs the program of a job until its first epoch starts, and passes its network, its optimizer and the size of
// an epoch to the job. The caller closes the program, even after an error.
func Start(ctx context.Context, env *app.Env, c *config.Job) (*Attached, error) {
	a, err := Attach(ctx, env, c, c.Run.Seed, c.Options().Timeline.First())
	if err != nil {
		return nil, err
	}
	if a.Facts, err = a.Session.Fresh(ctx); err != nil {
		return a, startFailure(ctx, err)
	}
	return a, a.introduce(c)
}

// introduce passes what the program brings to its job.
func (a *Attached) introduce(c *config.Job) error {
	n, err := a.Session.Sketch()
	if err != nil {
		return err
	}
	c.SetNetwork(n, a.Session.Begun.Optimizer, a.Facts)
	return failure.With(failure.Configuration, c.Rehearse())
}

// prepareProgram makes a job whose program trains the network.
func (j *job) prepareProgram(ctx context.Context, parts trainer.Parts) (_ *trainer.Job, err error) {
	j.images = &dataset.Set{Name: "program"}
	var last *trainer.SavedJob
	if j.o.Resume {
		if last, err = j.open(j.images, torch.CPU); err != nil {
			return nil, err
		}
	}
	devices := j.Options().Timeline.First()
	if last != nil {
		if devices, err = last.Devices(); err != nil {
			return nil, err
		}
	}
	if j.program, err = Attach(ctx, j.env, j.Job, j.Run.Seed, devices); err != nil {
		return nil, err
	}
	parts.Program = &j.program.Program
	j.greet()
	if parts.Network, err = parts.Program.Begin(ctx, j.scope, last); err != nil {
		return nil, err
	}
	if err := j.program.introduce(j.Job); err != nil {
		return nil, err
	}
	if !j.o.Resume {
		if _, err = j.open(j.images, torch.CPU); err != nil {
			return nil, err
		}
	}
	if err := j.keepInitial(); err != nil {
		return nil, err
	}
	parts.Recorder, parts.Watch = j.record, j.record.watch
	made, err := j.make(parts, torch.CPU, last)
	if err != nil {
		return nil, err
	}
	return made, j.adopt(last)
}

// keepInitial writes the program's network into the run folder, for figures.
func (j *job) keepInitial() error {
	n, err := j.program.Session.Sketch()
	if err != nil {
		return err
	}
	return config.WriteNetwork(j.env.Files, j.stored.Path(runs.InitialFile), n)
}

// greet logs what the program brings.
func (j *job) greet() {
	begun := j.program.Session.Begun
	j.env.Log.Info("started the program", zap.String("network", begun.Network.Graph.Name),
		zap.Int("parameters", begun.Network.Graph.Parameters()), zap.String("optimizer", begun.Kind),
		zap.String("pytorch", begun.Torch))
	if !begun.Moments {
		j.env.Log.Warn("surgery resets the optimizer's state of the parameters that it changes; Adam, AdamW, NAdam, "+
			"RAdam and SGD carry it",
			zap.String("optimizer", begun.Kind))
	}
}
