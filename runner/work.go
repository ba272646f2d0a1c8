package main

import (
	"os"

	"github.com/spf13/cobra"

	"graft/work/simulate"
)

// newWorkCommand is `graft work`, which people have no use for.
func newWorkCommand() *cobra.Command {
	threads := 0
	command := &cobra.Command{
		Use:    "work FOLDER",
		Hidden: true,
		Short:  "Run sequences of a simulation as one of its workers",
		Long: `work is the process that 'graft simulate' starts, here or on the nodes of a cluster. It takes
work that no other worker runs until nothing is left. GRAFT_WORKER is its number, GRAFT_THREADS
its number of processors, and GRAFT_DEVICE the device that it trains on.`,
		Example: "  graft work runs/late",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := heedRequeue(command.Context())
			defer stop()
			return simulate.Work(ctx, environment(ctx), args[0], simulate.WorkerOptions{Threads: threads, Device: os.Getenv("GRAFT_DEVICE"), Name: os.Getenv("GRAFT_WORKER"), Given: os.Getenv("GRAFT_THREADS")})
		},
	}
	command.Flags().IntVar(&threads, "threads", 0, "threads of LibTorch; 0 is run.threads or GRAFT_THREADS")
	return command
}
