package tasks

import "graft/cluster"

// Quirks returns the faults of the published programs, all of which this package keeps.
func Quirks() []cluster.Quirk {
	return []cluster.Quirk{
		{Name: "lost-task", Fixed: "a task that does not fit goes back to the queue"},
		{Name: "one-task-a-step", Fixed: "as many tasks start in a step as fit, so that makespan ranks policies"},
		{Name: "blind-agent", Fixed: "an observation has the next task and the queue"},
		{Name: "raw-observation", Fixed: "usage is a share from 0 to 1"},
		{Name: "no-wait", Fixed: "an action delays the next task"},
		{Name: "equal-waits", Fixed: "each task has a counter of its own, which stops when it starts or is lost"},
		{Name: "replaced-tasks", Fixed: "an evaluation plays the tasks that it drew"},
		{Name: "wrong-divisor", Fixed: "waiting is divided by the tasks of the episode"},
		{Name: "overlapping-bars", Fixed: "tasks that share a GPU have rows of their own in the chart"},
		{Name: "untimed-work", Fixed: "FCFS and the lottery count the preparation of a job"},
		{Name: "no-tickets", Fixed: "jobs without tickets run last, not never"},
		{Name: "flow-per-job", Fixed: "jobs of one user share a flow of fair queueing"},
		{Name: "backward-virtual-time", Fixed: "virtual time never decreases"},
		{Name: "full-gpu", Fixed: "a least-loaded GPU with no room left gets no task"},
		{Name: "broken-heap", Fixed: "equal GPUs go by their number"},
		{Name: "shared-clock", Fixed: "GPUs run jobs at the same time"},
		{Name: "gpu-by-clock", Fixed: "round robin takes a GPU that is free"},
		{Name: "idle-usage", Fixed: "the usage of an idle GPU falls"},
		{Name: "list-order", Fixed: "FCFS runs processes by arrival"},
		{Name: "preempted-first", Fixed: "a preempted process queues behind those that arrived in its turn"},
		{Name: "greedy-unready", Fixed: "greedy actions of Q-learning take only processes that are ready"},
		{Name: "no-first-arrival", Fixed: "an episode of Q-learning begins at the first arrival"},
		{Name: "first-gpu", Fixed: "a job runs on the GPU of its action"},
		{Name: "failed-job", Fixed: "a job that fails leaves the queue and has no reward"},
		{Name: "stale-queue", Fixed: "a reset of real GPUs fills the queue again"},
		{Name: "unused-power", Fixed: "power is part of the reward"},
	}
}
