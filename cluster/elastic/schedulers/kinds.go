package schedulers

import (
	"graft/cluster"
	"graft/cluster/elastic"
	"graft/internal/registry"
)

// Kinds returns all schedulers. To add one, add a file and a line here.
func Kinds() registry.List[elastic.Kind] {
	common := []cluster.Quirk{elastic.FirstNode, elastic.StaleShare, elastic.Backward}
	with := func(own cluster.Quirk) []cluster.Quirk { return append(common[:len(common):len(common)], own) }
	return registry.List[elastic.Kind]{
		{Name: "fifo", About: "in the order of arrival, as many workers and servers as allowed", Quirks: common,
			New: newFIFO},
		{Name: "srtf", About: "the least remaining time first, as many workers and servers as allowed",
			Quirks: with(elastic.RemainingFraction), New: newSRTF},
		{Name: "drf", About: "dominant resource fairness: the next worker and server go to the job with the smallest " +
			"dominant share", Quirks: common, New: newDRF},
		{Name: "tetris", About: "multi-resource packing, short jobs preferred", Quirks: with(elastic.LongestFirst),
			New: newTetris},
		{Name: "optimus", About: "the next worker or server goes where it saves the most remaining time for " +
			"its resources", Quirks: with(elastic.NoCost), New: newOptimus},
		{Name: "peak", About: "the least remaining time first, each with the numbers of workers and servers at which " +
			"it is fastest", Quirks: common, New: newPeak},
		{Name: "frontier", About: "the numbers of workers and servers that minimise the sum of remaining times, " +
			"over all jobs at once", Quirks: common, New: newFrontier},
	}
}

// Named returns a scheduler by its name.
func Named(name string) (elastic.Kind, error) { return Kinds().Named("scheduler", name) }
