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
		Long: `work is started by 'graft simulate', 'graft compare' and 'graft train --seeds', on this machine or
on cluster nodes. It takes work that no other worker has, until all work is done. GRAFT_WORKER is
its number, GRAFT_THREADS its number of processors, and GRAFT_DEVICE its training device.`,
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
	command.Flags().IntVar(&threads, "threads", 0, "threads of LibTorch; 0 uses run.threads or GRAFT_THREADS")
	command.Flags().IntVar(&measure, "measure", 0,
		"do no work; measure throughput and memory while N workers run")
	return command
}
