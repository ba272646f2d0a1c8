package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"graft/config"
	"graft/dataset"
	"graft/files"
	"graft/torch"
	"graft/trainer"
)

// followOptions are the flags of `graft follow`.
type followOptions struct {
	set    []string // assignments after the file
	device string   // of this process
}

// newFollowCommand is `graft follow`, which people have no use for.
func newFollowCommand() *cobra.Command {
	var o followOptions
	command := &cobra.Command{
		Use:    "follow CONFIG",
		Hidden: true,
		Short:  "Train with the process that started this one",
		Long: `follow is what 'graft train' starts for each device but the first, where a job trains
on several. It does what it is told on its standard input, until that ends.`,
		Example: "  graft follow runs/job/config.resolved.toml --device cuda:1 3> >(cat)",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runFollow(command.Context(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a key; may be given several times")
	flags.StringVar(&o.device, "device", "", "where this process trains")
	return command
}

func runFollow(ctx context.Context, path string, o followOptions) error {
	var stat syscall.Stat_t
	if err := syscall.Fstat(trainer.AnswerFile, &stat); err != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return usageErrorf("follow is started by 'graft train', which opens file %d as a pipe for its answers", trainer.AnswerFile)
	}
	answers := os.NewFile(trainer.AnswerFile, "answers")
	defer answers.Close()
	// Whoever stops the job stops its leader, which saves it and lets this one go.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1)
	return torch.With(func(s *torch.Scope) error {
		return trainer.Follow(func() (*dataset.Set, error) {
			job, err := config.ReadJob(files.OS{}, path, o.set)
			if err != nil {
				return nil, err
			}
			device, err := torch.ParseDevice(o.device)
			if err != nil {
				return nil, err
			}
			loggerFrom(ctx).Info("follows the job's leader")
			return dataset.Load(s, device, files.OS{}, job.Data)
		}, os.Stdin, answers)
	})
}

// logsName is the folder in a run folder where processes leave what they print.
const logsName = "logs"

// scratchFolder makes a folder in which processes meet, and removes it.
func scratchFolder() (string, func() error, error) {
	folder, err := os.MkdirTemp("", "graft-")
	return folder, func() error { return os.RemoveAll(folder) }, err
}

// starter starts this program once more for each device but the first.
func (r *performance) starter(first torch.Device) (trainer.Starter, error) {
	if !r.Train.Parallel.On {
		return nil, nil
	}
	found, err := torch.Describe()
	if err == nil {
		err = found.Together()
	}
	if err != nil {
		return nil, err
	}
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start it for other devices: %w", err)
	}
	args := func(device int) []string {
		at := first
		at.Index += device
		args := []string{"follow", r.stored.Path("config.resolved.toml"), "--device", at.String()}
		for _, set := range r.set {
			args = append(args, "--set", set)
		}
		return args
	}
	return trainer.Program{Path: path, Args: args, Log: r.processLog}, nil
}

// processLog is where the process of a device prints to, after what one before it
// printed.
func (r *performance) processLog(device int) (*os.File, error) {
	folder := r.stored.Path(logsName)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(folder, fmt.Sprintf("process-%d.log", device)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
}

// isWarning says whether an event is one that people should look at.
func isWarning(n trainer.Note) bool { return strings.HasPrefix(n.Event, "peer") }
