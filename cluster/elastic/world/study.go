package world

import (
	"context"
	"fmt"
	"math"
	"slices"

	"graft/cluster"
	"graft/cluster/elastic"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/stat"
	"graft/internal/words"
	"graft/results"
)

// simulations runs the cells of a file.
type simulations struct {
	study.Unprepared
	*File
}

// metrics of a simulation. Time to completion counts from the beginning of the slot of arrival.
var metrics = []study.Metric{
	{Name: "jct_mean", Unit: "slots", Title: "mean JCT", About: "mean time from arrival to completion of a job",
		Better: study.Lower, Format: "%.2f", Main: true},
	{Name: "jct_p50", Unit: "slots", Title: "p50", About: "median JCT",
		Better: study.Lower, Format: "%.2f"},
	{Name: "jct_p95", Unit: "slots", Title: "p95", About: "95th percentile of JCT",
		Better: study.Lower, Format: "%.2f", Main: true},
	{Name: "makespan", Unit: "slots", Title: "makespan", About: "end of the last job", Better: study.Lower,
		Format: "%.2f", Main: true},
	{Name: "reward_mean", Title: "reward", About: "mean reward of a slot", Better: study.Higher, Format: "%.3f",
		Main: true},
	{Name: "simulated", Unit: "slots", Title: "slots", About: "simulated slots", Better: study.Neutral,
		Hidden: true},
}

// Plan lists the simulations to run: one per scheduler, workload and seed.
func (s *simulations) Plan() *study.Plan {
	o := s.studies[0].Options
	p := &study.Plan{
		Title: s.title(), Points: []study.Point{{}}, Workloads: s.names, Against: s.Schedule.Against,
		Metrics: metrics, Rank: []string{"jct_mean_slots"}, PairJobs: true, Workers: s.Schedule.Workers,
		Facts: map[string]any{
			"traces": s.Workload.Traces, "nodes": o.Nodes, "slot_s": o.Slot, "scaling": s.Elastic.Scaling,
			"compat": s.Elastic.Compat,
		},
		References: s.bounds,
	}
	if s.Elastic.Compat == CompatDL2 {
		p.Remarks = append(p.Remarks, "The faults of DL2's simulator are kept.")
	}
	p.Remarks = append(p.Remarks, s.slotRemarks()...)
	for k := range s.studies {
		p.Jobs += len(s.studies[k].Jobs)
		if load := s.studies[k].Load(); !math.IsNaN(load) {
			p.Remarks = append(p.Remarks, fmt.Sprintf("%s: at their most efficient numbers of workers and "+
				"servers, the "+
				"jobs need %.0f%% of the cluster until the last arrival.", s.names[k], 100*load))
		}
	}
	p.NoQuirks = !slices.ContainsFunc(s.studies, func(one elastic.Study) bool { return len(one.Options.Quirks) > 0 })
	seeds := s.seeds()
	p.PairSeeds = seeds != nil // schedulers meet the same errors of speeds with the same seed
	for k := range s.schedulers {
		l := &s.schedulers[k]
		one := study.Scheduler{Name: l.Kind.Name, Seeds: seeds}
		if n := l.Policies(); seeds == nil {
			one.Learned = n
		} else if n > 1 {
			p.Remarks = append(p.Remarks, fmt.Sprintf("%s has %d learned policies; the %s of this run use them in "+
				"turn.", l.Kind.Name, n, words.Plural(len(seeds), "seed")))
		}
		p.Schedulers = append(p.Schedulers, one)
		p.Remarks = append(p.Remarks, l.Remarks(l.Kind.Name, s.setting)...)
		if s.Schedule.Ablate && len(l.Kind.Quirks) > 0 {
			p.Ablation = append(p.Ablation, study.Ablation{Scheduler: k, Quirks: l.Kind.Quirks})
		}
	}
	return p
}

// seeds lists the seeds of speed errors; nil if speeds have no errors, or if the file has only the default seed. There
// is a seed for each policy of a learned scheduler, even if the file has fewer seeds.
func (s *simulations) seeds() (seeds []uint64) {
	draws := func(one elastic.Study) bool { return one.Options.SpeedError > 0 }
	if s.Schedule.Seeds == 1 && s.Schedule.Seed == 0 || !slices.ContainsFunc(s.studies, draws) {
		return nil
	}
	count := s.Schedule.Seeds
	for k := range s.schedulers {
		count = max(count, s.schedulers[k].Policies())
	}
	for k := range count {
		seeds = append(seeds, s.Schedule.Seed+uint64(k))
	}
	return seeds
}

// usualGPUs is the number of GPUs of a node in most clusters whose traces are public.
const usualGPUs = 8

