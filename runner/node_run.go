package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/internal/words"
	"graft/report"
	"graft/report/runs"
	"graft/runner/node"
)

// nodeRunOptions are the flags of `graft node run`.
type nodeRunOptions struct {
	nodeOptions                   // common flags of a machine's tasks
	watch       node.WatchOptions // HTTP server
	dryRun      bool              // start nothing
}

func newNodeRunCommand() *cobra.Command {
	var o nodeRunOptions
	command := &cobra.Command{
		Use:   "run CONFIG",
		Short: "Run tasks on this machine's GPUs, or on its CPU slots",
		Long: `run starts the tasks that CONFIG lists in its [[task]] tables. Each task is a process; run sets
CUDA_VISIBLE_DEVICES to the GPUs of the task. On a machine without GPUs, tasks run on CPU slots.
Commands are not passed to a shell. --scheduler selects the scheduler that places the tasks; the
default is the first entry of schedule.schedulers. All schedulers of 'graft node simulate' are
available, including learned ones. Several tasks share a GPU if they fit into its memory.

Time-sharing schedulers pause tasks with SIGSTOP, or with SIGTERM if machine.stop = "checkpoint";
tasks with checkpoint = true then save their work and are restarted later. Each attempt of a task
has a log file. The task's key "retries" limits the restarts after failures. If the last attempt
fails, all dependent tasks are skipped, and the exit code is 3.

The run folder has a journal, from which --resume continues after a stop or a kill: completed
tasks are kept, and running tasks are killed and restarted. On SIGTERM or the first SIGINT, run
ends all tasks and exits with code 75. No process of a task outlives the command.

A task's energy is the energy that its GPU used while the task ran. It is read from the driver's
energy counter or, without a counter, computed from sampled power. The energy of tasks that shared
a GPU is unknown. CPU energy comes from RAPL if it is readable.

--listen serves the state of the run: GET /status returns the tasks by state and the last reading
of each device; GET /metrics returns the same data for Prometheus, with the metric names of
NVIDIA's DCGM exporter. While the command runs, the file "listen" in the run folder contains the
server's address.`,
		Example: `  graft node run tasks.toml --dry-run
  graft node run tasks.toml --scheduler backfill
  graft node run tasks.toml --resume
  graft node run tasks.toml --listen 127.0.0.1:0`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runNodeRun(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	o.add(command)
	command.Flags().StringSliceVar(&o.schedulers, "scheduler", nil,
		"scheduler, by name or run folder (default: the first scheduler in CONFIG; without one, backfill, "+
			"or fcfs if a task has neither duration nor estimate)")
	command.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the planned placement without starting tasks")
	command.Flags().StringVar(&o.watch.Address, "listen", "",
		"HTTP address for /status and /metrics, such as 127.0.0.1:0; if empty, no server is started")
	command.Flags().BoolVar(&o.watch.Anywhere, "listen-anywhere", false,
		"allow a --listen address that other machines can reach; they can then read task names")
	return command
}

func runNodeRun(ctx context.Context, w io.Writer, path string, o nodeRunOptions) error {
	env := environment(ctx)
	c, err := o.read(env, path)
	if err != nil {
		return err
	}
	if o.dryRun {
		p, err := node.Plan(ctx, env, c)
		return show(w, o.json, p, err, func(w io.Writer, p *runs.NodePlan) error { return report.PrintNodePlan(p, w) })
	}
	ctx, stop := heedRequeue(ctx)
	defer stop()
	outcome, err := node.Run(ctx, env, c, path, node.RunOptions{FolderOptions: o.FolderOptions, Watch: o.watch})
	if err := show(w, o.json, outcome, err,
		func(w io.Writer, r *runs.NodeRunOutcome) error { return report.PrintNodeRun(r, w) }); err != nil {
		return err
	}
	if left := outcome.Tasks - outcome.Completed; left > 0 {
		return failure.With(failure.Partial, fmt.Errorf(
			"%s failed or were skipped; see the table for the causes and %s for the logs",
			words.Plural(left, "task"), outcome.Folder))
	}
	return nil
}

// newNodeGuardCommand makes `graft node guard`, an internal command.
func newNodeGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "guard EXECUTOR",
		Hidden: true,
		Short:  "Kill the tasks of an executor that was killed",
		Long: `guard is a helper process that 'graft node run', the executor, starts. An executor that exits
normally first sends guard a message on guard's standard input. If the executor ends without this
message, guard kills all processes of the executor's tasks.`,
		Example: "  graft node guard 4711-815",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return node.Guard(environment(command.Context()), args[0], command.InOrStdin())
		},
	}
}
