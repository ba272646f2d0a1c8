package schedtest

import "graft/cluster"

// Held returns the time for which each job had devices.
func Held(o *cluster.Outcome) map[*cluster.Job]int64 {
	had, since := map[*cluster.Job]int64{}, map[*cluster.Job]int64{}
	for _, ch := range o.Changes {
		switch ch.What {
		case "start":
			since[ch.Job] = ch.At
		case "preempt", "fail", "evict", "end":
			had[ch.Job] += ch.At - since[ch.Job]
		}
	}
	return had
}
