package schedulers

import "graft/cluster"

// inTurn starts jobs in a fixed order. If the first has no placement, all later jobs wait too.
type inTurn struct{ waiting *cluster.Queue }

func (s *inTurn) Arrived(j *cluster.Job) { s.waiting.Put(j) }

func (s *inTurn) Ended(*cluster.Job) {}

func (s *inTurn) Schedule(p *cluster.Pool) int64 {
	s.waiting.Start(p)
	return cluster.Never
}

// Shrunk implements [cluster.Shrinker]. The scheduler keeps no state of running jobs.
func (s *inTurn) Shrunk(*cluster.Pool, *cluster.Job) {}

func newFIFO(cluster.Setup) (cluster.Scheduler, error) {
	return &inTurn{cluster.NewQueue()}, nil
}
