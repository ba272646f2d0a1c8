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
	"graft/model"
	"graft/runner/app"
	"graft/torch"
	"graft/torch/weights"
	"graft/trainer"
	"graft/trainer/program"
)

// attached is the program of a job, with its network.
type attached struct {
	session *program.Session
	folder  string // for files of tensors
	network *model.Network
}

// attach starts the program of a job and reads its network.
func attach(ctx context.Context, env *app.Env, c *config.Job) (*attached, error) {
	folder, err := env.Files.MkdirTemp("", "graft-program-")
	if err != nil {
		return nil, err
	}
	a := &attached{folder: folder}
	printed := env.Log.Named("program")
	a.session, err = program.Open(ctx, c.Program, program.Start{Files: env.Files, Folder: folder, Seed: c.Run.Seed,
		PythonPath: os.Getenv("PYTHONPATH"), Print: func(line string) { printed.Info(line) }})
	if err == nil {
		a.network, err = model.FromGraph(a.session.Begun.Network.Graph)
	}
	if err != nil && ctx.Err() != nil {
		a.close(env)
		return nil, failure.With(failure.Requeue, errors.New("stopped while the program started; rerun the command"))
	}
	if err != nil {
		a.close(env)
		return nil, failure.With(failure.Configuration, fmt.Errorf("program.command: %w", err))
	}
	return a, nil
}

// close ends the program, if it still runs, and removes its folder.
func (a *attached) close(env *app.Env) {
	if a == nil {
		return
	}
	a.session.Close()
	if err := files.RemoveAll(env.Files, a.folder); err != nil {
		env.Log.Warn("could not remove the folder of the program", zap.Error(err))
	}
}

// end lets the program leave its loop. Its results are complete, so a fault is only a warning.
func (a *attached) end(env *app.Env) {
	if a == nil {
		return
	}
	if err := a.session.End(); err != nil {
		env.Log.Warn("the program failed after the end of training", zap.Error(err))
	}
}

// weighed gives the network of the program its weights.
func (a *attached) weighed(s *torch.Scope) (*model.Network, error) {
	imported := a.session.Begun.Network
	place := model.Placement{Random: s.NewGenerator(torch.CPU, 0)}
	for _, t := range imported.Weights.Tensors {
		if t.DType == weights.Float64 {
			place.DType = torch.Float64
		}
	}
	if err := a.network.Materialize(s, place); err != nil {
		return nil, err
	}
	return a.network, a.network.Load(imported.Weights)
}

// prepareProgram makes a job whose program trains the network.
func (j *job) prepareProgram(ctx context.Context, parts trainer.Parts) (_ *trainer.Job, err error) {
	if j.program, err = attach(ctx, j.env, j.Job); err != nil {
		return nil, err
	}
	begun := j.program.session.Begun
	j.env.Log.Info("started the program", zap.String("network", j.program.network.Name()),
		zap.Int("parameters", j.program.network.Parameters()), zap.String("optimizer", begun.Kind),
		zap.String("pytorch", begun.Torch))
	if !begun.Moments {
		j.env.Log.Warn("surgery resets the state of this optimizer; Adam, AdamW and SGD keep it",
			zap.String("optimizer", begun.Kind))
	}
	parts.Program = &trainer.Program{Session: j.program.session, Validation: j.Job.Program.ValidationExamples,
		Pushed: j.pushed}
	j.images = &dataset.Set{Name: "program"}
	var last *trainer.SavedJob
	if j.o.Resume {
		if last, err = j.open(j.images, torch.CPU); err != nil {
			return nil, err
		}
	}
	if last == nil {
		parts.Program.Facts, err = j.program.session.Fresh(ctx)
	} else {
		parts.Program.Facts, err = last.SavedFacts()
	}
	if err != nil {
		return nil, err
	}
	j.SetNetwork(j.program.network, begun.Optimizer, parts.Program.Facts)
	if last == nil {
		if parts.Network, err = j.program.weighed(j.scope); err != nil {
			return nil, err
		}
		if err := j.Rehearse(); err != nil {
			return nil, failure.With(failure.Configuration, err)
		}
	}
	if !j.o.Resume {
		if _, err = j.open(j.images, torch.CPU); err != nil {
			return nil, err
		}
	}
	parts.Recorder, parts.Watch = j.record, j.record.watch
	made, err := j.make(parts, torch.CPU, last)
	if err != nil {
		return nil, err
	}
	return made, j.adopt()
}

// pushed logs how the program runs a changed network.
func (j *job) pushed(p program.Pushed) {
	code := "generated code"
	if p.Own {
		code = "its own code"
	}
	j.env.Log.Info("the program now runs the changed network", zap.String("forward", code),
		zap.Float64p("outputs_moved_by", p.Moved))
}
