package schedulers

import "graft/cluster/node"

// newSJF starts the task with the least estimated work.
func newSJF(node.SchedulerOptions) node.Scheduler {
	return &ordered{place: first, before: func(m *node.Machine, a, b *node.Task) bool {
		return a.Left() < b.Left() || a.Left() == b.Left() && byArrival(m, a, b)
	}}
}
