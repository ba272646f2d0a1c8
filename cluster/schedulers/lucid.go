package schedulers

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"graft/cluster"
)

// LucidOptions are how Lucid profiles jobs. The zero value is what its authors took for
// the cluster Venus, on other clusters as near to it as can be.
type LucidOptions struct {
	Nodes   int      // of the profiler; zero is 2
	Limit   int64    // seconds that a job is profiled for; zero is 200
	Largest int      // devices of the largest job that is profiled; zero is 8, or all that the profiler has
	From    []string // virtual clusters that give the profiler a node each; empty is two of Venus's, or the largest
	Echo    string   // virtual cluster that has a node less while the profiler has one more; empty is one of Venus's, or the largest but those
}

// Validate lists all that is wrong.
func (o LucidOptions) Validate() error {
	if o.Nodes < 0 || o.Limit < 0 || o.Largest < 0 {
		return fmt.Errorf("the profiler has %d nodes, takes %d seconds and jobs of up to %d GPUs; none is negative", o.Nodes, o.Limit, o.Largest)
	}
	if len(o.From) > 0 && o.Nodes > 0 && len(o.From) != o.Nodes {
		return fmt.Errorf("the profiler has %d nodes, and %d virtual clusters give it one each; name as many", o.Nodes, len(o.From))
	}
	return nil
}

// suit sets what is zero, for virtual clusters.
func (o *LucidOptions) suit(r *cluster.Run) {
	if o.Nodes == 0 {
		o.Nodes = 2
	}
	if o.Limit == 0 {
		o.Limit = 200
	}
	if o.Largest == 0 {
		o.Largest = min(8, o.devices(r))
	}
	names := []string{"vc8Gr", "vcefl", "vcYVn"}
	if pool(r, names[0]) == nil || pool(r, names[1]) == nil || pool(r, names[2]) == nil || o.Nodes != 2 {
		names = largest(r, o.Nodes+1)
	}
	if len(o.From) == 0 {
		o.From = names[:min(o.Nodes, len(names))]
	}
	if o.Echo == "" && len(names) > o.Nodes {
		o.Echo = names[o.Nodes]
	}
}

// devices is how many the profiler has.
func (o *LucidOptions) devices(r *cluster.Run) int {
	if r.PerNode == 0 {
		return 8 * o.Nodes
	}
	return r.PerNode * o.Nodes
}

// largest are the names of the pools with the most nodes.
func largest(r *cluster.Run, count int) []string {
	pools := slices.Clone(r.Pools)
	slices.SortStableFunc(pools, func(a, b *cluster.PoolRun) int { return b.Nodes - a.Nodes })
	var names []string
	for _, p := range pools[:min(count, len(pools))] {
		names = append(names, p.Name)
	}
	return names
}

