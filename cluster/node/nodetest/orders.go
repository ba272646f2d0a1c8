package nodetest

import (
	"time"

	"graft/cluster/node"
)

// BestOrder returns the minimum mean turnaround in seconds of a few tasks that all arrive at the start. It tries all
// orders and devices, and starts each task at the earliest time that the previous tasks allow.
func BestOrder(s node.Study) float64 {
	s.EnsureDefaults()
	o := orders{Study: s, best: 1 << 62}
	o.extend(nil, 0)
	return o.best.Seconds() / float64(len(s.Tasks))
}

type orders struct {
	node.Study
	best time.Duration
}

type slot struct {
	task, device int
	from, to     time.Duration
}

func (o *orders) extend(all []slot, sum time.Duration) {
	if len(all) == len(o.Tasks) {
		o.best = min(o.best, sum)
		return
	}
	for k := range o.Tasks {
		if used(all, k) {
			continue
		}
		for d := range o.Options.Devices {
			from := o.earliest(all, k, d)
			to := from + o.Tasks[k].Work
			o.extend(append(all[:len(all):len(all)], slot{k, d, from, to}), sum+to)
		}
	}
}

func used(all []slot, task int) bool {
	for _, s := range all {
		if s.task == task {
			return true
		}
	}
	return false
}

// earliest returns the first time, the beginning or the end of another task, from which a task has room until its end.
func (o *orders) earliest(all []slot, task, device int) (from time.Duration) {
	from = 1 << 62
	for k := -1; k < len(all); k++ {
		at := time.Duration(0)
		if k >= 0 {
			at = all[k].to
		}
		if at < from && o.room(all, task, device, at) {
			from = at
		}
	}
	return from
}

// room checks the beginning of a task and every later beginning of another task.
func (o *orders) room(all []slot, task, device int, from time.Duration) bool {
	to := from + o.Tasks[task].Work
	for k := -1; k < len(all); k++ {
		at := from
		if k >= 0 {
			at = all[k].from
		}
		if at < from || at >= to {
			continue
		}
		cores, memory := o.Tasks[task].Cores, o.Tasks[task].Memory
		for _, s := range all {
			if s.device == device && s.from <= at && s.to > at {
				cores, memory = cores+o.Tasks[s.task].Cores, memory+o.Tasks[s.task].Memory
			}
		}
		if cores > 100 || memory > o.Options.Devices[device].Memory {
			return false
		}
	}
	return true
}
