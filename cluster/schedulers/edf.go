package schedulers

import "graft/cluster"

// newEDF starts the job with the earliest deadline first (Liu and Layland, Scheduling algorithms for multiprogramming
// in a hard-real-time environment, JACM 1973), without preemption. If the first job has no placement, all later jobs
// wait. Jobs without a deadline come last.
func newEDF(s cluster.Setup) (cluster.Scheduler, error) {
	return &inTurn{cluster.NewQueue(func(j *cluster.Job) float64 { return s.Study.Deadline(j.Trace) })}, nil
}
