package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"graft/cluster/elastic"
	elasticworld "graft/cluster/elastic/world"
	"graft/cluster/study"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/parallel"
	jobfile "graft/original/dl2/learning"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// SchedulerOptions selects the schedulers of elastic jobs to compare, and the workloads.
type SchedulerOptions struct {
	File string   // path of a configuration of 'graft learn' with a section workloads; required
	Set  []string // assignments applied after the file; empty means none
	// paths of learned schedulers: run folders or files; empty means the run folder that 'graft learn' wrote for the
	// file, if it exists
	Policies []string
	// name of the scheduler that differences are relative to; empty means optimus if it is compared, otherwise the
	// first scheduler
	Against string
	Out     string // path of the new run folder; empty means that no run folder is written
	Force   bool   // moves an existing folder aside; if false, an existing folder is an error
}

// Schedulers compares schedulers on the test workloads, from which no scheduler has learned.
func Schedulers(ctx context.Context, env *app.Env, o SchedulerOptions) (*runs.ElasticComparison, error) {
	l, err := config.ReadNamed[*jobfile.File](jobfile.KindName, config.Open(env.Files, o.File), o.Set)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	all, err := candidates(env, l, o)
	if err != nil {
		return nil, err
	}
	run, err := comparisonFolder(env, l, o)
	if err != nil {
		return nil, err
	}
	var track *results.Tracker
	if run != nil {
		track = env.Track(o.Out, "simulations")
	}
	c, err := compareSchedulers(ctx, l, all, track)
	if err == nil {
		c.Against = against(all, o.Against)
		c.Rank()
		err = writeComparison(run, c)
	}
	track.StopOrEnd(ctx.Err() != nil, err)
	if run != nil {
		err = errors.Join(err, run.Close())
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// candidates returns the schedulers of the file and the learned ones.
func candidates(env *app.Env, l *jobfile.File, o SchedulerOptions) ([]elasticworld.Scheduler, error) {
	all, paths := slices.Clone(l.Baselines()), o.Policies
	if len(paths) == 0 {
		own := app.Folder("", l.Run.Folder, o.File)
		if _, err := env.Files.Stat(filepath.Join(own, study.LearnedFile)); err == nil {
			paths = []string{own}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, path := range paths {
		s, err := elasticworld.ReadScheduler(env.Files, path)
		if err != nil {
			return nil, failure.With(failure.Damaged, fmt.Errorf("option \"policy\": %w", err))
		}
		all = append(all, s)
	}
	var names []string
	for _, s := range all {
		if slices.Contains(names, s.Kind.Name) {
			return nil, failure.Usagef("option \"policy\": two schedulers have the name %s; "+
				"rename the folder or the file of one of them", s.Kind.Name)
		}
		names = append(names, s.Kind.Name)
	}
	if o.Against != "" && !slices.Contains(names, o.Against) {
		return nil, failure.Usagef("option \"against\" is %s; expected one of: %s", o.Against,
			strings.Join(names, ", "))
	}
	return all, nil
}

// against returns the baseline of differences.
func against(all []elasticworld.Scheduler, wanted string) string {
	const usual = "optimus"
	otherwise := all[0].Kind.Name
	if slices.ContainsFunc(all, func(s elasticworld.Scheduler) bool { return s.Kind.Name == usual }) {
		otherwise = usual
	}
	return cmp.Or(wanted, otherwise)
}

// compareSchedulers simulates each seed of each scheduler on each workload.
func compareSchedulers(ctx context.Context, l *jobfile.File,
	all []elasticworld.Scheduler, track *results.Tracker) (*runs.ElasticComparison, error) {
	_, _, test := l.Studies()
	var done atomic.Int64
	of := 0
	for _, s := range all {
		of += len(test) * len(s.Kinds())
	}
	c := &runs.ElasticComparison{Scaling: l.Elastic.Scaling, Slot: test[0].Options.Slot}
	for _, s := range test {
		bound, err := elastic.LowerBound(s)
		if err != nil {
			return nil, err
		}
		c.Bounds = append(c.Bounds, bound.Mean)
	}
	for _, s := range all {
		seeds := s.Kinds()
		times := make([][]float64, len(test))
		for k := range times {
			times[k] = make([]float64, len(seeds))
		}
		err := parallel.Pool{Workers: l.Schedule.Workers}.Each(ctx, len(test)*len(seeds), func(at int) (err error) {
			k, seed := at/len(seeds), at%len(seeds)
			times[k][seed], err = meanTime(ctx, test[k], seeds[seed], l.Slots())
			track.Note(float64(done.Add(1)), float64(of))
			return err
		}).First()
		if err != nil {
			return nil, err
		}
		c.Standings = append(c.Standings, runs.NewElasticStanding(s.Kind.Name, s.Policies(), times, c.Bounds))
	}
	return c, nil
}

// meanTime returns the mean time to completion, or runs.JobsLeft after the limit of slots.
func meanTime(ctx context.Context, s elastic.Study, kind elastic.Kind, slots int) (float64, error) {
	if s.Options.Limit == 0 || s.Options.Limit > slots {
		s.Options.Limit = slots
	}
	r, err := s.Run(ctx, kind)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return runs.JobsLeft, nil
	}
	return r.MeanJCT, nil
}

// comparisonColumns define the table of a run. Times are in slots.
var comparisonColumns = []results.Column{{Name: "scheduler", Kind: results.String}, {Name: "workload",
	Kind: results.Int}, {Name: "seed", Kind: results.Int}, {Name: "jct_mean"}, {Name: "jct_lower_bound"}}

// comparisonFolder makes the run folder; nil if none is requested.
func comparisonFolder(env *app.Env, l *jobfile.File, o SchedulerOptions) (*results.Run, error) {
	if o.Out == "" {
		return nil, nil
	}
	return env.CreateRun(o.Out, runs.ElasticComparisonKind,
		results.CreateOptions{Force: o.Force, Config: l.Text(), Resolved: config.Resolved(l)},
		results.Manifest{ConfigSHA256: config.Digest(l)})
}

// writeComparison writes the table and the outcome.
func writeComparison(run *results.Run, c *runs.ElasticComparison) error {
	if run == nil {
		return nil
	}
	c.Folder = run.Path("")
	stream, err := run.Stream(runs.ElasticComparisonStream, comparisonColumns)
	if err != nil {
		return err
	}
	for _, s := range c.Standings {
		for k, row := range s.Times {
			for seed, v := range row {
				if err := stream.Append(s.Scheduler, k+1, seed+1, v, c.Bounds[k]); err != nil {
					return err
				}
			}
		}
	}
	return run.WriteOutcome(c)
}
