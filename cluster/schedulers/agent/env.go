package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/learn"
)

// Workload is a part of a trace on one virtual cluster. Its jobs arrive on idle nodes.
type Workload struct {
	Trace   string // path of the trace; may be empty
	Study   cluster.Study
	Options cluster.Options
	scale   scale
}

// scale holds the results of the scheduler fair on a workload.
type scale struct {
	spent float64 // sum of the times from arrival to completion, in seconds
	tick  int64   // time step for the comparison of later rewards of episodes, in seconds
}

// ticks is the approximate number of time steps of an episode.
const ticks = 100

// Measure simulates the workload under the scheduler fair. It returns false if the devices are enough for all jobs, so
// that there is nothing to decide.
func (w *Workload) Measure(ctx context.Context) (decides bool, err error) {
	first := newScheduler(func(*state) int { decides = true; return 0 })
	made := func(cluster.Setup) (cluster.Scheduler, error) { return first, nil }
	if _, err := w.run(ctx, cluster.Policy{Name: "first", New: made}); err != nil || !decides {
		return false, err
	}
	fair, _ := schedulers.Named("fair")
	out, err := w.run(ctx, fair)
	if err != nil {
		return false, err
	}
	for _, j := range out.Jobs {
		w.scale.spent += float64(j.End - j.Arrival)
	}
	w.scale.tick = max(1, (out.Pools[0].Ended-out.Begin)/ticks)
	return true, nil
}

func (w *Workload) run(ctx context.Context, p cluster.Policy) (*cluster.Outcome, error) {
	return w.Study.Run(ctx, p, w.Options)
}

// MeanJCT returns the mean time from arrival to completion under a scheduler, in seconds.
func (w *Workload) MeanJCT(ctx context.Context, p cluster.Policy) (float64, error) {
	out, err := w.run(ctx, p)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, j := range out.Jobs {
		sum += float64(j.End - j.Arrival)
	}
	return sum / float64(max(1, len(out.Jobs))), nil
}

// Env is an environment for reinforcement learning that simulates workloads. An action gives devices to a job. The
// rewards of an episode add up to the negative mean time to completion, relative to the
// scheduler fair.
//
// A simulation calls its scheduler, and an environment is called by its agent. Therefore the simulation is a coroutine,
// which stops at each decision.
type Env struct {
	workloads []*Workload
	workload  *Workload
	scheduler *scheduler
	next      func() (struct{}, bool)
	stop      func()
	action    int
	before    int64 // time that jobs had spent at the last decision
	at        int64 // second of the last decision
	err       error // of the simulation
	// targets of the division for lessons; nil without a teacher
	teach   schedulers.Split
	targets []int
}

// NewEnv creates an environment in which each episode simulates one of the measured workloads, chosen at random.
func NewEnv(workloads []*Workload) (*Env, error) {
	if len(workloads) == 0 {
		return nil, errors.New("learn to schedule: there are no workloads; expected at least one")
	}
	return &Env{workloads: workloads}, nil
}

// errAbandoned ends the simulation of an episode that is not played to its end.
var errAbandoned = errors.New("episode abandoned")

// Reset starts an episode with a random workload, at the first decision.
func (e *Env) Reset(random *rand.Rand) error {
	if e.stop != nil {
		e.stop()
	}
	e.workload, e.err = e.workloads[random.IntN(len(e.workloads))], nil
	e.next, e.stop = iter.Pull(e.simulate)
	e.before, e.at = 0, 0
	if _, running := e.next(); !running {
		return errors.Join(e.err, errors.New("the workload has no decisions"))
	}
	e.mark()
	return nil
}

// simulate simulates the workload and yields at each decision.
func (e *Env) simulate(yield func(struct{}) bool) {
	e.scheduler = newScheduler(func(s *state) int {
		if !yield(struct{}{}) {
			s.pool.Fail(errAbandoned)
			return 0
		}
		return e.action
	})
	if e.teach != nil {
		e.scheduler.begun = func(p *cluster.Pool, jobs []*cluster.Job) { e.targets = targets(e.teach(p, jobs), jobs) }
	}
	made := func(cluster.Setup) (cluster.Scheduler, error) { return e.scheduler, nil }
	out, err := e.workload.run(context.Background(), cluster.Policy{Name: "learning", New: made})
	if e.err = err; err == nil {
		e.at = out.Pools[0].Ended
	}
}

// targets returns a teacher's shares; shares of nil are the current devices.
func targets(shares []int, jobs []*cluster.Job) []int {
	if shares != nil {
		return shares
	}
	shares = make([]int, len(jobs))
	for k, j := range jobs {
		if j.Running() {
			shares[k] = j.GPUs
		}
	}
	return shares
}

// mark notes the time of a decision. It returns the time that jobs spent since the last one.
func (e *Env) mark() (spent int64) {
	e.at = e.scheduler.pool.Now()
	return e.spend()
}

func (e *Env) spend() int64 {
	before := e.before
	e.before = e.scheduler.spent.until(e.at)
	return e.before - before
}

// Observe describes the pool and the possible actions.
func (e *Env) Observe() learn.Observation { return e.scheduler.observe() }

// Act gives devices to a candidate.
func (e *Env) Act(action int) (o learn.Outcome, err error) {
	n := len(e.scheduler.candidates)
	if action < 0 || action >= n {
		return o, fmt.Errorf("unknown action %d; expected 0 to %d", action, n-1)
	}
	from := e.at
	e.action = action
	_, running := e.next()
	if e.err != nil {
		return o, e.err
	}
	spent := int64(0)
	if o.Done = !running; running {
		spent = e.mark()
	} else {
		spent = e.spend()
	}
	tick := e.workload.scale.tick
	o.Reward, o.Elapsed = -float64(spent)/e.workload.scale.spent, int(e.at/tick-from/tick)
	return o, nil
}

// right returns the candidates that bring a job closer to the teacher's share. If there are none, the teacher does not
// care.
func (e *Env) right() (actions []int) {
	s := e.scheduler.state
	for i, k := range s.candidates {
		if n := s.shares[k]; n < e.targets[k] && (n == 0 || n+s.described[k].step <= e.targets[k]) {
			actions = append(actions, i)
		}
	}
	return actions
}
