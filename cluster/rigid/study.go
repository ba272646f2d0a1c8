package rigid

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/live"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/words"
)

// manyJobs is the number of jobs from which simulations run one after the other on all processors, so that memory holds
// only one, and from which quirks are not simulated alone.
const manyJobs = 200_000

// Plan lists the simulations to run: one for each combination of scheduler, workload, arrival factor and seed.
func (s *simulations) Plan() *study.Plan {
	c, first := &s.Cluster, s.workloads[0]
	p := &study.Plan{
		Workloads: s.names, Against: s.Schedule.Against, Rank: []string{"jct_mean_s"},
		PairJobs: true, Inputs: s.digest, Workers: s.Schedule.Workers, AblatePoints: len(s.settings()),
		Interval: s.overDays, Crossed: s.overDaysAndSeeds, Remark: remark,
	}
	gpus := 0
	for k := range first.base.VCs {
		all, _ := first.base.Devices(&first.base.VCs[k])
		gpus += all
	}
	for _, w := range s.workloads {
		p.Jobs += len(w.base.Jobs)
		if len(w.base.Jobs) >= manyJobs {
			p.Workers = 1
		}
	}
	p.Title = fmt.Sprintf("%s of %s on %s in %s, placement %s", words.Plural(p.Jobs, "job"),
		words.Some(s.Workload.Traces, 4), words.Plural(gpus, "GPU"),
		words.Plural(len(first.base.VCs), "virtual cluster"), c.Placement)
	p.Facts = map[string]any{"traces": s.Workload.Traces, "format": first.format, "gpus": gpus,
		"virtual_clusters": len(first.base.VCs), "begin_s": first.base.Begin, "placement": c.Placement,
		"compat": c.Compat}
	p.Remarks = append(p.Remarks, s.replayed()...)
	p.Remarks = append(p.Remarks, s.resizing()...)
	if c.Compat == CompatLucid {
		p.Remarks = append(p.Remarks, "The faults of Lucid's simulator are kept.")
	}
	if len(c.Types) > 0 {
		p.Remarks = append(p.Remarks, s.typesText())
	}
	p.Metrics = slices.Clone(metrics)
	if c.Spot.Evict {
		p.Metrics = append(p.Metrics, spotMetrics...)
		p.Remarks = append(p.Remarks, s.spotText(p.Jobs))
	}
	if s.countsGPUTime() {
		p.Metrics = append(p.Metrics, gpuTime)
	}
	if c.Power.on() {
		p.Metrics = append(p.Metrics, energyMetric)
	}
	s.withLimits(p)
	p.Points = s.points()
	p.NoQuirks = c.Compat == compatNone
	seeds := s.withFailures(p)
	if s.Growth.On() || s.Resizing.draws() || s.Live.Waits() && s.Schedule.Seeds > 1 {
		p.PairSeeds, seeds = true, s.seeds()
	}
	s.withAdaptation(p)
	for _, key := range compared {
		if slices.ContainsFunc(p.Metrics, func(m study.Metric) bool { return m.Key() == key }) {
			p.Compared = append(p.Compared, key)
		}
	}
	var oracles []string
	for k, name := range s.Schedule.Schedulers {
		policy := s.policy(name)
		one := study.Scheduler{Name: policy.Name, Seeds: seeds}
		if k < len(s.candidates) && s.candidates[k].IsLearned() {
			p.Remarks = append(p.Remarks, s.aboutLearned(k, seeds)...)
			if len(seeds) == 0 {
				one.Learned = s.candidates[k].Policies()
			}
		}
		if first.oracle(policy) {
			one.Mark = oracleMark
			oracles = append(oracles, policy.Name)
		}
		p.Schedulers = append(p.Schedulers, one)
		if s.Schedule.Ablate && c.Compat == compatNone && len(policy.Quirks) > 0 {
			p.Ablation = append(p.Ablation, study.Ablation{Scheduler: k, Quirks: policy.Quirks})
		}
	}
	p.Remarks = append(p.Remarks, s.withoutEffect(p)...)
	if len(oracles) > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("Schedulers marked %s (%s) have the true durations of jobs, which a "+
			"real scheduler does not have.", oracleMark, strings.Join(oracles, ", ")))
	}
	return p
}

