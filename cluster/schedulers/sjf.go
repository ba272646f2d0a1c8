package schedulers

import "graft/cluster"

// newSJF starts the shortest job first. It uses true durations, or time limits that are enforced and shorter.
func newSJF(s cluster.Setup) (cluster.Scheduler, error) {
	return &inTurn{cluster.NewQueue(func(j *cluster.Job) float64 {
		if s.Study.Limits && j.Trace.Limit > 0 {
			return float64(min(j.Trace.Duration, j.Trace.Allowed()))
		}
		return float64(j.Trace.Duration)
	})}, nil
}
