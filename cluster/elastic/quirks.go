package elastic

import (
	"slices"

	"graft/cluster"
)

// Faults of DL2's simulator and of its baselines.
var (
	// FirstNode ends the slot at the first task that does not fit on the least loaded node.
	FirstNode = cluster.Quirk{Name: "first-node",
		Fixed: "a task tries all nodes, least loaded first; if no node has room, other jobs still get tasks"}
	// StaleShare carries dominant shares over to the next slot.
	StaleShare = cluster.Quirk{Name: "stale-share",
		Fixed: "a dominant share starts each slot at zero and is updated after every task"}
	// Backward keeps negative speeds, an artefact of interpolation, which make jobs lose progress.
	Backward = cluster.Quirk{Name: "backward", Fixed: "a negative speed, an artefact of interpolation, counts as zero"}
	// RemainingFraction makes the scheduler SRTF order jobs by the remaining fraction of their epochs instead of their
	// remaining time.
	RemainingFraction = cluster.Quirk{Name: "remaining-fraction",
		Fixed: "SRTF orders jobs by remaining time, not by the remaining fraction of their epochs"}
	// LongestFirst makes the scheduler Tetris prefer jobs with much remaining work, include jobs that cannot get more
	// tasks in the means of its scores, and leave a node as soon as the job with the highest score does not fit.
	LongestFirst = cluster.Quirk{Name: "longest-first",
		Fixed: "Tetris prefers short jobs, scores only jobs that fit, and moves to the next node when no job fits"}
	// NoCost makes the scheduler Optimus ignore the resources that a task needs, start a job with a worker before its
	// server, and add tasks that slow down a job that has exceeded its estimate.
	NoCost = cluster.Quirk{Name: "no-cost", Fixed: "Optimus divides the gain of a task by its dominant resource " +
		"cost, starts a job with a worker and a server together, and ignores speeds that are not positive"}
)

// Quirks returns all quirks: bugs of the original simulator that graft can reproduce. Register new quirks here.
func Quirks() []cluster.Quirk {
	return []cluster.Quirk{FirstNode, StaleShare, Backward, RemainingFraction, LongestFirst, NoCost}
}

// Compatible returns options that reproduce the results of the original simulator: all quirks, and scaling without
// cost.
func Compatible() Options {
	return Options{Scaling: NoScaling, Quirks: cluster.QuirksOf(Quirks())}
}

// unknownQuirks returns the names that are not quirks.
func unknownQuirks(names cluster.Quirks) cluster.Quirks {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.Contains(cluster.QuirksOf(Quirks()), name)
	})
}
