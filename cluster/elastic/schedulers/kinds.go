package schedulers

import (
	"graft/cluster"
	"graft/cluster/elastic"
	"graft/internal/registry"
)

// Kinds returns all schedulers. Register new schedulers here.
func Kinds() registry.List[elastic.Kind] {
	common := []cluster.Quirk{elastic.FirstNode, elastic.StaleShare, elastic.Backward}
	with := func(own cluster.Quirk) []cluster.Quirk { return append(common[:len(common):len(common)], own) }
	return registry.List[elastic.Kind]{
		{Name: "fifo", About: "in order of arrival, with the maximum number of workers and servers", Quirks: common,
			New: newFIFO},
		{Name: "srtf", About: "least remaining time first, with the maximum number of workers and servers",
			Quirks: with(elastic.RemainingFraction), New: newSRTF},
		{Name: "drf", About: "dominant resource fairness: the next worker and server go to the job with the smallest " +
			"dominant share", Quirks: common, New: newDRF},
		{Name: "tetris", About: "multi-resource packing that prefers short jobs", Quirks: with(elastic.LongestFirst),
			New: newTetris},
		{Name: "optimus", About: "gives the next worker or server to the job that saves the most remaining time per " +
			"unit of resources", Quirks: with(elastic.NoCost), New: newOptimus},
		{Name: "peak", About: "least remaining time first; each job gets the numbers of workers and servers at which " +
			"it is fastest", Quirks: common, New: newPeak},
		{Name: "frontier", About: "chooses the numbers of workers and servers of all jobs together, to minimise the " +
			"sum of remaining times", Quirks: common, New: newFrontier},
	}
}

// Named returns a scheduler by its name.
func Named(name string) (elastic.Kind, error) { return Kinds().Named("scheduler", name) }
