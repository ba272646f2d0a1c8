// Package adaptive simulates training jobs whose schedulers choose the number of devices in each round, and whose
// batches follow the devices. A [World] runs jobs of known [Application]s on equal nodes. Step times and gradient
// statistics are measured; a job fits its own model while it runs ([goodput.Fit]). The world reproduces the simulator
// of Pollux (Qiao et al., OSDI 2021).
package adaptive
