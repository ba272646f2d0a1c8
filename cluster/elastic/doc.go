// Package elastic simulates a cluster of data-parallel training jobs whose numbers of workers
// and parameter servers change from slot to slot, the setting of DL2 (Peng et al., "DL2: A deep
// learning-driven scheduler for deep learning clusters", arXiv:1909.06040).
//
// # How time passes
//
// Time is divided into slots of equal length. In each slot jobs arrive, a [Scheduler] gives every
// unfinished job workers and servers on nodes, starting from none, and the jobs train until the
// slot ends. A job that finishes within a slot holds its resources until the slot's end. Times
// are in slots; a completion has a fraction.
//
// # The parts
//
// A [Study] is a workload on a cluster with a [Speed] model. [Study.Run] simulates it under a
// scheduler and returns a [Result]. A [World] is the simulation slot by slot, for schedulers and
// for environments that learn. [LowerBound] bounds the mean completion time of every scheduler.
//
// Everything is deterministic: jobs are visited in ascending ID, nodes by load and then ID, and
// random numbers come from a seed.
//
// # Design
//
// A world is one object, slot by slot. Begin, any number of Add, End: schedulers, environments and the recorder
// of examples use the same three calls, so an agent schedules exactly the world that it learned in. Resources
// are small vectors; the least loaded node is the head of a heap.
//
// Two worlds, few parts in common. Both use the heap of events, named quirks and cluster.Fits, the check of a
// vector of resources. The rest differs in kind. Nodes of cluster are indexed by a bit for each free device,
// jobs stay on them, and other resources, any number of them, only bound devices; nodes of cluster/elastic are
// equal, are emptied each slot, and are ordered by their load. One type for both would keep indexes that either
// world never reads. A rigid simulation stands still when nothing can happen any more, an elastic one when
// epochs no longer come; so each has its own check.
//
// Quirks are data. Each fault of the original has a name and is off. With all of them kept, all recorded runs
// are reproduced, allocations by digest; what reproduces its learning lies in original/dl2.
//
// DL2's training goes on to the bit. An agent stops between slots alone: its memory and generators are saved,
// and its environment as the actions that it took and the errors of speeds that it drew. Restoring draws the
// workloads again and plays the actions. Asynchronous agents take turns in a fixed order.
//
// Every result stands beside a bound. No schedule has a lower mean time to completion, so a report says how
// much is left to gain and not only who is ahead.
package elastic
