package main

import (
	"github.com/spf13/cobra"

	"graft/cluster"
	"graft/results/runs"
)

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

// report is what is known before anything is simulated.
func (r *replay) report() *runs.ClusterOutcome {
	c := r.Cluster.Cluster
	report := &runs.ClusterOutcome{Trace: c.Trace, Format: r.format, Jobs: len(r.study.Jobs), Pools: len(r.study.VCs), Begin: r.study.Begin, Placement: c.Placement, Compat: c.Compat}
	for _, vc := range r.study.VCs {
		report.GPUs += vc.Nodes * r.study.PerNode
	}
	return report
}

// compare says how each simulation differs from the first scheduler's at the same load, and
// which jobs were left out.
func (r *replay) compare(report *runs.ClusterOutcome) {
	for _, c := range report.Cells {
		if first := r.Schedule.Schedulers[0]; c.Scheduler != first {
			i := clusterIntervalOf(cluster.Compare(r.study.Jobs, r.completions[runs.ClusterCellKey{Scheduler: c.Scheduler, Load: c.Load}], r.completions[runs.ClusterCellKey{Scheduler: first, Load: c.Load}]))
			c.Against = &i
		}
		if list := grouped(c.Refused); total(list) > total(report.Refused) {
			report.Refused = list
		}
	}
}

// tables writes the figures as a table of the run.
func (r *replay) tables(report *runs.ClusterOutcome) error {
	stream, err := r.run.Stream(runs.ClusterStream, clusterColumns)
	if err != nil {
		return err
	}
	for _, c := range report.Cells {
		for _, p := range c.Parts() {
			f := p.ClusterFigures
			err := stream.Append(c.Scheduler, c.Load, p.Name, f.Jobs, runs.Value(f.Completion.Mean), runs.Value(f.Completion.Median), runs.Value(f.Completion.P99),
				runs.Value(f.Queue.Mean), runs.Value(f.Queue.P999), runs.Value(f.Slowdown), runs.Value(p.Used), f.Preemptions)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
