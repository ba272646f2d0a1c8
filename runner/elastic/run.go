// Package elastic simulates the jobs of a trace on a cluster whose allocations change from slot to
// slot, under several schedulers, into a run folder.
package elastic

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"graft/cluster/elastic"
	"graft/config"
	"graft/internal/parallel"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// Run simulates a configuration into its run folder: tables of jobs, slots and allocations for each scheduler,
// and the outcome. A run that was stopped or killed begins anew when it is resumed, and ends in the same
// bytes; one that had ended is read.
func Run(ctx context.Context, env *app.Env, c *config.Elastic, o app.FolderOptions) (*runs.ElasticOutcome, error) {
	folder := app.Folder("", c.Output.Folder, c.Elastic.Trace)
	outcome, err := app.Simulate(ctx, env, folder, c, o, runs.ElasticStream, columns,
		func(run *results.Run, stream *results.Stream) (*runs.ElasticOutcome, error) {
			outcome, err := simulate(ctx, env, c, run.Path(""))
			if err != nil {
				return nil, err
			}
			for _, s := range outcome.Cells {
				if err := stream.Append(s.Scheduler, s.Mean, s.Median, s.P95, s.Makespan, s.Slots,
					s.Reward); err != nil {
					return nil, err
				}
			}
			return outcome, nil
		})
	if err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, nil
}

// columns define the table of a run. Times are in slots.
var columns = []results.Column{{Name: "scheduler", Kind: results.String}, {Name: "jct_mean"}, {Name: "jct_median"},
	{Name: "jct_p95"}, {Name: "makespan"}, {Name: "slots", Kind: results.Int}, {Name: "reward_mean"}}

// simulate runs the schedulers, several at a time, and writes the jobs of each.
func simulate(ctx context.Context, env *app.Env, c *config.Elastic, folder string) (*runs.ElasticOutcome, error) {
	study := c.Study()
	bound, err := elastic.LowerBound(study)
	if err != nil {
		return nil, err
	}
	kinds := c.Schedulers()
	found := make([]*elastic.Result, len(kinds))
	err = parallel.Pool{Workers: c.Schedule.Workers}.Each(ctx, len(kinds), func(k int) (err error) {
		folder := filepath.Join(folder, kinds[k].Name)
		if found[k], err = record(ctx, env, folder, study, kinds[k].Kind); err != nil {
			return err
		}
		return writeJobs(env, folder, found[k])
	}).First()
	if err != nil {
		return nil, err
	}
	o := &runs.ElasticOutcome{Trace: c.Elastic.Trace, Jobs: len(study.Jobs), Nodes: study.Options.Nodes,
		Slot: study.Options.Slot, Scaling: c.Elastic.Scaling, Compat: c.Elastic.Compat, Bound: bound.Mean}
	for k, r := range found {
		var first *elastic.Result
		if k > 0 {
			first = found[0]
		}
		o.AddElastic(kinds[k].Name, r, first)
	}
	return o, nil
}

// writeJobs writes a row for each job, in the order of arrival.
func writeJobs(env *app.Env, folder string, r *elastic.Result) error {
	var b strings.Builder
	b.WriteString("job_id,model,arrival_slot,completion_slot,jct_slots\n")
	for _, c := range r.Completions {
		fmt.Fprintf(&b, "%d,%s,%d,%v,%v\n", c.ID, c.Type, c.Arrival, c.End, c.JCT)
	}
	return env.WriteText(filepath.Join(folder, runs.ElasticJobsFile), b.String())
}
