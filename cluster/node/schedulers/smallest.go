package schedulers

import "graft/cluster/node"

// newSmallest starts the task with the least estimated work times the larger of its shares of a GPU's cores and memory.
// This order would minimise mean turnaround if such areas could be divided arbitrarily.
func newSmallest(node.SchedulerOptions) node.Scheduler {
	area := func(m *node.Machine, t *node.Task) float64 {
		return float64(t.Left()) * max(t.Cores/100, t.Memory/m.Devices[0].Memory)
	}
	return &ordered{place: least(room), pass: true, before: func(m *node.Machine, a, b *node.Task) bool {
		x, y := area(m, a), area(m, b)
		return x < y || x == y && byArrival(m, a, b)
	}}
}
