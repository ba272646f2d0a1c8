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
package elastic
