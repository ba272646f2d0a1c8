package lucid

import (
	"graft/cluster"
	"graft/internal/events"
)

// profiler schedules the profiler's nodes, smallest job first. It gets one more node if many jobs wait, and returns it
// if few wait and few are expected.
type profiler struct {
	waiting  *cluster.Queue
	largest  int // devices of the largest job
	forecast *cluster.Forecast
	scalings []scaling
	spent    bool // the forecast has ended
	removed  bool // a node was removed before
}

// Thresholds at which the profiler grows and shrinks.
const (
	growAbove   = 10  // waiting jobs
	growEvery   = 10  // seconds
	shrinkBelow = 5   // waiting jobs
	shrinkEvery = 100 // seconds
	shrinkLoad  = 5   // expected requested devices, as a multiple of the largest job
)

func devices(j *cluster.Job) float64 { return float64(j.GPUs) }

// Arrived queues a job.
func (s *profiler) Arrived(j *cluster.Job) { s.waiting.Put(j) }

// Ended does nothing.
func (s *profiler) Ended(*cluster.Job) {}

// Schedule starts jobs, and adds or removes the temporary node.
func (s *profiler) Schedule(p *cluster.Pool) int64 {
	s.waiting.Start(p)
	more, _ := p.HasNode(temporary(p))
	switch now := p.Now(); {
	case !more && s.waiting.Len() > growAbove:
		if now%growEvery != 0 {
			return events.NextMultiple(now, growEvery)
		}
		p.AddNode(temporary(p))
		s.scalings = append(s.scalings, scaling{now, 1})
		return now + 1
	case more && s.waiting.Len() < shrinkBelow:
		if now%shrinkEvery == 0 {
			s.shrink(p)
		}
		return events.NextMultiple(now, shrinkEvery)
	}
	return cluster.Never
}

// shrink returns the node if it is idle and few devices are expected to be requested.
func (s *profiler) shrink(p *cluster.Pool) {
	if _, idle := p.HasNode(temporary(p)); !idle || !s.calm(p.Now()) {
		return
	}
	s.removed = remove(p, s.removed) || s.removed
	s.scalings = append(s.scalings, scaling{p.Now(), -1})
}

// calm reports whether few devices are expected to be requested. It is true without a forecast, and false in the second
// in which the forecast turns out to have ended.
func (s *profiler) calm(now int64) bool {
	if s.forecast == nil || s.spent {
		return true
	}
	ahead := s.forecast.Ahead(s.forecast.GPUs, now)
	s.spent = ahead != ahead
	return ahead <= float64(shrinkLoad*s.largest)
}
