// Package fabric simulates clusters that run training steps operation by operation. Jobs arrive; a decider chooses the
// number of parts into which a job's operations are split; the parts are placed on servers, and transfers between them
// use a network. A job that would take too long or finds no servers is blocked.
//
// A [Study] is an episode before it begins; a [World] is a running episode. A job's graph is split ([Parted]) and
// placed ([Place]), and its training step is simulated ([Timing.Run]). [Network] connects servers; [Ramp] is RAMP's
// optical network. Each fault of PAC-ML's simulator has a name; with all of them, its results are
// reproduced.
package fabric
