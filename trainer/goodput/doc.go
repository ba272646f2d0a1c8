// Package goodput is a model of data-parallel training whose batch may change: how fast a job works
// on some devices, and how much each example is worth at some size of a batch. Their product is the
// goodput, in examples of the smallest batch a second, as in Qiao et al., "Pollux: Co-adaptive
// Cluster Scheduling for Goodput-Optimized Deep Learning", OSDI 2021.
package goodput
