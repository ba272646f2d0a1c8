package schedulers

import "graft/cluster/node"

// newPriority starts the task with the highest priority. Priority grows by one per aging period of waiting, so that no
// task starves.
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
