package schedulers

import "graft/cluster"

// newSJF starts the shortest job first. It uses true durations.
func newSJF(cluster.Setup) (cluster.Scheduler, error) {
	return &inTurn{cluster.NewQueue(func(j *cluster.Job) float64 { return float64(j.Trace.Duration) })}, nil
}