// withoutEffect names the keys that are set and have no effect.
func (s *simulations) withoutEffect(p *study.Plan) (list []string) {
	if s.Schedule.Ablate && len(p.Ablation) == 0 {
		why := "no scheduler of this run has faults of a published simulator"
		if s.Cluster.Compat != compatNone {
			why = "cluster.compat keeps all faults of the published simulator"
		}
		list = append(list, "schedule.ablate has no effect: "+why+".")
	}
	types := s.workloads[0].base.Types
	unsized := func(t cluster.NodeType) bool { return t.GPUs == 0 }
	if s.Cluster.PerNode != usualPerNode && len(types) > 0 && !slices.ContainsFunc(types, unsized) {
		list = append(list, "cluster.gpus_per_node has no effect: each type of nodes has its own number of GPUs.")
	}
	return list
}

// withFailures adds the failures of nodes to a plan. It returns the seeds of the simulations, or nil if no failures are
// drawn.
func (s *simulations) withFailures(p *study.Plan) (seeds []uint64) {
	source := s.workloads[0].failing
	if source == nil {
		return nil
	}
	p.Metrics, p.PairSeeds = append(p.Metrics, failureMetrics...), true
	if names := source.NodeNames(s.workloads[0].base.VCs); names != nil {
		p.Facts[study.NodeNames] = names
	}
	p.Remarks = append(p.Remarks, "Nodes fail: "+source.String()+".")
	if source.Trace == nil {
		return nil
	}
	return s.seeds()
}

// seeds lists the seeds of the simulations.
func (s *simulations) seeds() (seeds []uint64) {
	for k := range s.Schedule.Seeds {
		seeds = append(seeds, s.Schedule.Seed+uint64(k))
	}
	return seeds
}

// oracleMark is the mark of schedulers that use the true durations of jobs.
const oracleMark = "*"

// overDays computes the interval of a mean over jobs. It resamples whole days: days of the simulated arrivals, or of
// the trace for differences from the baseline.
func (s *simulations) overDays(of study.Of, point, workload int, samples []float64) *study.Interval {
	jobs := s.workloads[workload].base.Jobs
	if of != study.OfDifference {
		if jobs = s.jobsAt(point, workload); jobs == nil {
			return nil
		}
	}
	return interval(cluster.OverDays(jobs, samples))
}

// jobsAt returns the jobs of a workload at a point; nil if they cannot be computed.
func (s *simulations) jobsAt(point, workload int) []trace.Job {
	at, err := s.workloads[workload].with(cluster.Policy{}, s.settings()[point].factor)
	if err != nil {
		return nil
	}
	return at.Jobs
}

// overDaysAndSeeds computes the interval of a mean over jobs and seeds.
func (s *simulations) overDaysAndSeeds(point int, samples [][]float64) *study.Interval {
	jobs := s.jobsAt(point, 0)
	if jobs == nil {
		return nil
	}
	return interval(cluster.OverDaysAndSeeds(jobs, samples))
}

func interval(i cluster.Interval) *study.Interval {
	return &study.Interval{Mean: study.Number(i.Mean), Low: study.Number(i.Low), High: study.Number(i.High)}
}

// remark explains the intervals.
func remark(*study.Outcome) []string {
	return []string{"95% intervals over jobs are bootstrapped over days of submission and need at least two days."}
}

// Simulate runs one simulation of the plan.
func (s *simulations) Simulate(ctx context.Context, c *study.Cell) (*study.Result, error) {
	kinds := s.kinds(c.Scheduler)
	policy := kinds[c.Run%len(kinds)]
	w, at := s.workloads[c.Workload], s.settings()[c.Point]
	one, err := w.with(policy, at.factor)
	if err != nil {
		return nil, err
	}
	if w.population != nil {
		one.Learner = w.population.Learner(at.growing, c.Seed)
	}
	one.Resizable = s.Resizing.resizable(at.resizable, c.Seed)
	if at.adapts {
		one.Learner = live.Learners(ctx, w.env.Trainer, c.Run, w.live())
	}
	if one.Failures, err = w.failures(c.Seed); err != nil {
		return nil, err
	}
	o := cluster.Options{Placement: s.Cluster.Placement, Quirks: s.quirks(policy), Workers: s.Schedule.Workers,
		Series: s.Cluster.UsageEvery > 0, Follow: w.live()}
	if c.Ablated {
		o.Quirks, o.Series, o.Follow = c.Quirks, false, nil
	}
	out, err := one.Run(ctx, policy, o)
	if err != nil {
		return nil, err
	}
	z := &cluster.Summarizer{}
	values := valuesOf(out, z)
	s.addLimits(values, out, one)
	s.Cluster.Power.addEnergy(values, out)
	w.addLive(values, out)
	r := &study.Result{Values: values, Parts: partsOf(out, z), Left: leftOut(out.Refused),
		Samples: out.Completions()}
	if s.countsGPUTime() {
		addGPUTime(r, out)
	}
	return r, s.write(c.Tables, out)
}
