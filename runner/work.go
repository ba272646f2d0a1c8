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
		Short:  "Run sequences of a simulation, beside other workers",
		Long: `work is what 'graft simulate' starts, here or on the nodes of a cluster: it takes what
nobody else runs, until nothing is left. GRAFT_WORKER is its number, GRAFT_THREADS how
many processors it has, and GRAFT_DEVICE where it trains.`,
		Example: "  graft work runs/late",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := heedRequeue(command.Context())
			defer stop()
			return simulate.Work(ctx, environment(ctx), args[0], simulate.WorkerOptions{Threads: threads, Device: os.Getenv("GRAFT_DEVICE"), Name: os.Getenv("GRAFT_WORKER"), Given: os.Getenv("GRAFT_THREADS")})
		},
	}
	command.Flags().IntVar(&threads, "threads", 0, "how many LibTorch works with; 0 is run.threads or GRAFT_THREADS")
	return command
}
