package agent

import (
	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/learn"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// shape is the shape of the observations.
var shape = candidates.Shape{World: "rigid", Noun: "the jobs of a cluster", Globals: Globals, Features: Features}

// ReadPolicy reads a policy from weights.
func ReadPolicy(set *weights.Set) (*candidates.Policy, error) { return shape.ReadPolicy(set) }

// Policy returns the scheduler that takes an agent's most likely actions. Each pool has its own agent.
func Policy(name string, agent *learn.Set) cluster.Policy {
	return cluster.Policy{Name: name, About: "learned", Resizes: true, Shrinks: true,
		New: func(cluster.Setup) (cluster.Scheduler, error) {
			twin := agent.Twin()
			return newScheduler(func(s *state) int {
				logits, _ := twin.Score(s.observe())
				return learn.Likeliest(logits[:len(s.candidates)])
			}), nil
		}}
}

// scheduler divides devices step by step.
type scheduler struct {
	cluster.Scheduler // divides when jobs arrive or end
	*state
	choose func(s *state) int                         // chooses one of the candidates
	begun  func(p *cluster.Pool, jobs []*cluster.Job) // called when a division begins; may be nil
	spent  spent
}

func newScheduler(choose func(s *state) int) *scheduler {
	s := &scheduler{state: &state{values: make([]float64, Globals)}, choose: choose}
	s.Scheduler = schedulers.NewDivider(s.split)
	return s
}

// split divides the devices of a pool.
func (s *scheduler) split(p *cluster.Pool, jobs []*cluster.Job) []int {
	s.begin(p, jobs)
	if s.begun != nil {
		s.begun(p, jobs)
	}
	if s.fill() {
		return s.shares
	}
	for s.look() {
		s.add(s.choose(s.state))
	}
	return s.shares
}

// Shrunk implements [cluster.Shrinker].
func (s *scheduler) Shrunk(p *cluster.Pool, j *cluster.Job) {
	s.Scheduler.(cluster.Shrinker).Shrunk(p, j)
}

// Arrived implements [cluster.Scheduler].
func (s *scheduler) Arrived(j *cluster.Job) {
	s.Scheduler.Arrived(j)
	s.spent.arrived(j)
}

// Ended implements [cluster.Scheduler]. A job that ends with remaining work has failed or reached its time limit.
func (s *scheduler) Ended(j *cluster.Job) {
	s.Scheduler.Ended(j)
	s.spent.left(j)
	if j.Remaining() <= 0 {
		s.users.ended(j.Trace)
	}
}

// spent sums the times that jobs spend between their arrivals and their ends, in seconds.
type spent struct {
	jobs     int64 // number of jobs that have arrived and not ended
	arrivals int64 // sum of their arrivals
	before   int64 // sum over ended jobs
}

func (c *spent) arrived(j *cluster.Job) { c.jobs, c.arrivals = c.jobs+1, c.arrivals+j.Arrival }

func (c *spent) left(j *cluster.Job) {
	c.jobs, c.arrivals, c.before = c.jobs-1, c.arrivals-j.Arrival, c.before+j.End-j.Arrival
}

// until returns the sum until a second.
func (c *spent) until(now int64) int64 { return c.before + c.jobs*now - c.arrivals }
