// Package adaptive simulates jobs that adapt their batch, and the same jobs with the devices and the batch
// of their users, under several schedulers, into a run folder.
package adaptive

import (
	"context"

	"graft/config"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// Run simulates a configuration into its run folder: tables of jobs, rounds and allocations for each
// simulation, and the outcome. A run that was stopped or killed does the simulations that had not ended
// when it is resumed, and ends in the same bytes; one that had ended is read.
func Run(ctx context.Context, env *app.Env, c *config.Adaptive, o app.FolderOptions) (*runs.AdaptiveOutcome, error) {
	folder := app.Folder("", c.Output.Folder, c.Adaptive.Traces[0])
	s := newStudy(env, c, folder)
	outcome, err := app.Simulate(ctx, env, folder, c, o, runs.AdaptiveStream, columns,
		func(_ *results.Run, stream *results.Stream) (*runs.AdaptiveOutcome, error) {
			err := s.simulate(ctx)
			if err == nil && c.Schedule.Worth {
				s.outcome.Worth, err = s.worth(ctx)
			}
			if err != nil {
				return nil, err
			}
			s.compare()
			return s.outcome, table(stream, s.outcome)
		})
	if err == nil {
		err = s.forget()
	}
	if err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, nil
}

// columns define the table of a run. Times are in seconds.
var columns = []results.Column{{Name: "workload", Kind: results.String}, {Name: "scheduler", Kind: results.String},
	{Name: "seed", Kind: results.Int}, {Name: "jobs", Kind: results.Int},
	{Name: "jct_mean", Unit: "s"}, {Name: "jct_median", Unit: "s"}, {Name: "jct_p99", Unit: "s"},
	{Name: "makespan", Unit: "s"}, {Name: "queue_mean", Unit: "s"},
	{Name: "device_hours"}, {Name: "restarts", Kind: results.Int}, {Name: "goodput"}}

// table writes a row for each simulation.
func table(stream *results.Stream, o *runs.AdaptiveOutcome) error {
	for _, c := range o.Cells {
		if err := stream.Append(c.Workload, c.Scheduler, int64(c.Seed), c.Jobs, c.Mean, c.Median, c.P99, c.Makespan,
			c.Queue, c.DeviceHours, c.Restarts, c.Goodput); err != nil {
			return err
		}
	}
	return nil
}
