package main

import "github.com/spf13/cobra"

// newClusterCommand makes `graft cluster`. It does not need LibTorch.
func newClusterCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "cluster",
		Short: "Simulate a cluster of GPUs under schedulers",
		Long: `cluster replays the jobs of a trace on a cluster of GPUs, under one scheduler or many,
and reports the outcome of each job. It also writes timelines of devices for jobs of graft,
and learns what schedulers can know beforehand: how long jobs run and how many will be submitted.`,
		Example: `  graft cluster run --trace jobs.csv --nodes vc_config.csv --scheduler fifo,tiresias
  graft cluster timeline --trace jobs.csv --nodes vc_config.csv --scheduler fair --job 17
  graft cluster estimate --trace jobs.csv --out estimates.csv`,
	}, newClusterRunCommand(), newClusterApplicationCommand(), newClusterTimelineCommand(), newClusterEstimateCommand(),
		newClusterForecastCommand(), newClusterShapesCommand())
}
