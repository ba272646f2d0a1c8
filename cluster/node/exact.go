package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// MostExact is the maximum number of tasks for which Exact searches schedules.
const MostExact = 10

// Exact returns the minimum mean turnaround in seconds of a small study, over all schedules that neither stop tasks nor
// slow them down by a shortage of cores. It starts tasks only at arrivals and completions, since an optimal schedule of
// this form exists. It skips schedules that a bound excludes (branch and bound: Land and Doig, Econometrica 28, 1960).
func Exact(ctx context.Context, s Study) (float64, error) {
	s.EnsureDefaults()
	if err := s.Validate(); err != nil {
		return 0, fmt.Errorf("search for the best schedule: %w", err)
	}
	if len(s.Tasks) > MostExact {
		return 0, fmt.Errorf("search for the best schedule: the workload has %d tasks; expected at most %d",
			len(s.Tasks), MostExact)
	}
	x := &exact{ctx: ctx, Study: s, ends: make([]time.Duration, len(s.Tasks)), best: 1<<63 - 1}
	for _, d := range s.Options.Devices {
		if d.Speed != 1 {
			return 0, errors.New("search for the best schedule: GPUs have different speeds; expected equal speeds")
		}
		x.memory += d.Memory
	}
	x.on = make([]int, len(s.Tasks))
	x.visit(0, 0, 0)
	return (time.Duration(x.best) / time.Duration(len(s.Tasks))).Seconds(), ctx.Err()
}

// exact is a search. A task with end zero has not started.
type exact struct {
	Study
	ctx    context.Context
	memory float64 // sum over all devices
	ends   []time.Duration
	on     []int
	best   time.Duration // minimum sum of turnarounds
	visits int
}

// visit continues from a moment at which only tasks from a position on may start, so that tasks that start together do
// so in one order.
func (x *exact) visit(now time.Duration, from int, sum time.Duration) {
	if x.visits++; x.visits%1024 == 0 && x.ctx.Err() != nil || sum+x.least(now) >= x.best {
		return
	}
	left := false
	for k := range x.Tasks {
		t := &x.Tasks[k]
		if x.ends[k] > 0 {
			continue
		}
		left = true
		if k < from || t.Arrival > now || !x.ready(t, now) {
			continue
		}
		for d := range x.Options.Devices {
			if empty := x.fits(t, d, now); empty >= 0 {
				x.ends[k], x.on[k] = max(now+t.Work, 1), d
				x.visit(now, k+1, sum+x.ends[k]-t.Arrival)
				x.ends[k] = 0
				if empty == 0 {
					break // all empty devices are equal
				}
			}
		}
	}
	if !left {
		x.best = min(x.best, sum)
		return
	}
	if next := x.next(now); next > now {
		x.visit(next, 0, sum)
	}
}

// ready reports whether the tasks before a task have completed.
func (x *exact) ready(t *Spec, now time.Duration) bool {
	return !slices.ContainsFunc(t.After, func(k int) bool { return x.ends[k] == 0 || x.ends[k] > now })
}

// fits returns the number of tasks on a device that has room for one more; -1 if it has no room.
func (x *exact) fits(t *Spec, device int, now time.Duration) (tasks int) {
	cores, memory := t.Cores, t.Memory
	for k, end := range x.ends {
		if end > now && x.on[k] == device {
			cores, memory, tasks = cores+x.Tasks[k].Cores, memory+x.Tasks[k].Memory, tasks+1
		}
	}
	limit := x.Options.Together
	if cores > whole || memory > x.Options.Devices[device].Memory || limit > 0 && tasks >= limit {
		return -1
	}
	if tasks == 0 && x.Options.Devices[device].Memory != x.Options.Devices[len(x.Options.Devices)-1].Memory {
		return 1 // empty devices differ
	}
	return tasks
}

// next is the time of the next arrival or completion.
func (x *exact) next(now time.Duration) time.Duration {
	next := time.Duration(1<<63 - 1)
	for k, end := range x.ends {
		if at := x.Tasks[k].Arrival; end == 0 && at > now {
			next = min(next, at)
		}
		if end > now {
			next = min(next, end)
		}
	}
	if next == 1<<63-1 {
		return now
	}
	return next
}

// least bounds the turnarounds of tasks that have not started: the k-th of them completes no earlier than the k-th
// smallest work takes from now, nor than the k smallest areas take on all devices.
func (x *exact) least(now time.Duration) (sum time.Duration) {
	var works [MostExact]time.Duration
	var cores, memories [MostExact]float64
	n := 0
	for k := range x.Tasks {
		if t := &x.Tasks[k]; x.ends[k] == 0 {
			work := float64(t.Work)
			works[n], cores[n], memories[n] = t.Work, work*t.Cores/whole/float64(len(x.Options.Devices)),
				work*t.Memory/x.memory
			sum += now - t.Arrival
			n++
		}
	}
	slices.Sort(works[:n])
	prefixes(cores[:n])
	prefixes(memories[:n])
	for k := range n {
		sum += max(works[k], time.Duration(cores[k]), time.Duration(memories[k]))
	}
	return sum
}
