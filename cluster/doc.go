// Package cluster simulates a cluster of GPUs: jobs of a trace arrive, a scheduler says
// which of them run where, and what came of each is kept. It is where the changes of a
// job's devices come from.
//
// # How time passes
//
// Time is whole seconds since the trace's zero. Nothing ticks: the simulation goes from
// one event to the next, an event being a job's end, an arrival, or a moment at which
// the scheduler wants to be asked. Within a second the order is fixed: jobs end, in the
// order in which they were started; jobs arrive, in the trace's order; the scheduler
// acts. What it starts runs from the next second on.
//
// A job has work, in seconds at rate one. Alone on the devices that it asked for its
// rate is one; packed with another job, or on other devices, it is what the scheduler
// says. Work is used up second by second, as a simulator that ticks would do it, to the
// last bit of a float, but not by ticking: see [used].
//
// # The parts
//
// A [Pool] is the nodes of one virtual cluster with what runs on them; a [Scheduler]
// acts on a pool; a [Placer] chooses nodes. Virtual clusters share nothing, so each is
// simulated by itself, and several at a time. A [Study] is a trace, a cluster and what
// is known about them; [Study.Run] is a simulation of it under one scheduler, an
// [Outcome] what came of it.
package cluster
