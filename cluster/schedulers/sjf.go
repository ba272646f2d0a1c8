package schedulers

import "graft/cluster"

// newSJF starts the shortest job first. It knows how long each will take.
func newSJF(cluster.Setup) (cluster.Scheduler, error) {
	return &inTurn{cluster.NewQueue(func(a, b *cluster.Job) bool {
		return a.Trace.Duration < b.Trace.Duration
	})}, nil
}
