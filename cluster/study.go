package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"

	"graft/cluster/trace"
	"graft/parallel"
)

// Study is a trace, a cluster, and what is known about the jobs beforehand. It is not
// changed by simulations, which may run at the same time.
type Study struct {
	Jobs    []trace.Job // in the order of submission; required
	VCs     []trace.VC  // virtual clusters; required
	PerNode int         // devices of a node, up to 64; zero is 8
	CPUs    int         // processors of a node, of which jobs get as many as they ask for; zero does not count them
	Begin   int64       // second at which simulations begin; earlier jobs are refused

	Estimates []float64 // seconds that each job is expected to take, NaN where unknown; nil is of none
	Profiles  *Profiles // of the models that jobs train; nil is of none
	Forecast  *Forecast // of what will be submitted; nil is none
}

// Validate lists all that is wrong with a study.
func (s *Study) Validate() error {
	var faults []error
	if len(s.VCs) == 0 {
		faults = append(faults, errors.New("there is no virtual cluster; name at least one with its nodes"))
	}
	seen := map[string]bool{}
	for _, vc := range s.VCs {
		if vc.Nodes < 0 || seen[vc.Name] {
			faults = append(faults, fmt.Errorf("virtual cluster %q has %d nodes or is named twice", vc.Name, vc.Nodes))
		}
		seen[vc.Name] = true
	}
	if s.CPUs < 0 {
		faults = append(faults, fmt.Errorf("nodes of %d processors; there are none or more", s.CPUs))
	}
	if s.PerNode < 0 || s.PerNode > 64 {
		faults = append(faults, fmt.Errorf("nodes of %d devices; there may be 1 to 64", s.PerNode))
	}
	if s.Estimates != nil && len(s.Estimates) != len(s.Jobs) {
		faults = append(faults, fmt.Errorf("%d estimates of %d jobs; there must be one of each", len(s.Estimates), len(s.Jobs)))
	}
	if s.Begin < 0 {
		faults = append(faults, fmt.Errorf("simulations would begin at second %d; they begin at zero or later", s.Begin))
	}
	if n := len(s.Jobs); n > 0 && s.Jobs[n-1].Submit > longest {
		faults = append(faults, fmt.Errorf("job %s was submitted at %d; no time is later than %d", s.Jobs[n-1].ID, s.Jobs[n-1].Submit, longest))
	}
	for k := range s.Jobs {
		if from := s.Jobs[max(0, k-1)].Submit; s.Jobs[k].Submit < from {
			faults = append(faults, fmt.Errorf("job %s was submitted at %d, before %d; put jobs in the order of submission", s.Jobs[k].ID, s.Jobs[k].Submit, from))
			break
		}
	}
	return errors.Join(faults...)
}

// longest is the longest time that is simulated, in seconds: some ten thousand years.
const longest = int64(1) << 38

// Options are how a study is simulated. The zero value is one way to do it.
type Options struct {
	Placement string // of Placers; empty is "consolidate"
	Quirks    Quirks // faults of the first simulator that are kept; zero is none
	Workers   int    // pools that are simulated at a time; zero is one for each processor
	Follow    string // job whose changes are kept; empty is none
	Series    bool   // whether to keep how pools were used over time
	Horizon   int64  // second up to which the use of devices is counted; zero is the last submission
}

// Policy is a way to schedule a cluster.
type Policy struct {
	Name     string // by which it is called
	About    string // what it does, in a line
	Extra    bool   // whether it has the quirk of the extra second
	Estimate bool   // whether it needs estimates
	// Prepare looks at the whole cluster before its pools are simulated; nil for nothing.
	Prepare func(ctx context.Context, r *Run) error
	// New makes the scheduler of a pool.
	New func(s Setup) (Scheduler, error)
}

// Setup is what a scheduler is made for.
type Setup struct {
	Pool   *PoolRun // with its jobs, as they were prepared
	Study  *Study   // of which it is a part
	Quirks Quirks   // that are kept
	Extra  int64    // seconds that jobs keep their devices for at the end
}

// Run is a simulation of a study while it is prepared.
type Run struct {
	*Study
	Options
	Pools  []*PoolRun // in the order of the virtual clusters
	Jobs   []*Job     // all that are simulated, in the order of submission
	Scaled int        // how often a profiler grew or shrank
	place  Placer
	policy Policy
	empty  map[int]*Nodes // on which nothing runs, by their number
}

// PoolRun is a pool while its simulation is prepared.
type PoolRun struct {
	Name  string // of the virtual cluster
	Nodes int    // that it has
	Jobs  []*Job // in the order of arrival
	Until int64  // it is simulated at least up to here
	// Scalings are when a node comes or goes, in order. One that goes must be idle, or
	// stays.
	Scalings []Scaling

	admitted int   // jobs that can be simulated
	memory   []Job // in which they lie

	changes []Change
	usage   []Usage
	done    PoolOutcome
}

