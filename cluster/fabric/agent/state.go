// Package agent learns how far to split jobs. It has a learning environment over episodes, and a decider that follows a
// learned agent.
package agent

import (
	"math"

	"graft/cluster/fabric"
	"graft/learn"
)

// Numbers of values in an observation.
const (
	Globals  = 13 // values that describe the cluster and the waiting job
	Features = 10 // values that describe a candidate, which is a degree at which the job would start
)

// state describes a world to an agent.
type state struct {
	world    *fabric.World
	unit     float64        // mean time of the models' jobs on one server, s
	offers   []fabric.Offer // offers that would start
	values   []float64
	releases []float64
	last     float64 // time of the previous arrival, s
	gap      float64 // mean time between arrivals, weighted towards recent ones, s
	seen     int     // number of the job that was observed last, plus 1
}

func newState(w *fabric.World) *state {
	s := &state{world: w}
	study := w.Study()
	for k := range study.Models {
		s.unit += study.Sequential(&fabric.Job{Model: k, Steps: study.Jobs[0].Steps}) / float64(len(study.Models))
	}
	s.unit = max(s.unit, 1e-9)
	return s
}

// recent is the weight of the latest gap in the mean of gaps.
const recent = 0.2

// look lists and describes the degrees at which the waiting job would start.
func (s *state) look() (learn.Observation, error) {
	job := s.world.Waiting()
	offers, err := s.world.Offers()
	if err != nil {
		return learn.Observation{}, err
	}
	s.offers = s.offers[:0]
	for _, o := range offers {
		if o.Cause == fabric.NoCause {
			s.offers = append(s.offers, o)
		}
	}
	if s.seen != job.ID+1 {
		if gap := job.Arrival - s.last; s.seen == 1 {
			s.gap = gap
		} else if s.seen > 1 {
			s.gap += recent * (gap - s.gap)
		}
		s.last, s.seen = job.Arrival, job.ID+1
	}
	s.values = s.globals(s.values[:0], job)
	least, soonest := math.Inf(1), math.Inf(1)
	for k := range s.offers {
		least, soonest = min(least, s.offers[k].Area()), min(soonest, s.offers[k].Time)
	}
	for k := range s.offers {
		s.values = s.describe(s.values, job, &s.offers[k], least, soonest)
	}
	return learn.Observation{Values: s.values}, nil
}

// globals are the shares of servers that are free now and within some times, the demand of the job, and the rate of
// arrivals.
func (s *state) globals(to []float64, job *fabric.Job) []float64 {
	s.releases = s.world.Releases(s.releases[:0])
	size := float64(len(s.releases))
	var within [6]float64
	sum := 0.0
	for _, left := range s.releases {
		sum += min(left/s.unit, 4)
		for k := range within {
			if left <= float64(int(1)<<k>>1)*s.unit/16 { // now, 1/16, 1/8, 1/4, 1/2 and 1 unit
				within[k] += 1 / size
			}
		}
	}
	alone := s.world.Study().Sequential(job)
	began := 0.0
	if s.seen > 1 {
		began = 1
	}
	load := 0.0
	if s.gap > 0 {
		load = math.Log(s.unit / (s.gap * size))
	}
	to = append(to, within[:]...)
	return append(to, sum/size, float64(s.world.Running())/size, job.Limit, math.Log(alone/s.unit+1e-6),
		math.Log(job.Limit*alone/s.unit+1e-6), load, began)
}

// describe appends the servers, time and usage of a degree, also relative to the best.
func (s *state) describe(to []float64, job *fabric.Job, o *fabric.Offer, least, soonest float64) []float64 {
	alone, size := s.world.Study().Sequential(job), float64(len(s.releases))
	return append(to, float64(o.Servers)/size, math.Log2(float64(o.Degree))/4, o.Time/(job.Limit*alone),
		math.Log(o.Time/s.unit+1e-6), math.Log(o.Area()/s.unit+1e-6), alone/o.Area(), math.Log(o.Area()/least),
		math.Log(o.Time/soonest), is(o.Area() == least), is(o.Time == soonest))
}

func is(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
