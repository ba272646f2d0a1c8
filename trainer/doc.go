// Package trainer runs one job from its start to the end of its budget: epochs over
// images that lie on the device, a clock that says how much time is left, a
// timeline of the devices that come and go, a decider that is asked how to adapt,
// surgery and distillation that carry it out, and checkpoints from which a job that
// was stopped at any moment goes on as if it had not been.
//
// What a job does depends on its options, its data and its clock, and on nothing
// else: with a virtual clock two runs give the same digest on any machine. Where it
// trains in a process for each device, what these add up is rounded otherwise, and
// the digest is that of as many processes at the same steps.
package trainer
