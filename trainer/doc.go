// Package trainer runs one job from its start to the end of its budget: epochs over
// images on the device, a clock for the time left, a timeline of devices that come and
// go, a decider that chooses how to adapt, surgery and distillation that carry it out,
// and checkpoints from which a stopped job resumes as if it had not been stopped.
//
// A job has four parts on one core: Job is the loop, adaptation changes the network,
// distillation teaches a network that shrank, and team trains on several devices.
//
// The result of a job depends on its options, its data and its clock alone: with a
// virtual clock two runs give the same digest on any machine. Several processes round
// sums differently from one, so their digest is that of the same number of processes at
// the same steps.
package trainer
