package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"graft/internal/parallel"
)

// Run holds the jobs and pools of a simulation that is being prepared. It is the input of [Policy.Prepare].
type Run struct {
	*Study
	Options
	Pools  []*PoolRun     // pools in the order of the virtual clusters
	Jobs   []*Job         // simulated jobs, in order of submission
	Counts map[string]int // counts that the policy reports for the whole run; may be nil

	policy    Policy
	place     Placer
	resources []Resource        // counted resources other than devices
	varied    bool              // jobs that request equal numbers of devices may need different placements
	typed     typings           // how the jobs use the types of nodes
	empty     map[[3]int]*Nodes // idle nodes, by their number, size and type
	reserved  []PoolOutcome     // see Reserve
}

// PoolRun holds a pool whose simulation is being prepared.
type PoolRun struct {
	Name    string       // name of the virtual cluster
	Nodes   int          // number of nodes
	Jobs    []*Job       // jobs in order of arrival
	Until   int64        // minimum last second of the simulation
	Changes []NodeChange // changes of the pool's nodes, in order of time
	Spares  int          // number of spare nodes, in addition to Nodes

	admitted int   // number of jobs that can be simulated
	trial    bool  // nodes reserved by the policy, on which jobs have no time limits
	types    []int // number of nodes by type; nil if all nodes are alike
	memory   []Job // storage of the jobs

	followed []Change
	usage    []Usage
	done     PoolOutcome
}

