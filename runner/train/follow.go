package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"graft/config"
	"graft/dataset"
	"graft/report/runs"
	"graft/runner/app"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/team"
)

// FollowOptions holds the options of a follower that are not in the configuration.
type FollowOptions struct {
	Set    []string // assignments applied after the file
	Device string   // device of this process, such as cuda:1
}

// Follow trains as a follower of the process that leads the job. It reads orders until the stream of orders ends, and
// writes answers.
func Follow(ctx context.Context, env *app.Env, path string, o FollowOptions, orders io.Reader,
	answers io.Writer) error {
	c, err := config.ReadJob(env.Files, path, o.Set)
	if err != nil {
		return err
	}
	if err := c.Run.Limit(); err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		env.Log.Info("joined the job; waiting for work from the leader")
		return trainer.Follow(ctx, imagesOf(env, s, c, o.Device), "", orders, answers)
	})
}

// imagesOf loads the images of a follower onto its device.
func imagesOf(env *app.Env, s *torch.Scope, c *config.Job, device string) func() (*dataset.Set, error) {
	return func() (*dataset.Set, error) {
		d, err := torch.ParseDevice(device)
		if err != nil {
			return nil, err
		}
		return dataset.Load(s, d, env.Files, c.Data)
	}
}

// starter starts another process of this program for each device after the first.
func (j *job) starter(first torch.Device) (team.Starter, error) {
	if !j.Train.Parallel.On {
		return nil, nil
	}
	found, err := torch.Describe()
	if err == nil {
		err = found.Together()
	}
	if err != nil {
		return nil, err
	}
	if j.Train.Parallel.Listen != "" {
		return j.listener()
	}
	if j.env.Program == "" {
		return nil, errors.New("start processes on the other devices: the path of this program is unknown; " +
			"set parallel.on = false")
	}
	args := func(device int) []string {
		at := first
		at.Index += device
		args := []string{"follow", j.stored.Path("config.resolved.toml"), "--device", at.String()}
		for _, set := range j.o.Set {
			args = append(args, "--set", set)
		}
		return args
	}
	return team.Program{Path: j.env.Program, Args: args, Log: j.processLog}, nil
}

// processLog opens the log of the process of a device, and appends to an earlier one.
func (j *job) processLog(device int) (*os.File, error) {
	folder := j.stored.Path(runs.LogsFolder)
	if err := j.env.Files.MkdirAll(folder); err != nil {
		return nil, err
	}
	file, err := j.env.Files.Append(filepath.Join(folder, fmt.Sprintf("process-%d.log", device)))
	if err != nil {
		return nil, err
	}
	log, ok := file.(*os.File)
	if !ok {
		return nil, errors.Join(errors.New("open the log of a process: expected a regular file on disk"),
			file.Close())
	}
	return log, nil
}
