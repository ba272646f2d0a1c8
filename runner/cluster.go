package main

import "github.com/spf13/cobra"

// newClusterCommand makes `graft cluster`. It does not need LibTorch.
func newClusterCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "cluster",
		Short: "Simulate a GPU cluster under different schedulers",
		Long: `cluster simulates how schedulers place the jobs of a trace on a GPU cluster. 'run' replays a trace
under one or more schedulers and reports the outcome of each job. 'timeline' writes the device
changes of one job, as input for 'graft train'. 'estimate' predicts job durations, and 'forecast'
predicts job submissions, as inputs for schedulers. 'curves' fits learning curves to tables, for
jobs whose networks grow.`,
		Example: `  graft cluster run --trace jobs.csv --vc-file vc_config.csv --scheduler fifo,tiresias
  graft cluster timeline --trace jobs.csv --vc-file vc_config.csv --scheduler fair --job 17
  graft cluster estimate --trace jobs.csv --out estimates.csv`,
	}, newClusterRunCommand(), newClusterApplicationCommand(), newClusterTimelineCommand(), newClusterEstimateCommand(),
		newClusterForecastCommand(), newClusterShapesCommand(), newClusterCurvesCommand())
}
