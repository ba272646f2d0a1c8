package node

import (
	"time"
)

// span is a run of a task, on the executor's clock.
type span struct {
	from, to time.Duration // to is the present for a run under way
	done     bool          // it completed
}

// beside is the time of a span in which one of others lasts, which are of one chain and do not overlap.
func (s span) beside(others []span) (sum time.Duration) {
	for _, o := range others {
		sum += max(0, min(s.to, o.to)-max(s.from, o.from))
	}
	return sum
}

// alone is the mean duration of the completed runs of a task, and their number.
func alone(own []span) (mean time.Duration, runs int) {
	sum := time.Duration(0)
	for _, s := range own {
		if s.done {
			sum += s.to - s.from
			runs++
		}
	}
	return sum / time.Duration(max(1, runs)), runs
}

// together is the speed of a task beside another, relative to that alone, where a run takes the time single.
// Completed runs count that have the other beside them for at least half of their time. Between two runs of
// the other, such a run goes on at full speed: that part is left out of its work and of its time.
func together(own, others []span, single time.Duration) (speed float64, mean time.Duration, runs int) {
	var work, beside, sum time.Duration
	for _, s := range own {
		lasted, shared := s.to-s.from, s.beside(others)
		if !s.done || 2*shared < lasted {
			continue
		}
		work += single - (lasted - shared)
		beside += shared
		sum += lasted
		runs++
	}
	if runs == 0 || work <= 0 {
		return 0, 0, 0
	}
	return work.Seconds() / beside.Seconds(), sum / time.Duration(runs), runs
}
