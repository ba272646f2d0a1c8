package schedulers

import "graft/cluster/node"

// newFCFS takes tasks in the order of arrival.
func newFCFS(node.SchedulerOptions) node.Scheduler { return &ordered{before: byArrival, place: first} }
