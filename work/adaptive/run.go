// Package adaptive simulates jobs that adapt their batch, and the same jobs with the devices and the batch
// of their users, under several schedulers, into a run folder.
package adaptive

import (
	"context"
	"errors"
	"fmt"

	"graft/config"
	"graft/results"
	"graft/results/failure"
	"graft/results/runs"
	"graft/work"
)

// Run simulates a configuration into its run folder: tables of jobs, rounds and allocations for each
// simulation, and the outcome. A run that was stopped or killed does the simulations that had not ended
// when it is resumed, and ends in the same bytes; one that had ended is read.
func Run(ctx context.Context, env *work.Env, c *config.Adaptive, o work.FolderOptions) (*runs.AdaptiveOutcome, error) {
	folder := work.Folder("", c.Output.Folder, c.Adaptive.Traces[0])
	run, err := open(env, c, folder, o)
	if err != nil {
		return nil, err
	}
	outcome, err := into(ctx, env, c, run)
	if ctx.Err() != nil && err != nil {
		err = failure.With(failure.Requeue, fmt.Errorf("%s is incomplete: %w; go on with option resume", folder, err))
	}
	if err = errors.Join(err, run.Close()); err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, nil
}

// open makes the run folder or, to resume, opens it.
func open(env *work.Env, c *config.Adaptive, folder string, o work.FolderOptions) (*results.Run, error) {
	return env.OpenRun(folder, c, o, func(run *results.Run) string {
		was, err := config.ReadAdaptive(env.Files, run.Path(runs.ResolvedFile), nil)
		return work.Differences(was, err, c.Differences, "a file that it reads has changed")
	})
}

// columns define the table of a run. Times are in seconds.
var columns = []results.Column{{Name: "workload", Kind: results.String}, {Name: "scheduler", Kind: results.String}, {Name: "seed", Kind: results.Int}, {Name: "jobs", Kind: results.Int},
	{Name: "jct_mean", Unit: "s"}, {Name: "jct_median", Unit: "s"}, {Name: "jct_p99", Unit: "s"}, {Name: "makespan", Unit: "s"}, {Name: "queue_mean", Unit: "s"},
	{Name: "device_hours"}, {Name: "restarts", Kind: results.Int}, {Name: "goodput"}}

// into simulates into a run folder, or reads the outcome that is there.
func into(ctx context.Context, env *work.Env, c *config.Adaptive, run *results.Run) (*runs.AdaptiveOutcome, error) {
	s := newStudy(env, c, run)
	var done runs.AdaptiveOutcome
	if err := results.ReadOutcome(env.Files, run.Path(""), &done); err == nil {
		return &done, s.forget()
	} else if !runs.NotThere(err) {
		return nil, err
	}
	stream, err := run.Stream(runs.AdaptiveStream, columns) // by which the folder is known
	if err == nil {
		err = stream.Truncate(0)
	}
	if err == nil {
		err = s.simulate(ctx)
	}
	if err == nil && c.Schedule.Worth {
		s.outcome.Worth, err = s.worth(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.compare()
	if err := errors.Join(table(stream, s.outcome), run.WriteOutcome(s.outcome)); err != nil {
		return nil, err
	}
	return s.outcome, s.forget()
}

// table writes a row for each simulation.
func table(stream *results.Stream, o *runs.AdaptiveOutcome) error {
	for _, c := range o.Cells {
		if err := stream.Append(c.Workload, c.Scheduler, int64(c.Seed), c.Jobs, c.Mean, c.Median, c.P99, c.Makespan, c.Queue, c.DeviceHours, c.Restarts, c.Goodput); err != nil {
			return err
		}
	}
	return nil
}