// slotRemarks say how many slots nodes need if a worker is to be a GPU of a cluster trace, and takes several slots.
func (f *File) slotRemarks() []string {
	var worker, server elastic.Resources
	for _, t := range f.studies[0].Types {
		for k := range worker {
			worker[k], server[k] = max(worker[k], t.Worker[k]), max(server[k], t.Server[k])
		}
	}
	slots, have := worker[elastic.GPU], f.studies[0].Options.PerNode[elastic.GPU]
	var list []string
	if text := f.inputs.omitted.Sentence(); text != "" {
		list = append(list, text)
	}
	if f.inputs.parts > 0 {
		list = append(list, trace.PartsSentence(f.inputs.parts))
	}
	if n := f.inputs.clipped; n > 0 {
		list = append(list, fmt.Sprintf("%s requested more than %d GPUs (elastic.max_workers); each counts as a job "+
			"of %[2]d GPUs with the same duration.", words.Plural(n, "job"), f.studies[0].Options.Most))
	}
	if !f.inputs.clustered || slots < 2 || have >= usualGPUs*slots {
		return list
	}
	return append(list, fmt.Sprintf("Each GPU of the trace becomes a worker, which takes up to %d GPU slots, so a "+
		"node with %d GPU slots holds %d of them. To simulate nodes with %d GPUs, use --set "+
		"elastic.gpus_per_node=%d --set elastic.cpus_per_node=%d.", slots, have, have/slots, usualGPUs,
		usualGPUs*slots, usualGPUs*(worker[elastic.CPU]+server[elastic.CPU])))
}

// bounds returns lower bounds on the mean time to completion.
func (s *simulations) bounds(context.Context) ([]study.Reference, error) {
	var values []float64
	for k := range s.studies {
		b, err := elastic.LowerBound(s.studies[k])
		if err != nil {
			return nil, err
		}
		values = append(values, b.Mean)
	}
	about := "no scheduler can have a smaller mean"
	r := study.NewReference("lower bound", about, "jct_mean_slots", "", values)
	r.Bound = true
	return []study.Reference{r}, nil
}

// Simulate runs one simulation of the plan.
func (s *simulations) Simulate(ctx context.Context, c *study.Cell) (*study.Result, error) {
	one := s.studies[c.Workload]
	if c.Ablated {
		one.Options.Quirks = cluster.Quirks(c.Quirks)
	}
	kinds := s.schedulers[c.Scheduler].Kinds()
	if s.seeds() != nil {
		one.Options.Seed = c.Seed
	}
	w, err := elastic.NewWorld(one)
	if err != nil {
		return nil, err
	}
	r, err := record(ctx, c.Tables, w, kinds[c.Run%len(kinds)])
	if err != nil {
		return nil, err
	}
	times := make([]float64, len(r.Completions))
	for k := range r.Completions {
		times[k] = r.Completions[k].JCT
	}
	sorted := slices.Sorted(slices.Values(times))
	result := &study.Result{Samples: times, Values: study.Values{
		"jct_mean_slots": study.Number(r.MeanJCT), "jct_p50_slots": study.Number(stat.Quantile(sorted, 0.5)),
		"jct_p95_slots": study.Number(stat.Quantile(sorted, 0.95)), "makespan_slots": study.Number(r.Makespan),
		"reward_mean": study.Number(r.MeanReward), "simulated_slots": study.Number(r.Slots),
	}, Facts: map[string]string{"allocations_sha256": r.Allocations}}
	return result, c.Tables.Write(study.JobsTable, jobColumns, func(rows *study.Rows) error {
		for _, c := range r.Completions {
			rows.Int(int64(c.ID)).Text(c.Type).Int(int64(c.Arrival)).Float(c.End).Float(c.JCT).End()
		}
		return nil
	})
}

var jobColumns = []results.Column{
	{Name: study.JobColumn, Kind: results.Int}, {Name: "type", Kind: results.String},
	{Name: "arrival", Unit: "slots", Kind: results.Int}, {Name: "end", Unit: "slots"}, {Name: "jct", Unit: "slots"},
}

var seriesColumns = []results.Column{
	{Name: "time", Unit: "slots", Kind: results.Int}, {Name: "unfinished", Unit: "jobs", Kind: results.Int},
	{Name: "running", Unit: "jobs", Kind: results.Int}, {Name: "workers", Unit: "tasks", Kind: results.Int},
	{Name: "servers", Unit: "tasks", Kind: results.Int}, {Name: "cpu_used", Unit: "share"},
	{Name: "gpu_used", Unit: "share"},
}

var allocationColumns = []results.Column{
	{Name: "time", Unit: "slots", Kind: results.Int}, {Name: study.JobColumn, Kind: results.Int},
	{Name: "workers", Kind: results.Int}, {Name: "servers", Kind: results.Int},
}

// record simulates a world and writes its slots and allocations to tables while it runs.
func record(ctx context.Context, t *study.Tables, w *elastic.World,
	kind elastic.Kind) (result *elastic.Result, err error) {
	if t == nil {
		return w.Run(ctx, kind)
	}
	err = t.Write(study.SeriesTable, seriesColumns, func(slots *study.Rows) error {
		return t.Write(study.AllocationsTable, allocationColumns, func(allocations *study.Rows) error {
			w.Decided = func(w *elastic.World) { addSlot(w, slots, allocations) }
			result, err = w.Run(ctx, kind)
			return err
		})
	})
	return result, err
}

// addSlot adds a scheduler's decisions.
func addSlot(w *elastic.World, slots, allocations *study.Rows) {
	running, workers, servers := 0, 0, 0
	for _, j := range w.Jobs() {
		if len(j.Workers)+len(j.Servers) > 0 {
			running, workers, servers = running+1, workers+len(j.Workers), servers+len(j.Servers)
			allocations.Ints(w.Slot(), j.ID, len(j.Workers), len(j.Servers)).End()
		}
	}
	slots.Ints(w.Slot(), len(w.Jobs()), running, workers, servers)
	used, total := w.Used(), w.Total()
	for k := range used {
		slots.Float(float64(used[k]) / float64(max(1, total[k])))
	}
	slots.End()
}
