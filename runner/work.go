package main

import (
	"graft/runner/workers"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"graft/report/runs"
	"graft/runner/simulate"
	"graft/runner/sweep"
)

// newWorkCommand makes `graft work`, an internal command.
func newWorkCommand() *cobra.Command {
	threads, measure := 0, 0
	command := &cobra.Command{
		Use:    "work FOLDER",
		Hidden: true,
		Short:  "Run sequences of a simulation, or trials of a sweep, as a worker",
		Long: `work runs tasks of 'graft simulate', 'graft compare' or 'graft train --seeds' one after the other,
on this machine or on a cluster node, until all tasks are done. No two workers run the same task.
Environment variables set the worker's number (GRAFT_WORKER), number of processors (GRAFT_THREADS)
and training device (GRAFT_DEVICE).`,
		Example: "  graft work runs/late",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := heedRequeue(command.Context())
			defer stop()
			o, env := workers.Options{Threads: threads, Device: os.Getenv("GRAFT_DEVICE"),
				Name: os.Getenv("GRAFT_WORKER"), Given: os.Getenv("GRAFT_THREADS"),
				MemoryShare: os.Getenv(workers.MemoryVariable), Measure: measure, Folder: os.Getenv("GRAFT_FLEET")},
				environment(ctx)
			if _, err := env.Files.Stat(filepath.Join(args[0], runs.SweepFile)); err == nil {
				return sweep.Work(ctx, env, args[0], o)
			}
			return simulate.Work(ctx, env, args[0], o)
		},
	}
	command.Flags().IntVar(&threads, "threads", 0,
		"number of LibTorch threads; 0 means the value of run.threads or GRAFT_THREADS")
	command.Flags().IntVar(&measure, "measure", 0,
		"only measure throughput and memory while this number of workers runs in parallel; 0 runs tasks instead")
	return command
}
