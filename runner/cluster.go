package main

import "github.com/spf13/cobra"

// newClusterCommand makes `graft cluster`. It does not need LibTorch.
func newClusterCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "cluster",
		Short: "Simulate a cluster of GPUs under schedulers",
		Long: `cluster replays the jobs of a trace on a cluster of GPUs, under one or more schedulers, and
reports the outcome of each job. Other commands write the device timeline of a job for graft
train, and learn estimates for schedulers: job durations and future submissions.`,
		Example: `  graft cluster run --trace jobs.csv --vc-file vc_config.csv --scheduler fifo,tiresias
  graft cluster timeline --trace jobs.csv --vc-file vc_config.csv --scheduler fair --job 17
  graft cluster estimate --trace jobs.csv --out estimates.csv`,
	}, newClusterRunCommand(), newClusterApplicationCommand(), newClusterTimelineCommand(), newClusterEstimateCommand(),
		newClusterForecastCommand(), newClusterShapesCommand())
}
