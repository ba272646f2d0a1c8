package world

import (
	"context"
	"fmt"
	"math"
	"slices"

	"graft/cluster/node"
	"graft/cluster/node/agent"
	"graft/cluster/study"
	"graft/internal/failure"
	"graft/internal/parallel"
	"graft/internal/words"
)

// simulations runs the cells of a file.
type simulations struct {
	*File
	studies    []node.Study // by workload
	candidates []Scheduler
	kinds      []string  // task kinds for sums of energy
	others     bool      // more kinds exist
	best       []float64 // minimum mean time to completion of each workload, s; nil if not searched
}

// metrics of a simulation. Times are in seconds.
var metrics = []study.Metric{
	{Name: "jct_mean", Unit: "s", Title: "mean JCT", About: "mean time from arrival to completion of a task",
		Better: study.Lower, Format: "%.2f", Main: true},
	{Name: "jct_p95", Unit: "s", Title: "p95", About: "95th percentile of JCT",
		Better: study.Lower, Format: "%.2f"},
	{Name: "queue_mean", Unit: "s", Title: "queue", About: "mean time without a GPU",
		Better: study.Lower, Format: "%.2f"},
	{Name: "slowdown_mean", Title: "slowdown", About: "mean ratio of JCT to the task's time alone on a GPU",
		Better: study.Lower, Format: "%.2f"},
	{Name: "makespan", Unit: "s", Title: "makespan", About: "end of the last task", Better: study.Lower,
		Format: "%.1f", Main: true},
	{Name: "busy", Unit: "share", Title: "busy", About: "share of the GPUs' cores in use until the end of the last " +
		"task", Better: study.Higher},
	{Name: "energy", Unit: "J", Title: "energy", About: "energy of all GPUs until the end of the last task, " +
		"according to the file's power model", Better: study.Lower, Format: "%.0f", Main: true},
	{Name: "energy_delay", Unit: "kJ s", Title: "energy times JCT", About: "product of energy and mean JCT",
		Better: study.Lower, Format: "%.1f"},
	{Name: "stops", Title: "stops", About: "number of times that a task was stopped and continued later",
		Better: study.Neutral,
		Format: "%.1f"},
	{Name: "completed", Unit: "share", Title: "completed", About: "share of tasks that completed",
		Better: study.Higher, Format: "%.0f%%"},
}

// Keys of metrics.
const (
	jctKey         = "jct_mean_s"
	energyKey      = "energy_j"
	energyDelayKey = "energy_delay_kj_s"
)

// Prepare generates the workloads, and searches for the best schedules of small workloads.
func (s *simulations) Prepare(ctx context.Context, _ study.Env, quick bool) error {
	if quick && len(s.Task) == 0 && s.trace() == "" {
		return nil // tasks are generated
	}
	if err := s.checkDurations(quick); err != nil {
		return failure.With(failure.Configuration, err)
	}
	s.studies, s.candidates = s.Studies(), s.Candidates()
	if len(s.studies) == 0 && !slices.ContainsFunc(s.candidates, func(c Scheduler) bool { return c.IsLearned() }) {
		s.studies = s.undivided() // nothing has learned from the tasks
	}
	if len(s.studies) == 0 {
		return fmt.Errorf("%s: no tasks are left for the comparison, because learned schedulers may have been "+
			"trained on the first %d tasks; lower tasks.max_tasks, tasks.train_count or "+
			"tasks.validation_count", s.trace(),
			s.Tasks.Most*(s.Tasks.TrainCount+s.Tasks.ValidationCount))
	}
	if quick {
		return nil
	}
	s.kinds, s.others = kindsOf(s.studies)
	return s.search(ctx)
}

// search finds the minimum mean time to completion over all schedules of each workload, if all workloads are small.
func (s *simulations) search(ctx context.Context) error {
	large := func(one node.Study) bool { return len(one.Tasks) > node.MostExact }
	if !s.Machine.alike() || slices.ContainsFunc(s.studies, large) {
		return nil
	}
	s.best = make([]float64, len(s.studies))
	return parallel.Pool{Workers: s.Schedule.Workers}.Each(ctx, len(s.best), func(k int) (err error) {
		s.best[k], err = node.Exact(ctx, s.studies[k])
		return err
	}).First()
}

