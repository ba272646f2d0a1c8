// Package cluster simulates a cluster of GPUs: jobs of a trace arrive, a scheduler decides which
// of them run where, and the outcome records each.
//
// # How time passes
//
// Time is whole seconds since the trace's zero. Nothing ticks: the simulation goes from one
// second with an event to the next. Events are ends of jobs, which a kernel of package events keeps,
// arrivals, wake-ups of the scheduler and changes of nodes. Within a second the order is fixed: jobs end, in the order
// of their starts; jobs arrive, in the trace's order; the scheduler acts; nodes change. A job that
// starts runs from the next second on.
//
// A job has work, in seconds at rate one. Its rate is that of the study's [SpeedModel]: one alone
// on the devices that it asked for. Work is used up as a simulator that ticks would do it, to the
// last bit of a float, but not by ticking: see [used].
//
// # The parts
//
// A [Pool] is the nodes of one virtual cluster with the jobs that run on them. A [Scheduler] acts
// on a pool, a [Placer] chooses nodes. Virtual clusters share nothing, so each is simulated by
// itself, several at a time. A [Study] is a trace, a cluster and what is known about them.
// [Study.Run] simulates it under a [Policy] and returns an [Outcome].
//
// # Design
//
// Events, not ticks. The simulators that it replaces visit all jobs in each second. The simulation goes from
// one second with an event to the next: ends of jobs, which a kernel of package internal/events keeps,
// arrivals, wake-ups and changes of nodes, in this order within a second. Results equal those of ticking to the
// last bit: work decreases as if second by second (floats too, by stepping from one power of two to the next),
// and a scheduler is called where its answer could change. Each scheduler's comment argues why it cannot change
// in between; a ticking reference in the tests, on random clusters, checks the argument.
//
// A decision costs what it changes. Nodes are indexed by their free GPUs. Preemptive schedulers keep jobs in a
// treap with sums (cluster/treap), which finds the jobs that fit into a number of GPUs as whole subtrees, so
// only jobs that start or stop are visited. Lucid groups equal waiting jobs into classes and tries the first of
// each.
//
// Schedulers choose jobs, placers devices, the study rates. cluster/placer.go decides which nodes a job gets. A
// scheduler is notified of arrivals and ends, and acts on a pool by exported calls only. A SpeedModel of the
// study sets the rate of a job on its devices and the work that it loses with them. A scheduler's needs
// (estimates, profiles) and its quirks are fields of its Policy, so commands and configuration name no
// scheduler. What only Lucid needs is in cluster/lucid. A call that a pool cannot execute is an error that ends
// the simulation, not a panic. schedtest runs on every registered scheduler.
//
// Resources are a vector. A node has GPUs, thousandths of a GPU, and amounts of processors, memory and others
// by name. GPUs are special: they are indexed, and placers choose them; the other amounts only bound how many
// GPUs of a node a job can have.
//
// Faults are named. Each fault of the first simulator is a Quirk of the policies that have it, off by default.
// All together reproduce its results; one at a time shows its effect.
//
// Virtual clusters share nothing, so each is simulated alone, in parallel, and the number of workers changes no
// byte. cluster/jobsfile.go writes a row for each job; reports read the outcome, whose figures
// runner/clusters/figures.go computes. Lucid's profiler serves all of them: it is simulated first, by the same
// code with nodes of its own.
package cluster
