// Package clusters replays traces of jobs on simulated clusters under schedulers.
package clusters

import (
	"context"
	"errors"
	"sync"

	"go.uber.org/zap"

	"graft/cluster"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/parallel"
	"graft/report/runs"
	"graft/runner/app"
)

// Replay simulates the jobs of a study under each scheduler of a configuration at each load. Of the
// configuration count the schedulers with their options, the loads, the source of estimates, the
// placement and compat; zero values have their defaults. The study has the jobs and the cluster,
// and its own estimates come before those of the configuration. Replay writes nothing.
func Replay(ctx context.Context, env *app.Env, jobs *cluster.Study, c *config.Cluster) (*runs.ClusterOutcome, error) {
	own := *c
	own.EnsureDefaults()
	if err := errors.Join(own.Schedule.Validate(), own.Options.Validate()); err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	s := &study{Cluster: &own, env: env, base: *jobs, estimates: map[string][]float64{}}
	if s.base.PerNode == 0 {
		s.base.PerNode = own.Cluster.PerNode
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	return (&replay{study: s}).run(ctx)
}

// replay is the simulations of a study at work.
type replay struct {
	*study
	folder string // of the run; empty writes nothing
	from   string // digest of the inputs; unused without a folder

	mu          sync.Mutex
	completions map[runs.ClusterCellKey][]int64
}

// run runs the simulations, several at a time, and compares them.
func (r *replay) run(ctx context.Context) (*runs.ClusterOutcome, error) {
	r.completions = map[runs.ClusterCellKey][]int64{}
	report := r.report()
	for _, load := range r.Schedule.Loads {
		for _, name := range r.Schedule.Schedulers {
			report.Cells = append(report.Cells, &runs.ClusterCell{Scheduler: name, Load: load})
		}
	}
	errs := parallel.Each(ctx, len(report.Cells), r.atOnce(), func(k int) error { return r.cell(ctx, report.Cells[k]) })
	if err := ctx.Err(); err != nil {
		return nil, err // and not once for each simulation
	}
	if err := errs.Join(); err != nil {
		return nil, err
	}
	r.compare(report)
	return report, nil
}

// manyJobs is the number of jobs from which simulations run one after the other, each on
// all processors, so that only one of them is in memory.
const manyJobs = 200_000

// atOnce returns the number of concurrent simulations; zero means one for each processor.
func (r *replay) atOnce() int {
	if len(r.base.Jobs) >= manyJobs {
		return 1
	}
	return 0
}

// cell runs a simulation and saves its outcome, unless it was saved before.
func (r *replay) cell(ctx context.Context, cell *runs.ClusterCell) error {
	if r.restore(cell) {
		return nil
	}
	policy := r.policy(cell.Scheduler)
	study, err := r.with(policy, cell.Load)
	if err != nil {
		return err
	}
	o := cluster.Options{Placement: r.Cluster.Cluster.Placement, Quirks: r.quirks(policy), Workers: r.Schedule.Workers,
		Series: r.Output.Every > 0}
	out, err := study.Run(ctx, policy, o)
	if err != nil {
		return err
	}
	completions := out.Completions()
	summarize(cell, out, cluster.MeanCompletion(study.Jobs, completions))
	if err := r.fixes(ctx, cell, study, policy, o, completions); err != nil {
		return err
	}
	if err := r.save(cell, out, completions); err != nil {
		return err
	}
	r.env.Log.Info("simulated", zap.String("scheduler", cell.Name()), zap.Int("jobs", len(out.Jobs)),
		zap.Int64("events", out.Events), zap.Float64("completion_s", app.Rounded(runs.Value(cell.All.Completion.Mean))))
	r.complete(cell, completions)
	return nil
}

// complete records the completion times of a simulation.
func (r *replay) complete(cell *runs.ClusterCell, completions []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.completions[runs.ClusterCellKey{Scheduler: cell.Scheduler, Load: cell.Load}] = completions
}

// fixes simulates once more for each fault of the original that is corrected, with only that
// fault, and records the difference.
func (r *replay) fixes(ctx context.Context, cell *runs.ClusterCell, study *cluster.Study, policy cluster.Policy,
	o cluster.Options, completions []int64) error {
	if !r.corrected() || len(study.Jobs) >= manyJobs {
		return nil
	}
	o.Series = false
	for _, q := range policy.Quirks {
		o.Quirks = cluster.Quirks{q.Name}
		with, err := study.Run(ctx, policy, o)
		if err != nil {
			return err
		}
		cell.Fixes = append(cell.Fixes, runs.ClusterCorrection{What: q.Fixed,
			Effect: intervalOf(cluster.Compare(study.Jobs, completions, with.Completions()))})
	}
	return nil
}

// compare records the difference of each simulation to that of the first scheduler at the same
// load, and the jobs that were left out.
func (r *replay) compare(report *runs.ClusterOutcome) {
	first := r.Schedule.Schedulers[0]
	for _, c := range report.Cells {
		if c.Scheduler != first {
			i := intervalOf(cluster.Compare(r.base.Jobs, r.completions[runs.ClusterCellKey{Scheduler: c.Scheduler,
				Load: c.Load}], r.completions[runs.ClusterCellKey{Scheduler: first, Load: c.Load}]))
			c.Against = &i
		}
		if list := grouped(c.Refused); refused(list) > refused(report.Refused) {
			report.Refused = list
		}
	}
}
