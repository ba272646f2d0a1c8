package main

import "github.com/spf13/cobra"

// newClusterCommand is `graft cluster`. It needs no LibTorch.
func newClusterCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "cluster",
		Short: "Simulate a cluster of GPUs under schedulers",
		Long: `cluster replays the jobs of a trace on a cluster of GPUs, under one scheduler or many,
and says what came of each job. Jobs of graft get their changes of devices from it. What
schedulers should know beforehand, how long jobs run and how many will come, is learned.`,
		Example: `  graft cluster run --trace jobs.csv --nodes vc_config.csv --scheduler fifo,tiresias
  graft cluster timeline --trace jobs.csv --nodes vc_config.csv --scheduler fair --job 17
  graft cluster estimate --trace jobs.csv --out estimates.csv`,
		Args: cobra.NoArgs, // so that a misspelt command under it is an error
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newClusterRunCommand(), newClusterTimelineCommand(), newClusterEstimateCommand(), newClusterForecastCommand(), newClusterShapesCommand())
	return command
}
