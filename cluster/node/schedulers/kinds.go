// Package schedulers holds the schedulers of a machine's tasks.
package schedulers

import (
	"graft/cluster/node"
	"graft/internal/registry"
)

// Kinds returns all schedulers. Register new schedulers here.
func Kinds() registry.List[node.Kind] {
	return registry.List[node.Kind]{
		{Name: "fcfs", About: "in order of arrival on the first GPU with room; " +
			"the first task in the queue blocks later tasks", New: newFCFS},
		{Name: "sjf", About: "least estimated work first; the first task in the queue blocks later tasks",
			New: newSJF},
		{Name: "priority", About: "highest priority first; priority grows while a task waits; the first task in the " +
			"queue blocks later tasks", New: newPriority},
		{Name: "backfill", About: "in order of arrival; later tasks start earlier if they do not delay the first " +
			"task in the queue", New: newBackfill},
		{Name: "first-fit", About: "all tasks that fit, the highest priority first, on the first GPU with room",
			New: newFirstFit},
		{Name: "best-fit", About: "all tasks that fit, the highest priority first, on the GPU with the least free " +
			"memory", New: newBestFit},
		{Name: "least-loaded", About: "all tasks that fit, the highest priority first, " +
			"on the GPU with the fewest cores in use", New: newLeastLoaded},
		{Name: "smallest", About: "all tasks that fit, the smallest product of estimated work and GPU share first, " +
			"on the GPU with the least free memory", New: newSmallest},
		{Name: "round-robin", About: "tasks take turns for one quantum each, on GPUs in turn", Slices: true,
			New: newRoundRobin},
		{Name: "lottery", About: "draws the task of each quantum at random, weighted by tickets", Slices: true,
			Draws: true, New: newLottery},
		{Name: "stride", About: "gives tasks quanta in proportion to their tickets, without randomness",
			Slices: true, New: newStride},
		{Name: "wfq", About: "weighted fair queueing: each flow gets GPU time in proportion to its weight",
			Slices: true, New: newWFQ},
	}
}

// Named returns a scheduler by its name.
func Named(name string) (node.Kind, error) { return Kinds().Named("scheduler", name) }
