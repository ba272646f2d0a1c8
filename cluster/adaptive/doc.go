// Package adaptive simulates training jobs whose schedulers choose numbers of devices anew in each
// round, and whose batches follow: a [World] of jobs of known [Application]s on equal nodes. Times of
// steps and statistics of gradients are measured ones; what a job knows of itself it learns while it runs
// ([goodput.Fit]). The world is that of the simulator of Pollux (Qiao et al., OSDI 2021).
package adaptive
