// Package goodput models data-parallel training with a variable batch: the speed of a job on given devices, and the
// progress per example at a given batch. Their product is the goodput, in examples of the smallest batch per second, as
// in Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep Learning", OSDI 2021.
package goodput
