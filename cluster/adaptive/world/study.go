package world

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/words"
)

// simulations runs the cells of a file.
type simulations struct {
	study.Unprepared
	*File
}

// Keys of the metrics that compare decisions with their upper bound.
const (
	gapMean   = "search_gap_mean_share"
	gapWorst  = "search_gap_worst_share"
	decisions = "decisions"
)

// metrics of a simulation. Time to completion counts from submission to the end of a job.
var metrics = []study.Metric{
	{Name: "jct_mean", Unit: "s", Title: "mean JCT", About: "mean time from submission to the end of a job",
		Better: study.Lower, Format: "%.1f", Main: true},
	{Name: "jct_p50", Unit: "s", Title: "p50", About: "median JCT",
		Better: study.Lower, Format: "%.1f"},
	{Name: "jct_p99", Unit: "s", Title: "p99", About: "99th percentile of JCT",
		Better: study.Lower, Format: "%.1f", Main: true},
	{Name: "makespan", Unit: "s", Title: "makespan", About: "time from the first submission to the end of the last job",
		Better: study.Lower, Format: "%.0f", Main: true},
	{Name: "queue_mean", Unit: "s", Title: "queue", About: "mean time from submission to the first start of a job",
		Better: study.Lower, Format: "%.0f"},
	{Name: "device_time", Unit: "h", Title: "device time", About: "device time of all jobs",
		Better: study.Lower, Format: "%.1f"},
	{Name: "used", Unit: "share", Title: "used", About: "share of the device time allocated to jobs, from the first " +
		"submission to the end of the last job", Better: study.Higher},
	{Name: "restarts", Title: "restarts", About: "device changes of running jobs, including preemptions",
		Better: study.Lower, Format: "%.0f"},
	{Name: "goodput", Title: "goodput", About: "device time that all jobs need one at a time on one device " +
		"with the smallest batch, divided by the device time that they used; 1 means no loss",
		Better: study.Higher, Format: "%.2f"},
	{Name: "search_gap_mean", Unit: "share", Title: "gap", About: "mean relative gap between the objective of " +
		"a decision and its upper bound", Better: study.Lower, Hidden: true},
	{Name: "search_gap_worst", Unit: "share", Title: "worst gap", About: "largest gap", Better: study.Lower,
		Hidden: true},
	{Name: decisions, Title: "decisions", About: "number of decisions that have an upper bound",
		Better: study.Neutral, Total: true, Hidden: true},
}

// Plan lists the simulations to run: one per scheduler, workload, arrival rate and seed.
func (s *simulations) Plan() *study.Plan {
	p := &study.Plan{
		Title: s.title(), Remarks: s.remarks(), Points: s.Schedule.Points(), Workloads: s.names,
		Against: s.Schedule.Against, Metrics: metrics, Rank: []string{"jct_mean_s"}, PairJobs: true, Jobs: s.jobs(),
		Workers: s.Schedule.Workers, Facts: map[string]any{
			"data": s.Adaptive.Data, "traces": s.paths, "nodes": s.Adaptive.Nodes, "devices": s.Adaptive.Devices,
			"interval_s": s.Adaptive.Interval, "compat": s.Adaptive.Compat,
			"quirks": append([]string{}, s.Adaptive.quirks()...),
		},
		Remark: searchRemarks, NoQuirks: len(s.Adaptive.quirks()) == 0,
	}
	for k := range s.schedulers {
		d := &s.schedulers[k]
		one := study.Scheduler{Name: d.Name}
		if d.Rigid != nil {
			one.Mark = rigidMark
		}
		for seed := range s.Schedule.Seeds {
			if d.Kind.Draws {
				one.Seeds = append(one.Seeds, s.Schedule.Seed+uint64(seed))
			}
		}
		p.Schedulers = append(p.Schedulers, one)
		if s.Schedule.Ablate && len(d.quirks()) > 0 {
			p.Ablation = append(p.Ablation, study.Ablation{Scheduler: k, Quirks: d.quirks()})
		}
	}
	return p
}

