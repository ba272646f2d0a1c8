package main

import "github.com/spf13/cobra"

// newClusterCommand makes `graft cluster`. It does not need LibTorch.
func newClusterCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "cluster",
		Short: "Simulate a GPU cluster under different schedulers",
		Long: `cluster simulates GPU clusters. 'run' replays the jobs of a trace under one or more schedulers and
reports the outcome of each job. 'timeline' writes a job's device timeline for 'graft train';
'estimate' and 'forecast' predict job durations and future submissions for schedulers.`,
		Example: `  graft cluster run --trace jobs.csv --vc-file vc_config.csv --scheduler fifo,tiresias
  graft cluster timeline --trace jobs.csv --vc-file vc_config.csv --scheduler fair --job 17
  graft cluster estimate --trace jobs.csv --out estimates.csv`,
	}, newClusterRunCommand(), newClusterApplicationCommand(), newClusterTimelineCommand(), newClusterEstimateCommand(),
		newClusterForecastCommand(), newClusterShapesCommand())
}
