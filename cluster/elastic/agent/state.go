// Package agent learns to schedule elastic jobs. It has an environment that simulates workloads, and a scheduler that
// follows a learned agent.
package agent

import (
	"math"

	"graft/cluster/elastic"
	"graft/learn"
)

// Numbers of values in an observation.
const (
	Globals  = 4  // values that describe the state
	Features = 13 // values that describe a candidate, which is an action on a job
)

// candidate is a currently possible action of a job.
type candidate struct {
	job    *elastic.Job
	action elastic.Action
	place  int // index of the job among the unfinished jobs
}

// state describes a world between two actions.
type state struct {
	world      *elastic.World
	candidates []candidate
	full       map[elastic.Resources]bool // demands that did not fit in this slot
	best       map[*elastic.JobType]float64
	jobs       []actions // by unfinished job: actions computed so far in this slot
	values     []float64
}

// actions holds the actions of a job and their features. Within a slot, only an action of this job changes them.
type actions struct {
	known    bool
	kinds    []elastic.Action
	demands  []elastic.Resources
	features []float64
}

func newState(w *elastic.World) *state {
	return &state{world: w, full: map[elastic.Resources]bool{}, best: map[*elastic.JobType]float64{}}
}

// begin clears the state of a slot.
func (s *state) begin() {
	clear(s.full)
	for k := range s.jobs {
		s.jobs[k].known = false
	}
}

// look lists and describes the candidates. A job's first action adds a worker and a server together.
func (s *state) look() learn.Observation {
	w := s.world
	s.candidates = s.candidates[:0]
	s.values = append(s.values[:0], s.globals()...)
	for k, j := range w.Jobs() {
		if k == len(s.jobs) {
			s.jobs = append(s.jobs, actions{})
		}
		known := &s.jobs[k]
		if !known.known {
			s.describe(j, known)
		}
		for i, a := range known.kinds {
			if !s.full[known.demands[i]] {
				s.candidates = append(s.candidates, candidate{j, a, k})
				s.values = append(s.values, known.features[i*Features:][:Features]...)
			}
		}
	}
	return learn.Observation{Values: s.values}
}

// describe lists and describes the actions of a job.
func (s *state) describe(j *elastic.Job, into *actions) {
	w := s.world
	*into = actions{true, into.kinds[:0], into.demands[:0], into.features[:0]}
	now, best := w.Estimate(j, 0, 0), s.peak(j)
	for a := elastic.Worker; a <= elastic.Bundle; a++ {
		if a != elastic.Bundle && len(j.Workers) == 0 || !w.Allowed(j, a) {
			continue
		}
		into.kinds, into.demands = append(into.kinds, a), append(into.demands, w.Demand(j, a))
		into.features = append(into.features, s.features(j, a, now, best)...)
	}
}

// peak returns the maximum epochs per slot of a job over all counts.
func (s *state) peak(j *elastic.Job) float64 {
	best, ok := s.best[j.Model]
	if !ok {
		_, _, best = s.world.Best(j.Model)
		best = max(best, math.SmallestNonzeroFloat64)
		s.best[j.Model] = best
	}
	return best
}

// globals appends the free shares of both kinds of resources, the number of jobs and the number of their tasks.
func (s *state) globals() []float64 {
	w := s.world
	used, total, tasks := w.Used(), w.Total(), 0
	for _, j := range w.Jobs() {
		tasks += len(j.Workers) + len(j.Servers)
	}
	free := func(kind int) float64 { return 1 - float64(used[kind])/float64(max(1, total[kind])) }
	return []float64{free(elastic.CPU), free(elastic.GPU), math.Log1p(float64(len(w.Jobs()))) / 5,
		math.Log1p(float64(tasks)) / 7}
}

// features describe an action of a job: its kind, the job's counts, its speeds before and after the action relative to
// its best speed, its remaining time at the best speed, and the cost of the action.
func (s *state) features(j *elastic.Job, a elastic.Action, now, best float64) []float64 {
	w := s.world
	workers, servers := 1, 1
	switch {
	case a == elastic.Worker:
		servers = 0
	case a == elastic.Server:
		workers = 0
	}
	after := w.Estimate(j, workers, servers)
	cost := w.Demand(j, a).DominantShare(w.Total())
	most := float64(w.Most())
	f := []float64{0, 0, 0, float64(len(j.Workers)) / most, float64(len(j.Servers)) / most, now / best, after / best,
		10 * (after - now) / best,
		math.Log1p(j.EpochsLeft()/best) / 4, j.Left(), float64(w.Nodes()) * cost, 0, 0}
	f[a] = 1
	if after > now {
		f[11] = 1
		f[12] = math.Log((after-now)/best/max(cost*float64(w.Nodes()), 1e-9)+1e-6) / 5
	}
	return f
}

// add performs a candidate's action. If it does not fit, its demand is excluded for the rest of the slot.
func (s *state) add(k int) {
	c := s.candidates[k]
	if !s.world.Add(c.job, c.action) {
		s.full[s.world.Demand(c.job, c.action)] = true
		return
	}
	s.jobs[c.place].known = false
}
