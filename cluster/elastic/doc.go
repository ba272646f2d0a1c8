// Package elastic simulates a cluster of data-parallel training jobs whose numbers of workers
// and parameter servers change from slot to slot, the setting of DL2 (Peng et al., "DL2: A deep
// learning-driven scheduler for deep learning clusters", arXiv:1909.06040).
//
// # How time passes
//
// Time is divided into slots of equal length. In each slot jobs arrive, a [Scheduler] gives every unfinished job
// workers and servers on nodes, starting from zero, and the jobs train until the slot ends. A job that finishes
// within a slot holds its resources until the slot's end. Times are in slots; completion times have fractions.
//
// # The parts
//
// A [Study] is a workload on a cluster with a [Speed] model. [Study.Run] simulates it under a scheduler and returns a
// [Result]. A [World] is the simulation slot by slot, for schedulers and for learning environments. [LowerBound] bounds
// the mean completion time of every scheduler.
//
// The simulation is deterministic: jobs are visited in ascending ID, nodes by load and then ID, and random numbers
// come from a seed.
//
// # Design
//
// A world is one object that advances slot by slot: Begin, any number of Add, End. Schedulers, environments and the
// recorder of examples use the same three calls, so an agent schedules exactly the world in which it learned. Resources
// are small vectors; the least loaded node is the head of a heap.
//
// The elastic and the rigid world share only a few parts: the heap of events, named quirks and cluster.Fits, which
// checks a vector of resources. The other parts differ too much. Nodes of cluster are indexed by one bit per free
// device, jobs stay on them, and other resources, any number of them, only limit devices. Nodes of cluster/elastic
// are equal, are emptied each slot, and are ordered by load. A common type would maintain indexes that one of the
// worlds never reads. A rigid simulation stalls when no event can occur, an elastic one when jobs make no progress;
// so each has its own check.
//
// Quirks are data. Each fault of the original simulator has a name, and all of them are off by default. With all
// quirks on, the simulation reproduces all recorded runs, and the digests of their allocations; package original/dl2
// reproduces its learning.
//
// DL2's training resumes with bit-identical results. An agent stops only between slots: it saves its memory, its
// random number generators, and the state of its environment as the list of the actions taken and the speed errors
// drawn. Restoring draws the workloads again and replays the actions. Asynchronous agents take turns in a fixed
// order.
//
// Every result is reported with a lower bound on the mean time to completion of any schedule. A report therefore
// shows the remaining potential and not only the best scheduler.
package elastic
