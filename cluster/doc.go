// Package cluster simulates a cluster of GPUs: jobs of a trace arrive, a scheduler decides which of them run where, and
// the outcome records each job.
//
// # How time passes
//
// Time is whole seconds since the trace's zero. The simulation is event-driven: it advances from one second with an
// event to the next. Events are ends of jobs, which a kernel of package events keeps, arrivals, wake-ups of the
// scheduler and changes of nodes. Within a second the order is fixed: jobs end, in the order of their starts; jobs
// arrive, in the order of the trace; the scheduler acts; nodes change. A job that starts runs from the next second on.
//
// A job has work, in seconds at rate one. The study's [SpeedModel] sets its rate, which is one for a job alone on the
// requested devices. Work decreases exactly, to the last bit of a float, as in a simulator that ticks every second,
// but without ticking: see [used].
//
// # The parts
//
// A [Pool] holds the nodes of one virtual cluster and the jobs that run on them. A [Scheduler] acts on a pool; a
// [Placer] chooses nodes. Virtual clusters share no state, so each is simulated separately, and several of them in
// parallel. A [Study] is a trace, a cluster and advance information about the jobs. [Study.Run] simulates it under a
// [Policy] and returns an [Outcome].
//
// # Design
//
// Events, not ticks. The simulators that this package replaces visit all jobs in each second. This simulation
// advances from one second with an event to the next: ends of jobs, which a kernel of package internal/events keeps,
// arrivals, wake-ups and changes of nodes, in this order within a second. Results are bit-identical to the results of
// ticking. Work decreases as if it were subtracted second by second, also for floats, which step from one power of
// two to the next. A scheduler is called whenever its answer could change. Each scheduler's comment explains why its
// answer cannot change in between; a ticking reference in the tests, on random clusters, checks the explanation.
//
// The cost of a decision is proportional to its changes. Nodes are indexed by their free GPUs. Preemptive schedulers
// keep jobs in a treap with sums (cluster/treap), which finds the jobs that fit into a number of GPUs as whole
// subtrees, so that only jobs that start or stop are visited. Lucid groups equal waiting jobs into classes and tries
// only the first job of each class.
//
// Schedulers choose jobs, placers choose devices, and the study sets rates. cluster/placer.go decides which nodes a
// job gets. A scheduler is notified of arrivals and ends, and acts on a pool only through exported calls. The study's
// SpeedModel sets the rate of a job on its devices and the work that it loses with them. A scheduler's needs
// (estimates, profiles) and its quirks are fields of its Policy, so commands and configuration name no scheduler.
// Code that only Lucid needs is in cluster/lucid. A call that a pool cannot execute is an error that ends the
// simulation, not a panic. schedtest runs on every registered scheduler.
//
// Resources are a vector. A node has GPUs, thousandths of a GPU, and amounts of processors, memory and other named
// resources. GPUs are special: they are indexed, and placers choose them. The other amounts only limit how many GPUs of
// a node a job can have.
//
// Types of nodes are sets of bits. A job tries the types that it accepts, fastest first, and placers see only the nodes
// of these types, through an index of their own. Placers, and schedulers that only start jobs, need no code for types.
// Schedulers that compare the demand of jobs with the room of a pool count the room of each type too.
//
// Spot jobs that can be evicted have a pool and a scheduler of their own, on the same nodes. The devices that other
// jobs take disappear from this pool, and its jobs on them are evicted (cluster/spot.go). So the other jobs are
// scheduled as if spot jobs did not exist, and no scheduler needs code for evictions.
//
// Faults are named. Each fault of the first simulator is a Quirk of the policies that have it, off by default. With
// all faults on, the results of that simulator are reproduced; with a single fault on, its effect is visible.
//
// Virtual clusters share nothing, so each is simulated separately, in parallel, and the number of workers does not
// change the result. cluster/jobsfile.go writes a row for each job; reports read the outcome, whose figures
// runner/clusters/figures.go computes. Lucid's profiler is shared by all virtual clusters: it is simulated first, by
// the same code, with its own nodes.
package cluster