// Scaling is a node that comes or goes.
type Scaling struct {
	At    int64 // second, after all else that happens in it
	Nodes int   // 1 is one that comes, -1 one that goes
}

// Run simulates a study under a policy.
func (s *Study) Run(ctx context.Context, policy Policy, o Options) (*Outcome, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("simulate %s: %w", policy.Name, err)
	}
	if policy.Estimate && s.Estimates == nil {
		return nil, fmt.Errorf("simulate %s: there are no estimates of how long jobs take; name a file of them with --estimates", policy.Name)
	}
	r := &Run{Study: s, Options: o, policy: policy}
	var err error
	if r.place, err = PlacerNamed(o.Placement); err != nil {
		return nil, fmt.Errorf("simulate %s: %w", policy.Name, err)
	}
	if r.Horizon == 0 && len(s.Jobs) > 0 {
		r.Horizon = s.Jobs[len(s.Jobs)-1].Submit
	}
	refused := r.admit()
	if policy.Prepare != nil {
		if err := policy.Prepare(ctx, r); err != nil {
			return nil, fmt.Errorf("simulate %s: %w", policy.Name, err)
		}
	}
	refused = append(refused, r.refuseLarge()...)
	if err := r.simulate(ctx); err != nil {
		return nil, fmt.Errorf("simulate %s: %w", policy.Name, err)
	}
	return r.outcome(refused), nil
}

// perNode is how many devices a node has.
func (s *Study) perNode() int {
	if s.PerNode == 0 {
		return 8
	}
	return s.PerNode
}

// admit takes up the jobs that can be simulated, and says why others cannot.
func (r *Run) admit() []Refusal {
	pools := map[string]*PoolRun{}
	for _, vc := range r.VCs {
		pools[vc.Name] = &PoolRun{Name: vc.Name, Nodes: vc.Nodes}
		r.Pools = append(r.Pools, pools[vc.Name])
	}
	var refused []Refusal
	of := make([]*PoolRun, len(r.Study.Jobs)) // nil is a job that is refused
	known := newIDs(r.Study.Jobs)
	for k := range r.Study.Jobs {
		t := &r.Study.Jobs[k]
		pool := pools[t.VC]
		why := refusal(t, pool, r.Begin)
		if why == "" && !known.isNew(k) {
			why = "another job has its id"
		}
		if why != "" {
			refused = append(refused, Refusal{t.ID, why})
			continue
		}
		of[k] = pool
		pool.admitted++
	}
	r.settle(of)
	return refused
}

// settle makes the jobs: those of a pool beside each other, as they are simulated.
func (r *Run) settle(of []*PoolRun) {
	for _, pool := range r.Pools {
		pool.memory = make([]Job, 0, pool.admitted)
		pool.Jobs = make([]*Job, 0, pool.admitted)
	}
	r.Jobs = make([]*Job, 0, len(of))
	for k, pool := range of {
		if pool == nil {
			continue
		}
		pool.memory = append(pool.memory, newJob(&r.Study.Jobs[k], r.estimate(k)))
		j := &pool.memory[len(pool.memory)-1]
		j.Index = k
		if r.CPUs > 0 {
			j.cpus = (j.Trace.CPUs + j.GPUs - 1) / j.GPUs
		}
		pool.Jobs, r.Jobs = append(pool.Jobs, j), append(r.Jobs, j)
	}
}

// estimate is what is expected of a job of the study.
func (s *Study) estimate(k int) float64 {
	if s.Estimates == nil {
		return math.NaN()
	}
	return s.Estimates[k]
}

// refusal says why a job cannot be simulated; empty is that it can.
func refusal(t *trace.Job, pool *PoolRun, begin int64) string {
	switch {
	case t.Submit < begin:
		return "submitted before simulations begin"
	case pool == nil:
		return "unknown virtual cluster"
	case t.GPUs <= 0:
		return "no devices asked for"
	case t.Duration < 0:
		return "negative duration"
	case t.Duration > longest:
		return "duration out of range"
	}
	return ""
}

// NewJobs are jobs like others that are to run for other times, for simulations of a part.
func NewJobs(like []*Job, seconds func(j *Job) int64) []*Job {
	memory, list := make([]Job, len(like)), make([]*Job, len(like))
	for k, j := range like {
		memory[k] = newJob(j.Trace, math.NaN())
		memory[k].cpus = j.cpus
		memory[k].work, list[k] = float64(seconds(j)), &memory[k]
	}
	return list
}

