// Package fabric simulates clusters on which training steps run operation by operation: jobs arrive,
// a decider chooses into how many parts the operations of each are split, its parts are placed on
// servers, transfers between them go over a network, and a job that would take too long, or finds no
// servers, is blocked.
//
// A [Study] is an episode before it begins, a [World] one that runs. A job's graph is split ([Parted]),
// placed ([Place]) and its training step simulated ([Timing.Run]). [Network] is what connects servers;
// [Ramp] is the optical one of RAMP. The faults of the simulator of PAC-ML each have a name; with all
// of them results equal its own.
package fabric
