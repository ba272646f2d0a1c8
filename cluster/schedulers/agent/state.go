// Package agent learns to divide the devices of a cluster among jobs that grow and shrink. It has an environment that
// simulates a trace, and a scheduler that follows a learned agent.
package agent

import (
	"math"
	"slices"

	"graft/cluster"
	"graft/learn"
)

// Numbers of values in an observation.
const (
	Globals  = 5  // values that describe the pool
	Features = 20 // values that describe a candidate, which is a job that can get more devices
)

// window is the maximum number of candidates without devices: the first ones in order of arrival.
const window = 64

// state describes a pool to an agent while the agent divides the devices. It also remembers what a scheduler of a real
// cluster can know about earlier jobs.
type state struct {
	pool       *cluster.Pool
	jobs       []*cluster.Job
	shares     []int // devices given so far
	free       int   // devices not given yet
	candidates []int // positions of jobs
	values     []float64
	described  []described // by job

	// device-seconds of jobs until the last division, by number; a job that has started again since counts from the
	// last division
	service []float64
	last    int64 // second of the last division
	users   users
}

// described caches the next step of a job and its features, which only a step of the same job changes.
type described struct {
	known    bool
	step     int // devices to add; zero if more devices are useless
	features []float64
}

// begin starts a division.
func (s *state) begin(p *cluster.Pool, jobs []*cluster.Job) {
	s.pool, s.jobs, s.free = p, jobs, p.GPUs()
	s.shares = make([]int, len(jobs))
	s.described = slices.Grow(s.described[:0], len(jobs))[:len(jobs)]
	for k, j := range jobs {
		s.described[k].known = false
		for len(s.service) <= int(j.Number) {
			s.service = append(s.service, 0)
		}
		if !j.Running() {
			continue
		}
		s.service[j.Number] += float64(p.Now()-max(s.last, j.Start)) * float64(j.GPUs)
		if !j.Resizable() { // it keeps its devices
			s.shares[k] = j.GPUs
			s.free -= j.GPUs
		}
	}
	s.last = p.Now()
}

// fill gives all jobs the devices that are useful to them if there are enough. It returns false, and gives none, if the
// agent must choose.
func (s *state) fill() bool {
	full, needed := slices.Clone(s.shares), 0
	for k, j := range s.jobs {
		for full[k] = max(full[k], j.Trace.GPUs); s.gains(j, full[k]) && needed+full[k]-s.shares[k] <= s.free; {
			full[k]++
		}
		if needed += full[k] - s.shares[k]; needed > s.free {
			return false
		}
	}
	s.shares = full
	return true
}

// gains reports whether a job that has its requested devices would progress faster with one more.
func (s *state) gains(j *cluster.Job, n int) bool {
	return j.Resizable() && s.pool.Offer(j, n+1).Goodput > s.pool.Offer(j, n).Goodput*(1+leastUseful)
}

// look lists and describes the candidates. It returns false if there are none.
func (s *state) look() bool {
	s.candidates, s.values = s.candidates[:0], s.values[:Globals]
	s.globals()
	waiting := 0
	for k, j := range s.jobs {
		if !j.Running() && waiting == window {
			continue
		}
		d := &s.described[k]
		if !d.known || d.step > s.free && j.Resizable() { // fewer devices are left than when it was described
			s.describe(k, d)
		}
		if d.step > 0 && d.step <= s.free {
			if !j.Running() {
				waiting++
			}
			s.candidates = append(s.candidates, k)
			s.values = append(s.values, d.features...)
		}
	}
	return len(s.candidates) > 0
}

// observe returns the observation of the last look. The last action, to choose no candidate, is not allowed: an agent
// that learned it left devices idle.
func (s *state) observe() learn.Observation {
	o := learn.Observation{Values: s.values, Mask: make([]bool, len(s.candidates)+1)}
	for k := range s.candidates {
		o.Mask[k] = true
	}
	return o
}

// add gives a candidate its next devices.
func (s *state) add(candidate int) {
	k := s.candidates[candidate]
	s.shares[k] += s.described[k].step
	s.free -= s.described[k].step
	s.described[k].known = false
}

// globals are the free share of the devices, the numbers of jobs and of running jobs, the requested devices, and the
// size of the pool.
func (s *state) globals() {
	running, requested := 0, 0
	for _, j := range s.jobs {
		requested += j.Trace.GPUs
		if j.Running() {
			running++
		}
	}
	all := float64(max(1, s.pool.GPUs()))
	for k, v := range [Globals]float64{float64(s.free) / all, math.Log1p(float64(len(s.jobs))) / 5,
		math.Log1p(float64(running)) / 5, math.Log1p(float64(requested)/all) / 3, math.Log(all) / 7} {
		s.values[k] = v
	}
}

// describe finds the next step of a job, which doubles its devices up to the useful number, and describes it.
func (s *state) describe(k int, d *described) {
	j, n := s.jobs[k], s.shares[k]
	d.known, d.step, d.features = true, 0, d.features[:0]
	now := cluster.Offer{}
	if n > 0 {
		now = s.pool.Offer(j, n)
	}
	step := max(1, n)
	if !j.Resizable() {
		step = j.Trace.GPUs - n
	} else if n < j.Trace.GPUs {
		step = min(step, j.Trace.GPUs-n)
	}
	if step = min(step, s.pool.GPUs()-n); step <= 0 {
		return
	}
	if j.Resizable() && step > s.free {
		step = max(1, s.free)
	}
	next := s.pool.Offer(j, n+step)
	if next.Goodput <= now.Goodput*(1+leastUseful) {
		return
	}
	d.step, d.features = step, s.features(d.features, j, n, step, now, next)
}

// leastUseful is the relative increase of goodput below which devices are useless; rounding causes smaller ones.
const leastUseful = 1e-9

// features describe a job with n devices that would get step more: its offers, its devices, the service that it has
// had, its waiting time, its time limit, and what is known about its user.
func (s *state) features(to []float64, j *cluster.Job, n, step int, now, next cluster.Offer) []float64 {
	asked, all, at := float64(j.Trace.GPUs), float64(max(1, s.pool.GPUs())), s.pool.Now()
	gain := (next.Goodput - now.Goodput) / float64(step) * asked
	has := 0
	if j.Running() {
		has = j.GPUs
	}
	age := s.service[j.Number] / asked
	expected, known := s.users.expect(j.Trace)
	left := 0.0
	if j.Trace.Limit > 0 {
		left = math.Log1p(max(0, float64(j.Trace.Limit)-age)) / 10
	}
	return append(to, one(n == 0), now.Goodput, min(4, gain), math.Log1p(asked)/4, asked/all, float64(n)/asked,
		one(has > 0), one(n < has), float64(has-n)/asked, math.Log1p(age)/10, math.Log1p(s.service[j.Number])/15,
		math.Log1p(float64(at-j.Arrival))/10, one(j.Trace.Limit > 0), left, expected/10,
		max(-1, (expected-math.Log1p(age))/5), known, one(next.Action == "deepen"), one(next.Action == "widen"),
		one(!j.Resizable()))
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
