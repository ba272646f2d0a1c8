package lucid

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"graft/cluster"
)

// memory caches the profiler's last results of a study. Quirks do not change them, so simulations that differ only in
// quirks run the profiler once.
type memory struct {
	mu        sync.Mutex
	study     *cluster.Study
	placement string
	seen      []*cluster.Job
	scalings  []scaling
	used      cluster.PoolOutcome
}

// remembered is the largest number of jobs whose profiles are kept. Larger studies need the memory for the next
// simulation.
const remembered = 200_000

// of runs the profiler for a run, unless its result is cached.
func (l *memory) of(ctx context.Context, r *cluster.Run, o Options, likes []*cluster.Job,
	until int64) ([]*cluster.Job, []scaling, cluster.PoolOutcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.study == r.Study && l.placement == r.Placement {
		return l.seen, l.scalings, l.used, nil
	}
	seen := cluster.NewJobs(likes, func(j *cluster.Job) int64 { return min(j.Trace.Duration, o.Limit) })
	sched := &profiler{waiting: cluster.NewQueue(devices), largest: o.Largest, forecast: r.Forecast}
	used, err := r.Try(ctx, "profiler", o.Nodes, seen, sched, until)
	if err != nil {
		return nil, nil, used, err
	}
	if len(seen) <= remembered {
		l.study, l.placement, l.seen, l.scalings, l.used = r.Study, r.Placement, seen, sched.scalings, used
	}
	return seen, sched.scalings, used, nil
}

// profile runs jobs on the profiler's nodes and records when each was profiled. Jobs that end there are done.
func profile(ctx context.Context, r *cluster.Run, o Options, last *memory) error {
	only := len(o.From) == 0 && len(r.Pools) == 1
	o.applyDefaults(r)
	likes, until := profiled(r, o)
	for _, name := range o.From {
		p := r.Pool(name)
		if p == nil || p.Nodes == 0 || p.Nodes == 1 && only {
			return fmt.Errorf("virtual cluster %q is unknown or has no nodes left for the profiler; name another "+
				"virtual cluster in lucid.from, or give the cluster more nodes", name)
		}
		p.Nodes--
	}
	if o.Largest > o.devices(r) {
		return fmt.Errorf("the profiler has %d devices, but must profile jobs that request up to %d devices; give it "+
			"more nodes, or lower the limit of GPUs per job", o.devices(r), o.Largest)
	}
	seen, scalings, used, err := last.of(ctx, r, o, likes, until)
	if err != nil {
		return err
	}
	r.Reserve(used)
	for k, j := range likes {
		record(j, seen[k], o.Limit, r.Quirks.Keeps(freeProfiling))
	}
	r.Counts = map[string]int{"profiler_scalings": len(scalings)}
	for _, p := range r.Pools {
		slices.SortStableFunc(p.Jobs, func(a, b *cluster.Job) int { return int(a.Arrival - b.Arrival) })
		if p.Name == o.Echo {
			p.Changes = echo(scalings)
		}
	}
	return nil
}

// profiled returns the jobs that the profiler runs, and the last submission of all jobs. It gives each job its record.
func profiled(r *cluster.Run, o Options) (seen []*cluster.Job, until int64) {
	records := make([]Job, len(r.Jobs))
	seen = make([]*cluster.Job, 0, len(r.Jobs))
	for k, j := range r.Jobs {
		j.Record = &records[k]
		until = max(until, j.Trace.Submit)
		if j.GPUs <= o.Largest && r.Holds(o.Nodes, j) {
			seen = append(seen, j)
		}
	}
	return seen, until
}

// record stores the profiler's result of a job. Work done in the profiler does not count afterwards, unless the job
// ended there.
func record(j, seen *cluster.Job, limit int64, free bool) {
	known := Of(j)
	known.Profiled, known.ProfileQueue, j.Queue = true, seen.Queue, seen.Queue
	switch {
	case j.Trace.Duration <= limit:
		known.Skipped, j.Start, j.End, j.Nodes = true, seen.Start, seen.End, seen.Nodes
	case !free:
		j.Arrival = seen.End
	}
}

// echo takes a node from a pool while the profiler has one more.
func echo(scalings []scaling) []cluster.NodeChange {
	var at []int64
	var nodes []int
	for _, s := range scalings {
		at, nodes = append(at, s.at), append(nodes, -s.nodes)
	}
	return Scale(at, nodes)
}
