package clusters

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"graft/cluster"
	"graft/config"
	"graft/results"
	"graft/results/document"
	"graft/results/failure"
	"graft/results/runs"
	"graft/work"
)

// RunOptions hold the options that the configuration does not contain.
type RunOptions struct {
	Config string // text of the configuration file, kept in the run folder; empty keeps none
	Resume bool   // go on with the run in the folder, or begin one where there is none; false begins one
	Force  bool   // move an existing run folder aside; false refuses it
}

// Run replays the trace of a configuration into its run folder, which has a table for each
// simulation. The outcome comes with an error of the code failure.Partial where jobs were left
// out. A run that was stopped does all its simulations again when it is resumed, and ends in the
// same bytes; one that had ended is read.
func Run(ctx context.Context, env *work.Env, c *config.Cluster, o RunOptions) (*runs.ClusterOutcome, error) {
	s, err := readStudy(env, c)
	if err != nil {
		return nil, err
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	folder := work.Folder("", c.Output.Folder, c.Cluster.Trace)
	run, err := open(env, c, folder, o)
	if err != nil {
		return nil, err
	}
	outcome, err := s.into(ctx, run)
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("%s is not whole: %w; go on with --resume", folder, err)
	}
	if err = errors.Join(err, run.Close()); err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, leftOut(outcome)
}

// open makes the run folder before anything is simulated or, to resume, opens it.
func open(env *work.Env, c *config.Cluster, folder string, o RunOptions) (*results.Run, error) {
	if o.Resume {
		run, err := resume(env, c, folder)
		if !errors.Is(err, results.ErrNoRun) {
			return run, err
		}
	}
	run, err := results.Create(env.Files, folder, results.CreateOptions{Force: o.Force, Config: o.Config, Resolved: c.Resolved()}, env.Manifest(results.Manifest{ConfigSHA256: c.Digest()}))
	if errors.Is(err, results.ErrExists) {
		err = failure.With(failure.Usage, err)
	}
	return run, err
}

// resume opens the run folder of the same configuration.
func resume(env *work.Env, c *config.Cluster, folder string) (*results.Run, error) {
	run, err := results.Open(env.Files, folder)
	if err != nil || run.Manifest().ConfigSHA256 == c.Digest() {
		return run, err
	}
	what := "its options are others"
	if was, err := config.ReadCluster(env.Files, run.Path(runs.ResolvedFile), nil); err == nil {
		if list := c.Differences(was); len(list) > 0 {
			what = strings.Join(list, ", ")
		}
	}
	err = fmt.Errorf("resume %s: it has other simulations: %s; give it what it had, or begin another run with --out", folder, what)
	return nil, errors.Join(failure.With(failure.Configuration, err), run.Close())
}

// into simulates into a run folder, or reads the outcome that is there.
func (s *study) into(ctx context.Context, run *results.Run) (*runs.ClusterOutcome, error) {
	var done runs.ClusterOutcome
	if err := results.ReadOutcome(s.env.Files, run.Path(""), &done); !runs.NotThere(err) {
		return &done, err
	}
	stream, err := run.Stream(runs.ClusterStream, columns) // by which the folder is known
	if err == nil {
		err = stream.Truncate(0)
	}
	if err != nil {
		return nil, err
	}
	outcome, err := s.replay(ctx, func(c *runs.ClusterCell, o *cluster.Outcome) error {
		return o.Write(s.env.Files, run.Path(c.Name()), s.Output.Every)
	})
	if err != nil {
		return nil, err
	}
	return outcome, errors.Join(table(stream, outcome), run.WriteOutcome(outcome))
}

// columns define the table of a run.
var columns = []results.Column{{Name: "scheduler", Kind: results.String}, {Name: "load"}, {Name: "part", Kind: results.String}, {Name: "jobs", Kind: results.Int},
	{Name: "completion_mean", Unit: "s"}, {Name: "completion_median", Unit: "s"}, {Name: "completion_p99", Unit: "s"},
	{Name: "queue_mean", Unit: "s"}, {Name: "queue_p999", Unit: "s"}, {Name: "slowdown"}, {Name: "used", Unit: "share"}, {Name: "preemptions", Kind: results.Int}}

// table writes a row for each part of each simulation.
func table(stream *results.Stream, outcome *runs.ClusterOutcome) error {
	for _, c := range outcome.Cells {
		for _, p := range c.Parts() {
			f := p.ClusterMetrics
			err := stream.Append(c.Scheduler, c.Load, p.Name, f.Jobs, runs.Value(f.Completion.Mean), runs.Value(f.Completion.Median), runs.Value(f.Completion.P99),
				runs.Value(f.Queue.Mean), runs.Value(f.Queue.P999), runs.Value(f.Slowdown), runs.Value(p.Used), f.Preemptions)
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
	return failure.With(failure.Partial, fmt.Errorf("%s left out: %s; correct the trace or the nodes", document.Plural(refused(r.Refused), "job"), strings.Join(texts, "; ")))
}
