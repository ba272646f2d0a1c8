// Package schedulers holds the schedulers of a machine's tasks.
package schedulers

import (
	"graft/cluster/node"
	"graft/internal/registry"
)

// Kinds returns all schedulers. To add one, add a file and a line here.
func Kinds() registry.List[node.Kind] {
	return registry.List[node.Kind]{
		{Name: "fcfs", About: "in the order of arrival on the first GPU with room; " +
			"the first in the queue holds up the others", New: newFCFS},
		{Name: "sjf", About: "the least estimated work first; it holds up the others", New: newSJF},
		{Name: "priority", About: "the highest priority first, which grows while a task waits; it holds up the others",
			New: newPriority},
		{Name: "backfill", About: "in the order of arrival; later tasks go first where they do not delay the first " +
			"in the queue", New: newBackfill},
		{Name: "first-fit", About: "all that fit, the highest priority first, on the first GPU with room",
			New: newFirstFit},
		{Name: "best-fit", About: "all that fit, the highest priority first, on the GPU with the least room left",
			New: newBestFit},
		{Name: "least-loaded", About: "all that fit, the highest priority first, " +
			"on the GPU with the fewest cores in use", New: newLeastLoaded},
		{Name: "smallest", About: "all that fit, the least estimated work times share of a GPU first, " +
			"on the GPU with the least room left", New: newSmallest},
		{Name: "round-robin", About: "each task for a quantum in turn, GPUs in turn", Slices: true, New: newRoundRobin},
		{Name: "lottery", About: "a draw by tickets for each quantum", Slices: true, Draws: true,
			New: newLottery},
		{Name: "stride", About: "quanta in proportion to tickets, without chance", Slices: true, New: newStride},
		{Name: "wfq", About: "weighted fair queueing: each flow gets GPU time in proportion to its weight",
			Slices: true, New: newWFQ},
	}
}

// Named returns a scheduler by its name.
func Named(name string) (node.Kind, error) { return Kinds().Named("scheduler", name) }
