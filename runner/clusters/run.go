package clusters

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"graft/config"
	"graft/internal/failure"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// Run replays the trace of a configuration into its run folder, which has a table for each
// simulation. The outcome comes with an error of the code failure.Partial where jobs were left
// out. A run that was stopped does the simulations that had not ended when it is resumed, and ends
// in the same bytes; one that had ended is read.
func Run(ctx context.Context, env *app.Env, c *config.Cluster, o app.FolderOptions) (*runs.ClusterOutcome, error) {
	s, err := readStudy(env, c)
	if err != nil {
		return nil, err
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	folder := app.Folder("", c.Output.Folder, c.Cluster.Trace)
	run, err := env.OpenRun(folder, c, o)
	if err != nil {
		return nil, err
	}
	outcome, err := s.into(ctx, run)
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("%s is incomplete: %w; go on with option resume", folder, err)
	}
	if err = errors.Join(err, run.Close()); err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, leftOut(outcome)
}

// into simulates into a run folder, or reads the outcome that is there.
func (s *study) into(ctx context.Context, run *results.Run) (*runs.ClusterOutcome, error) {
	var done runs.ClusterOutcome
	if err := results.ReadOutcome(s.env.Files, run.Path(""), &done); err == nil {
		return &done, s.forget(run.Path(""), &done)
	} else if !runs.NotThere(err) {
		return nil, err
	}
	stream, err := run.Stream(runs.ClusterStream, columns) // by which the folder is known
	if err == nil {
		err = stream.Truncate(0)
	}
	if err != nil {
		return nil, err
	}
	r := &replay{study: s, folder: run.Path("")}
	if r.from, err = s.inputs(); err != nil {
		return nil, err
	}
	outcome, err := r.run(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(table(stream, outcome), run.WriteOutcome(outcome)); err != nil {
		return nil, err
	}
	return outcome, s.forget(run.Path(""), outcome)
}

// columns define the table of a run.
var columns = []results.Column{{Name: "scheduler", Kind: results.String}, {Name: "load"},
	{Name: "part", Kind: results.String}, {Name: "jobs", Kind: results.Int},
	{Name: "completion_mean", Unit: "s"}, {Name: "completion_median", Unit: "s"}, {Name: "completion_p99", Unit: "s"},
	{Name: "queue_mean", Unit: "s"}, {Name: "queue_p999", Unit: "s"}, {Name: "slowdown"}, {Name: "used", Unit: "share"},
	{Name: "preemptions", Kind: results.Int}}

// table writes a row for each part of each simulation.
func table(stream *results.Stream, outcome *runs.ClusterOutcome) error {
	for _, c := range outcome.Cells {
		for _, p := range c.Parts() {
			f := p.ClusterMetrics
			err := stream.Append(c.Scheduler, c.Load, p.Name, f.Jobs, runs.Value(f.Completion.Mean),
				runs.Value(f.Completion.Median), runs.Value(f.Completion.P99),
				runs.Value(f.Queue.Mean), runs.Value(f.Queue.P999), runs.Value(f.Slowdown), runs.Value(p.Used),
				f.Preemptions)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// leftOut is an error where jobs were left out.
func leftOut(r *runs.ClusterOutcome) error {
	if len(r.Refused) == 0 {
		return nil
	}
	var texts []string
	for _, w := range r.Refused {
		texts = append(texts, fmt.Sprintf("%d %s, job %s for one", w.Jobs, w.Why, w.Example))
	}
	return failure.With(failure.Partial, fmt.Errorf("%s left out: %s; correct the trace or the nodes",
		document.Plural(refused(r.Refused), "job"), strings.Join(texts, "; ")))
}