// Pool returns the pool of a virtual cluster, or nil if there is no virtual cluster with that name.
func (r *Run) Pool(name string) *PoolRun {
	for _, p := range r.Pools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (r *Run) all(ctx context.Context) (*Outcome, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if n := len(r.Study.Jobs); r.Horizon == 0 && n > 0 {
		r.Horizon = r.Study.Jobs[n-1].Submit
	}
	r.resources = r.Study.resources()
	refused := r.admit()
	if r.policy.Prepare != nil {
		if err := r.policy.Prepare(ctx, r); err != nil {
			return nil, err
		}
	}
	r.refuseLarge(refused)
	if err := r.simulate(ctx); err != nil {
		return nil, err
	}
	return r.outcome(refused.list(r.Study.Jobs)), nil
}

func (r *Run) check() (err error) {
	if err := r.Study.Validate(); err != nil {
		return err
	}
	if r.policy.Estimates != "" && r.Estimates == nil {
		return errors.New("estimated durations of jobs are missing; set schedule.estimates (option estimates) to a " +
			"file")
	}
	if r.policy.Profiles && r.Profiles == nil {
		return errors.New("profiles of models and model pairs are missing; " +
			"set cluster.data (option data) to the folder that contains them")
	}
	r.place, err = PlacerNamed(r.Placement)
	return err
}

func (r *Run) simulate(ctx context.Context) error {
	errs := parallel.Each(ctx, len(r.Pools), r.Workers, func(k int) error { return r.pool(ctx, r.Pools[k]) })
	if err := ctx.Err(); err != nil {
		return err // return it once, instead of once per pool
	}
	if err := errs.Join(); err != nil {
		return err
	}
	r.extend()
	return nil
}

// extend counts the devices of all pools until the last job of any pool has ended, because idle devices count in the
// utilization and the energy.
func (r *Run) extend() {
	last := r.Horizon
	all := make([]*PoolOutcome, 0, len(r.Pools)+len(r.reserved))
	for _, pr := range r.Pools {
		all = append(all, &pr.done)
	}
	for k := range r.reserved {
		all = append(all, &r.reserved[k])
	}
	for _, d := range all {
		last = max(last, d.Last)
	}
	for _, d := range all {
		d.extend(last, r.Horizon)
	}
}

func (r *Run) pool(ctx context.Context, pr *PoolRun) (err error) {
	arriving, err := r.arriving(pr)
	if err != nil {
		return fmt.Errorf("virtual cluster %s: %w", pr.Name, err)
	}
	_, linked := r.speed().(LinkModel)
	setup := Setup{Pool: pr, Study: r.Study, Quirks: r.Quirks, Extra: r.extra(),
		Typed: r.typed.differ, Linked: linked,
		Varied: r.varied || len(r.resources) > 0 || r.Failures != nil && len(r.Failures.Pools[pr.Name].Drains) > 0}
	var learner Learner
	if r.Study.Learner != nil {
		learner = r.Study.Learner(arriving)
	}
	var spot []*Job
	if r.Spot != nil {
		arriving, spot = divideSpot(arriving)
	}
	e, err := r.scheduled(pr, arriving, setup)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	e.pool.learner = learner
	if len(spot) > 0 {
		below, err := r.scheduled(pr, spot, setup)
		if err != nil {
			return err
		}
		below.each, below.changes = nil, nil
		if below.outages != nil {
			below.outages.lead = e.outages
		}
		e.spot = &spots{Spot: r.Spot, engine: below}
		e.spot.attach(e.pool)
		below.pool.learner = learner
	}
	if err := e.run(ctx); err != nil {
		return fmt.Errorf("virtual cluster %s: %w", pr.Name, err)
	}
	pr.close(e)
	return nil
}

// scheduled makes the engine of a scheduler.
func (r *Run) scheduled(pr *PoolRun, jobs []*Job, setup Setup) (*engine, error) {
	sched, err := r.policy.New(setup)
	if err != nil {
		return nil, fmt.Errorf("virtual cluster %s: %w", pr.Name, err)
	}
	if r.Failures != nil {
		pr.Spares = r.Failures.Spares
		if r.Horizon-r.Begin <= mostFollowed { // nodes also fail after the last job of their pool
			pr.Until = max(pr.Until, r.Horizon)
		}
	}
	e := r.engine(pr, jobs, sched, setup.Extra)
	if r.Failures != nil {
		e.outages = newOutages(r.Failures, pr, e)
	}
	return e, nil
}

// mostFollowed is the longest time for which pools without jobs are simulated, in seconds: ten years. Real traces are
// shorter, and repeated failures over centuries would fill the memory.
const mostFollowed = 10 * 365 * 86_400

// close ends the schedulers that are programs.
func (e *engine) close() (err error) {
	if c, ok := e.sched.(io.Closer); ok {
		err = c.Close()
	}
	if e.spot != nil {
		err = errors.Join(err, e.spot.engine.close())
	}
	return err
}

// divideSpot separates the spot jobs of a pool from the other jobs.
func divideSpot(jobs []*Job) (other, spot []*Job) {
	for _, j := range jobs {
		list := &other
		if j.Trace.Spot {
			list = &spot
		}
		j.Number = int32(len(*list))
		*list = append(*list, j)
	}
	return other, spot
}

// arriving returns the jobs of a pool except jobs that ended during preparation.
func (r *Run) arriving(pr *PoolRun) (jobs []*Job, err error) {
	jobs = pr.Jobs
	ended := func(j *Job) bool { return j.End != Never }
	if slices.ContainsFunc(jobs, ended) {
		jobs = slices.DeleteFunc(slices.Clone(jobs), ended)
		for _, j := range pr.Jobs {
			if ended(j) {
				pr.Until = max(pr.Until, j.Trace.Submit)
			}
		}
	}
	for k, j := range jobs {
		if r.policy.Estimates != "" && math.IsNaN(j.Estimate) {
			return nil, fmt.Errorf("job %s has no estimate, but scheduler %s needs one for every job; add the "+
				"estimate, or use another scheduler", j.Trace.ID, r.policy.Name)
		}
		j.Number = int32(k)
	}
	return jobs, nil
}

func (r *Run) engine(pr *PoolRun, jobs []*Job, sched Scheduler, extra int64) *engine {
	nodes := newNodes(pr.Nodes+pr.Spares, r.perNode(), r.limits(0))
	if pr.types != nil {
		nodes.divide(pr.types, r)
	}
	p := newPool(nodes, r.place, r.speed(), r.Begin)
	if pr.types != nil {
		p.lastTypes = r.typed.last
	}
	p.extra, p.busy.horizon, p.limits = extra, r.Horizon, r.Limits && !pr.trial
	if len(r.Follow) > 0 || r.Options.Changes {
		followed := map[string]bool{}
		for _, id := range r.Follow {
			followed[id] = true
		}
		p.changes = func(c Change) {
			if r.Options.Changes || followed[c.Job.Trace.ID] {
				pr.followed = append(pr.followed, c)
			}
		}
	}
	e := &engine{pool: p, jobs: jobs, until: pr.Until, changes: pr.Changes, sched: sched, wake: Never}
	if r.Series {
		e.each = func() { pr.usage = append(pr.usage, p.usage()) }
	}
	return e
}

// Try simulates jobs under a scheduler on nodes that are reserved for them, and returns the use of these nodes. The
// argument name identifies the simulation in errors. The simulation does not end before the second until.
func (r *Run) Try(ctx context.Context, name string, nodes int, jobs []*Job, sched Scheduler,
	until int64) (PoolOutcome, error) {
	pr := &PoolRun{Name: name, Nodes: nodes, Until: until, trial: true}
	e := r.engine(pr, jobs, sched, 0)
	if err := e.run(ctx); err != nil {
		return PoolOutcome{}, fmt.Errorf("%s: %w", name, err)
	}
	pr.close(e)
	return pr.done, nil
}

// Reserve adds the use of nodes that belong to no pool, as Try returned it, to the utilization and the energy.
func (r *Run) Reserve(used PoolOutcome) { r.reserved = append(r.reserved, used) }
