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
package cluster
