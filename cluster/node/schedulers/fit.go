package schedulers

import "graft/cluster/node"

func newFirstFit(node.SchedulerOptions) node.Scheduler {
	return &ordered{before: byPriority, place: first, pass: true}
}

func newBestFit(node.SchedulerOptions) node.Scheduler {
	return &ordered{before: byPriority, place: least(room), pass: true}
}

func newLeastLoaded(node.SchedulerOptions) node.Scheduler {
	return &ordered{before: byPriority, place: least(load), pass: true}
}
