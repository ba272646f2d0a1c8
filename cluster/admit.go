package cluster

import (
	"maps"
	"math"
	"slices"

	"graft/cluster/trace"
)

// refusals maps the positions of refused jobs in the trace to reasons.
type refusals map[int]string

// list returns the refused jobs in order of submission.
func (r refusals) list(jobs []trace.Job) (list []Refusal) {
	for _, k := range slices.Sorted(maps.Keys(r)) {
		list = append(list, Refusal{jobs[k].ID, r[k]})
	}
	return list
}

// admit prepares the jobs that can be simulated, and returns the others with reasons.
func (r *Run) admit() refusals {
	pools := r.makePools()
	refused := refusals{}
	of := make([]*PoolRun, len(r.Study.Jobs)) // nil for a refused job
	known := newIDs(r.Study.Jobs)
	for k := range r.Study.Jobs {
		t := &r.Study.Jobs[k]
		pool := pools[t.VC]
		if why := refusal(t, pool, r.Begin, known, k); why != "" {
			refused[k] = why
			continue
		}
		of[k] = pool
		pool.admitted++
	}
	r.settle(of)
	return refused
}

// makePools makes the pools of the virtual clusters, and returns them by name.
func (r *Run) makePools() map[string]*PoolRun {
	pools := map[string]*PoolRun{}
	for _, vc := range r.VCs {
		pools[vc.Name] = &PoolRun{Name: vc.Name, Nodes: vc.Nodes, types: r.Study.nodesOf(vc.Name)}
		r.Pools = append(r.Pools, pools[vc.Name])
	}
	return pools
}

// Refusals returns the jobs that simulations leave out, with reasons. A policy that takes nodes may leave out more
// jobs.
func (s *Study) Refusals(placement string) (refused []Refusal, err error) {
	r := &Run{Study: s, resources: s.resources()}
	if r.place, err = PlacerNamed(placement); err != nil {
		return nil, err
	}
	pools, known, j := r.makePools(), newIDs(s.Jobs), &Job{}
	for k := range s.Jobs {
		t := &s.Jobs[k]
		why := refusal(t, pools[t.VC], s.Begin, known, k)
		if why == "" {
			*j = Job{}
			j.begin(t, math.NaN())
			r.demand(j)
			r.allow(j)
			why = r.tooLarge(pools[t.VC], j)
		}
		if why != "" {
			refused = append(refused, Refusal{t.ID, why})
		}
	}
	return refused, nil
}

// settle makes the jobs. Jobs of a pool are adjacent in memory, since they are simulated together. One allocation for
// all pools starts the garbage collector at most once.
func (r *Run) settle(of []*PoolRun) {
	all := 0
	for _, pool := range r.Pools {
		all += pool.admitted
	}
	memory := make([]Job, all)
	for _, pool := range r.Pools {
		pool.memory, memory = memory[:pool.admitted], memory[pool.admitted:]
		pool.Jobs = make([]*Job, 0, pool.admitted)
	}
	r.Jobs = make([]*Job, 0, all)
	if len(r.Types) > 0 {
		r.typed.last = make([]uint8, len(of))
	}
	for k, pool := range of {
		if pool == nil {
			continue
		}
		j := &pool.memory[len(pool.Jobs)]
		j.begin(&r.Study.Jobs[k], r.estimate(k))
		j.Index, j.fixed = int32(k), r.Resizable != nil && !r.Resizable(j.Trace)
		r.demand(j)
		r.allow(j)
		pool.Jobs, r.Jobs = append(pool.Jobs, j), append(r.Jobs, j)
	}
}

// refusal returns why a job of the trace cannot be simulated, whatever its size; empty if it can. The argument known
// has the IDs of the jobs before position k.
func refusal(t *trace.Job, pool *PoolRun, begin int64, known *ids, k int) string {
	switch {
	case t.Submit < begin:
		return "submitted before the simulation begins"
	case pool == nil:
		return "unknown virtual cluster"
	case t.GPUs <= 0:
		return "no devices requested"
	case t.Duration < 0:
		return "negative duration"
	case t.Duration > longest:
		return "duration out of range"
	case !known.isNew(k):
		return "duplicate ID"
	}
	return ""
}

// refuseLarge adds the jobs that could never start because they exceed their pool.
func (r *Run) refuseLarge(refused refusals) {
	for _, pool := range r.Pools {
		kept := pool.Jobs[:0]
		for _, j := range pool.Jobs {
			why := ""
			if j.End == Never {
				why = r.tooLarge(pool, j)
			}
			if why != "" {
				refused[int(j.Index)] = why
				j.Number = refusedNumber
				continue
			}
			kept = append(kept, j)
		}
		pool.Jobs = kept
	}
}

// tooLarge returns the demand of a job that its pool can never satisfy; empty if none exists.
func (r *Run) tooLarge(pool *PoolRun, j *Job) string {
	if pool.types != nil {
		return r.tooLargeOfType(pool, j)
	}
	if j.GPUs > pool.Nodes*r.perNode() {
		return "larger than its virtual cluster"
	}
	return r.lacking(pool.Nodes, r.perNode(), 0, j)
}

// NewJobs returns copies of the jobs in the list "like" for a simulation of a part of the cluster. The function seconds
// returns the run time of each copy.
func NewJobs(like []*Job, seconds func(j *Job) int64) []*Job {
	memory, list := make([]Job, len(like)), make([]*Job, len(like))
	for k, j := range like {
		memory[k].begin(j.Trace, math.NaN())
		memory[k].beside, memory[k].work, list[k] = j.beside, float64(seconds(j)), &memory[k]
		memory[k].fixed = j.fixed
	}
	return list
}

// begin initialises a job that has not arrived.
func (j *Job) begin(t *trace.Job, estimate float64) {
	j.Trace, j.GPUs, j.asked, j.Arrival = t, t.GPUs, int32(t.GPUs), t.Submit
	j.Estimate, j.Priority, j.Start, j.End = estimate, -1, Never, Never
	j.work, j.rate = float64(t.Duration), 1
}
