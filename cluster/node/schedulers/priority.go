package schedulers

import "graft/cluster/node"

// newPriority takes the task of the highest priority, which grows by one for each period that a task has
// waited, so that none starves.
func newPriority(o node.SchedulerOptions) node.Scheduler {
	aged := func(m *node.Machine, t *node.Task) float64 {
		if o.Aging == 0 {
			return float64(t.Priority)
		}
		return float64(t.Priority) + float64(m.Now-t.Since)/float64(o.Aging)
	}
	return &ordered{place: first, before: func(m *node.Machine, a, b *node.Task) bool {
		x, y := aged(m, a), aged(m, b)
		return x > y || x == y && byArrival(m, a, b)
	}}
}
