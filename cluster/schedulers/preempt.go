package schedulers

import "graft/cluster"

// What a preempted job loses, in seconds of its work: to save and load its state takes
// longer for jobs on several nodes. Hu et al., Lucid, ASPLOS 2023, measured it.
const (
	lostSmall  = 40
	lostLarge  = 60
	largeAbove = 8 // devices
)

// lost is what a job loses when it is preempted.
func lost(j *cluster.Job) float64 {
	if j.GPUs > largeAbove {
		return lostLarge
	}
	return lostSmall
}
