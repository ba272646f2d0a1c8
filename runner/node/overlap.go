package node

import (
	"time"
)

// span is a run of a task, on the executor's clock.
type span struct {
	from, to time.Duration // to is now for a current run
	done     bool          // it completed
}

// beside returns the time of a span during which one of others is running; these belong to one chain and do not
// overlap.
func (s span) beside(others []span) (sum time.Duration) {
	for _, o := range others {
		sum += max(0, min(s.to, o.to)-max(s.from, o.from))
	}
	return sum
}

// alone returns the mean duration of the completed runs of a task, and their number.
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

// together returns the speed of a task next to another, relative to running alone, where single is the time of a run
// alone. It counts completed runs that overlap with the other task for at least half of their time. Between two runs of
// the other task, a run proceeds at full speed: that part is subtracted from its work and its time.
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