// Plan lists the simulations to run: one per scheduler, workload and seed.
func (s *simulations) Plan() *study.Plan {
	p := &study.Plan{
		Points: []study.Point{{}}, Workloads: s.names(len(s.studies)), Against: s.against(), Metrics: metrics,
		Rank: []string{jctKey, energyDelayKey}, Workers: s.Schedule.Workers, References: s.references,
		PairJobs: true, Facts: map[string]any{"gpus": s.GPUs(), "objective": s.Schedule.Objective},
	}
	if s.objective() == agent.EnergyDelay {
		slices.Reverse(p.Rank)
		p.PairJobs = false // samples are times
	}
	for k := range s.studies {
		p.Jobs += len(s.studies[k].Tasks)
	}
	p.Title = fmt.Sprintf("%s with %s in total on %s", words.Plural(len(s.studies), "workload"),
		words.Plural(p.Jobs, "task"), words.Plural(s.GPUs(), "GPU"))
	if s.omitted > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("%s of %s are left out: only jobs that have a duration, use one GPU "+
			"or a part of one, and are not runaway jobs (still running more than an hour beyond their time limits) "+
			"become tasks.", words.Plural(s.omitted, "job"), s.trace()))
	}
	if used := p.Jobs; s.trace() != "" && used < len(s.specs) {
		p.Remarks = append(p.Remarks, fmt.Sprintf("The comparison uses %d of %s: tasks.test_count limits the "+
			"workloads, and earlier workloads are for learning.", used, words.Plural(len(s.specs), "task")))
	}
	for _, text := range s.Warnings() {
		p.Remarks = append(p.Remarks, "Warning: "+text)
	}
	for k := range s.candidates {
		e := &s.candidates[k]
		one := study.Scheduler{Name: e.Kind.Name, Learned: e.Policies()}
		for seed := range uint64(s.Schedule.Seeds) {
			if e.Kind.Draws {
				one.Seeds = append(one.Seeds, s.Schedule.Seed+seed)
			}
		}
		p.Schedulers = append(p.Schedulers, one)
		p.Remarks = append(p.Remarks, e.Remarks(e.Kind.Name, s.Setting())...)
	}
	return p
}

// references returns the lower bounds on the mean time to completion, and the best schedules.
func (s *simulations) references(_ context.Context) ([]study.Reference, error) {
	var bounds []float64
	for k := range s.studies {
		bounds = append(bounds, node.Bound(s.studies[k]))
	}
	bound := study.NewReference("lower bound", "no scheduler can have a smaller mean", jctKey, "", bounds)
	bound.Bound = true
	if s.best == nil {
		return []study.Reference{bound}, nil
	}
	return []study.Reference{bound, study.NewReference("optimum without stops",
		"best schedule that stops no task", jctKey, "", s.best)}, nil
}

// Simulate runs one simulation of the plan.
func (s *simulations) Simulate(ctx context.Context, c *study.Cell) (*study.Result, error) {
	one, kinds := s.studies[c.Workload], s.candidates[c.Scheduler].Kinds()
	kind := kinds[min(c.Run, len(kinds)-1)] // a scheduler that draws has one kind and several seeds
	r, err := one.Run(ctx, kind, s.Schedule.options(c.Seed, uint64(c.Workload)))
	if err != nil {
		return nil, err
	}
	result := &study.Result{Values: valuesOf(&r.Summary), Parts: s.parts(&one, r)}
	if s.objective() == agent.Completion {
		result.Samples = samplesOf(r)
	}
	return result, s.write(c, &one, r)
}

func valuesOf(f *node.Summary) study.Values {
	return study.Values{
		jctKey: study.Number(f.Turnaround), "jct_p95_s": study.Number(f.Tail), "queue_mean_s": study.Number(f.Wait),
		"slowdown_mean": study.Number(f.Slowdown), "makespan_s": study.Number(f.Makespan),
		"busy_share": study.Number(f.Busy), energyKey: study.Number(f.Joules),
		energyDelayKey: study.Number(f.Delay() / 1000), "stops": study.Number(f.Stops),
		"completed_share": study.Number(float64(f.Completed) / float64(f.Tasks)),
	}
}

// samplesOf returns the times to completion of the tasks.
func samplesOf(r *node.Result) (samples []float64) {
	for k := range r.Tasks {
		samples = append(samples, jct(&r.Tasks[k]))
	}
	return samples
}

// jct is the time from arrival to completion in seconds; NaN for a task that did not complete.
func jct(t *node.Outcome) float64 {
	if t.Failed || t.Ended < 0 {
		return math.NaN()
	}
	return t.Turnaround().Seconds()
}