func newJob(t *trace.Job, estimate float64) Job {
	return Job{Trace: t, GPUs: t.GPUs, asked: t.GPUs, Arrival: t.Submit, Estimate: estimate, Priority: -1, Start: Never, End: Never, run: waitingRun, work: float64(t.Duration), rate: 1}
}

// refuseLarge leaves jobs out that are larger than their pool, which would wait for ever.
func (r *Run) refuseLarge() []Refusal {
	var refused []Refusal
	for _, pool := range r.Pools {
		kept := pool.Jobs[:0]
		for _, j := range pool.Jobs {
			if j.GPUs > pool.Nodes*r.perNode() && !j.Skipped {
				refused = append(refused, Refusal{j.Trace.ID, "larger than its virtual cluster"})
				j.run = refusedRun
				continue
			}
			if !j.Skipped && !r.Holds(pool.Nodes, j) {
				refused = append(refused, Refusal{j.Trace.ID, "more processors than the nodes have"})
				j.run = refusedRun
				continue
			}
			kept = append(kept, j)
		}
		pool.Jobs = kept
	}
	return refused
}

// Marks in place of a job's place in the order of starts.
const (
	waitingRun = -1 // it waits, has not come yet or has ended
	refusedRun = -2 // it was left out
)

// Holds reports whether a job finds a place on so many nodes where nothing else runs, as far as
// processors go.
func (r *Run) Holds(nodes int, j *Job) bool {
	if r.CPUs == 0 || j.cpus == 0 || j.GPUs > nodes*r.perNode() {
		return true
	}
	if r.empty[nodes] == nil {
		if r.empty == nil {
			r.empty = map[int]*Nodes{}
		}
		r.empty[nodes] = newNodes(nodes, r.perNode())
		r.empty[nodes].cpus = r.CPUs
	}
	_, ok := r.place.Place(r.empty[nodes].at(j), j.GPUs, nil)
	return ok
}

// simulate simulates the pools, several at a time.
func (r *Run) simulate(ctx context.Context) error {
	errs := parallel.Each(ctx, len(r.Pools), r.Workers, func(k int) error { return r.pool(ctx, r.Pools[k]) })
	if err := ctx.Err(); err != nil {
		return err // and not once for each pool
	}
	return errs.Join()
}

// pool simulates one pool.
func (r *Run) pool(ctx context.Context, pr *PoolRun) error {
	var arriving []*Job
	for _, j := range pr.Jobs {
		if !j.Skipped {
			if r.policy.Estimate && math.IsNaN(j.Estimate) {
				return fmt.Errorf("virtual cluster %s: it is not known how long job %s will take, which %s needs of each; estimate all jobs", pr.Name, j.Trace.ID, r.policy.Name)
			}
			j.Number = len(arriving)
			arriving = append(arriving, j)
		} else {
			pr.Until = max(pr.Until, j.Trace.Submit)
		}
	}
	setup := Setup{Pool: pr, Study: r.Study, Quirks: r.Quirks}
	if r.Quirks.ExtraSecond && r.policy.Extra {
		setup.Extra = 1
	}
	sched, err := r.policy.New(setup)
	if err != nil {
		return fmt.Errorf("virtual cluster %s: %w", pr.Name, err)
	}
	e := r.engine(pr, arriving, sched, setup.Extra)
	if err := e.run(ctx); err != nil {
		return fmt.Errorf("virtual cluster %s: %w", pr.Name, err)
	}
	pr.close(e)
	return nil
}

// engine is what simulates a pool.
func (r *Run) engine(pr *PoolRun, jobs []*Job, sched Scheduler, extra int64) *engine {
	p := newPool(pr.Nodes, r.perNode(), r.place, r.Quirks, r.Begin)
	p.nodes.cpus = r.CPUs
	p.extra, p.busy.horizon = extra, r.Horizon
	if r.Follow != "" {
		p.changes = func(c Change) {
			if c.Job.Trace.ID == r.Follow {
				pr.changes = append(pr.changes, c)
			}
		}
	}
	e := &engine{pool: p, jobs: jobs, until: pr.Until, scalings: pr.Scalings, sched: sched}
	if r.Series {
		e.each = func() { pr.usage = append(pr.usage, p.usage()) }
	}
	return e
}

// Try simulates jobs on nodes of their own under a scheduler: a part of the cluster that is
// set apart. It goes on at least up to a second.
func (r *Run) Try(ctx context.Context, name string, nodes int, jobs []*Job, sched Scheduler, until int64) error {
	pr := &PoolRun{Name: name, Nodes: nodes, Until: until}
	if err := r.engine(pr, jobs, sched, 0).run(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