func pool(r *cluster.Run, name string) *cluster.PoolRun {
	for _, p := range r.Pools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Lucid profiles jobs for a short time on nodes set apart, where many end already; then it
// starts the job first that is expected to use the fewest device-seconds, lets others
// overtake where it has no place, and puts jobs that disturb each other little on the same
// devices, unless few jobs are expected (Hu et al., Lucid: a non-intrusive, scalable and
// interpretable scheduler for deep learning training jobs, ASPLOS 2023).
func Lucid(o LucidOptions) cluster.Policy {
	last := &profiles{}
	return cluster.Policy{
		Name:     "lucid",
		About:    "the one expected to use the fewest device-seconds first, after a profile; packs jobs",
		Extra:    true,
		Estimate: true,
		Prepare:  func(ctx context.Context, r *cluster.Run) error { return profile(ctx, r, o, last) },
		New:      newLucid,
	}
}

// profiles are what the profiler saw of a study last. They do not depend on quirks, so that
// simulations which differ in these need them once.
type profiles struct {
	mu        sync.Mutex
	study     *cluster.Study
	placement string
	seen      []*cluster.Job
	scalings  []cluster.Scaling
}

// remembered is up to how many jobs profiles are kept: of more they would need memory that
// the next simulation has a better use for.
const remembered = 200_000

// of are those of a run, taken anew unless they are known.
func (l *profiles) of(ctx context.Context, r *cluster.Run, o LucidOptions, likes []*cluster.Job, until int64) ([]*cluster.Job, []cluster.Scaling, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.study == r.Study && l.placement == r.Placement {
		return l.seen, l.scalings, nil
	}
	seen := cluster.NewJobs(likes, func(j *cluster.Job) int64 { return min(j.Trace.Duration, o.Limit) })
	sched := &profiler{inTurn: inTurn{cluster.NewQueue(devices)}, nodes: o.Nodes, largest: o.Largest, forecast: r.Forecast}
	if err := r.Try(ctx, "profiler", o.Nodes, seen, sched, until); err != nil {
		return nil, nil, err
	}
	if len(seen) <= remembered {
		l.study, l.placement, l.seen, l.scalings = r.Study, r.Placement, seen, sched.scalings
	}
	return seen, sched.scalings, nil
}

// profile runs jobs on the profiler's nodes, and says of each when it was seen. Those that
// end there are done.
func profile(ctx context.Context, r *cluster.Run, o LucidOptions, last *profiles) error {
	o.suit(r)
	likes, until := profiled(r, o)
	for _, name := range o.From {
		p := pool(r, name)
		if p == nil || p.Nodes == 0 {
			return fmt.Errorf("virtual cluster %q has no node for the profiler; name another in LucidOptions.From", name)
		}
		p.Nodes--
	}
	if o.Largest > o.devices(r) {
		return fmt.Errorf("the profiler has %d devices and should see jobs on up to %d; give it more nodes, or see smaller jobs only", o.devices(r), o.Largest)
	}
	seen, scalings, err := last.of(ctx, r, o, likes, until)
	if err != nil {
		return err
	}
	for k, j := range likes {
		took(j, seen[k], o.Limit, r.Quirks.FreeProfiling)
	}
	r.Scaled = len(scalings)
	for _, p := range r.Pools {
		slices.SortStableFunc(p.Jobs, func(a, b *cluster.Job) int { return int(a.Arrival - b.Arrival) })
		if p.Name == o.Echo {
			p.Scalings = echo(scalings)
		}
	}
	return nil
}

// profiled are the jobs that the profiler sees, and when the last job of all was submitted.
func profiled(r *cluster.Run, o LucidOptions) (seen []*cluster.Job, until int64) {
	for _, j := range r.Jobs {
		until = max(until, j.Trace.Submit)
		if j.GPUs <= o.Largest && r.Holds(o.Nodes, j) {
			seen = append(seen, j)
		}
	}
	return seen, until
}

// took notes what the profiler did with a job. What it ran for there counts for nothing
// afterwards, unless the job ended.
func took(j, seen *cluster.Job, limit int64, free bool) {
	j.Profiled, j.ProfileQueue, j.Queue = true, seen.Queue, seen.Queue
	switch {
	case j.Trace.Duration <= limit:
		j.Skipped, j.Start, j.End, j.Nodes = true, seen.Start, seen.End, seen.Nodes
	case !free:
		j.Arrival = seen.End
	}
}

// echo is what a pool loses and gets back with the profiler.
func echo(scalings []cluster.Scaling) []cluster.Scaling {
	var list []cluster.Scaling
	for _, s := range scalings {
		list = append(list, cluster.Scaling{At: s.At, Nodes: -s.Nodes})
	}
	return list
}

// profiler schedules the profiler's nodes: the smallest job first. It gets one more node
// where many wait, and gives it back where few wait and few are expected.
type profiler struct {
	inTurn
	nodes    int
	largest  int
	forecast *cluster.Forecast
	scalings []cluster.Scaling
	spent    bool // the forecast has come to its end
}

// When the profiler grows and shrinks.
const (
	growAbove   = 10  // jobs that wait
	growEvery   = 10  // seconds
	shrinkBelow = 5   // jobs that wait
	shrinkEvery = 100 // seconds
	shrinkLoad  = 5   // times the largest job: devices that are expected to be asked for
)

func (s *profiler) Schedule(p *cluster.Pool) int64 {
	s.inTurn.Schedule(p)
	more, _ := p.HasNode(cluster.Temporary)
	switch now := p.Now(); {
	case !more && s.waiting.Len() > growAbove:
		if now%growEvery != 0 {
			return upTo(now, growEvery)
		}
		p.AddNode()
		s.scalings = append(s.scalings, cluster.Scaling{At: now, Nodes: 1})
		return now + 1
	case more && s.waiting.Len() < shrinkBelow:
		if now%shrinkEvery == 0 {
			s.shrink(p)
		}
		return upTo(now, shrinkEvery)
	}
	return cluster.Never
}

// upTo is the next multiple of some seconds.
func upTo(now, every int64) int64 { return (now/every + 1) * every }

// shrink gives the node back if it is idle and few devices are expected to be asked for.
func (s *profiler) shrink(p *cluster.Pool) {
	if _, idle := p.HasNode(cluster.Temporary); !idle || !s.calm(p.Now()) {
		return
	}
	p.RemoveNode()
	s.scalings = append(s.scalings, cluster.Scaling{At: p.Now(), Nodes: -1})
}

// calm reports whether few devices are expected to be asked for. Without a forecast it is
// calm; in the second in which it is seen to have come to its end it is not.
func (s *profiler) calm(now int64) bool {
	if s.forecast == nil || s.spent {
		return true
	}
	ahead := s.forecast.Ahead(s.forecast.GPUs, now)
	s.spent = ahead != ahead
	return ahead <= float64(shrinkLoad*s.largest)
}