// remarks describe the quirks and the rigid schedulers.
func (s *simulations) remarks() (texts []string) {
	if quirks := s.Adaptive.quirks(); s.Adaptive.Compat == CompatPollux {
		texts = append(texts, "The faults of Pollux's simulator are kept. Makespan and used device time count from "+
			"second 0, as in Pollux's scripts.")
	} else if len(quirks) > 0 {
		texts = append(texts, "Quirks that are kept: "+words.Some(quirks, len(quirks))+".")
	}
	if slices.ContainsFunc(s.schedulers, func(d Scheduler) bool { return d.Rigid != nil }) {
		texts = append(texts, "Under schedulers marked "+rigidMark+", jobs keep the batch and the devices that "+
			"users request; fair may give them fewer devices.")
		if s.Adaptive.Interference > 0 {
			texts = append(texts, "adaptive.interference does not slow jobs down under schedulers marked "+rigidMark+
				", so that their times are not comparable with the others.")
		}
	}
	if text := s.omitted.Sentence(); text != "" {
		texts = append(texts, text)
	}
	if s.clipped > 0 {
		texts = append(texts, fmt.Sprintf("Jobs that request more GPUs than their application or the cluster allows: "+
			"%d. They get fewer GPUs for the same GPU time.", s.clipped))
	}
	if s.parts > 0 {
		texts = append(texts, trace.PartsSentence(s.parts))
	}
	for k := range s.studies {
		texts = append(texts, s.loadOf(k)...)
	}
	if s.Schedule.Ablate && len(s.names) > 1 {
		texts = append(texts, "Effects of quirks are measured on "+s.names[0]+".")
	}
	return texts
}

// loadOf describes the load of a workload; nothing if it has a single time of submission.
func (s *simulations) loadOf(workload int) []string {
	one := &s.studies[workload]
	need, err := one.DeviceSeconds()
	span := one.Jobs[len(one.Jobs)-1].Submitted - one.Jobs[0].Submitted
	if err != nil || span <= 0 {
		return nil
	}
	devices := s.Adaptive.Nodes * s.Adaptive.Devices
	return []string{fmt.Sprintf("%s: the jobs need %.0f device-hours on the devices that they request, a load of "+
		"%.0f%% on "+
		"%s until the last submission.", s.names[workload], need/3600, 100*need/(span*float64(devices)),
		words.Plural(devices, "device"))}
}

// searchRemarks say how far decisions are from the upper bound, over all cells of a scheduler.
func searchRemarks(o *study.Outcome) (texts []string) {
	type search struct{ decisions, gaps, worst float64 }
	all := map[string]*search{}
	for _, c := range o.Cells {
		n, has := c.Values[decisions]
		if !has {
			continue
		}
		if all[c.Scheduler] == nil {
			all[c.Scheduler] = &search{}
		}
		s := all[c.Scheduler]
		s.gaps += float64(c.Values[gapMean]) * float64(n)
		s.decisions += float64(n)
		s.worst = max(s.worst, float64(c.Values[gapWorst]))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		texts = append(texts, fmt.Sprintf("Over %s of %s, the objective is within %.2f%% of its upper bound on "+
			"average and within %.2f%% in the worst case.", words.Plural(int(s.decisions), "decision"), name,
			100*s.gaps/s.decisions, 100*s.worst))
	}
	return texts
}

// Simulate runs one simulation of the plan.
func (s *simulations) Simulate(ctx context.Context, c *study.Cell) (*study.Result, error) {
	d, err := s.scheduler(s.schedulers[c.Scheduler].Name, c.Seed)
	if err != nil {
		return nil, err
	}
	one := s.studies[c.Workload].Faster(s.Schedule.ArrivalFactors[c.Point])
	if c.Ablated {
		one.Options.Quirks = c.Quirks
	}
	simulate := adapting
	if d.Rigid != nil {
		simulate = rigid
	}
	r, err := simulate(ctx, c.Tables, one, &d)
	if err != nil {
		return nil, err
	}
	if s.Adaptive.Compat != CompatPollux {
		r.begin = one.Jobs[0].Submitted
	}
	return &study.Result{Values: r.values(), Samples: r.times()}, r.write(c.Tables)
}
