package elastic

import "iter"

// Deployment is a job type with the node of each of its tasks.
type Deployment struct {
	Model   *JobType
	Workers []int // node of each worker; not empty
	Servers []int // node of each parameter server; empty if the cluster has none
}

// Speed is a model of how fast jobs train. Its methods are safe for use by several goroutines.
type Speed interface {
	// Epochs returns the epochs that a deployed job completes in so many seconds.
	Epochs(d Deployment, seconds float64) float64
	// Limit returns an upper bound of Epochs over all placements of these numbers of tasks. Zero
	// servers stand for a cluster without parameter servers.
	Limit(t *JobType, workers, servers int, seconds float64) float64
	// Check returns an error if the model does not know a type, or not up to so many workers and
	// servers.
	Check(t *JobType, most int) error
}

// Best returns the numbers of workers and servers with the largest [Speed.Limit] that options
// allow, and that limit for one slot. Of equal ones it returns the fewest workers, then servers;
// if no limit is positive, zero of all.
func Best(s Speed, t *JobType, o *Options) (workers, servers int, epochs float64) {
	for w, p := range counts(o) {
		if limit := s.Limit(t, w, p, o.Slot); limit > epochs {
			workers, servers, epochs = w, p, limit
		}
	}
	return workers, servers, epochs
}

// counts yields all numbers of workers and servers with which a job can train.
func counts(o *Options) iter.Seq2[int, int] {
	return func(yield func(workers, servers int) bool) {
		for workers := 1; workers <= o.Most; workers++ {
			first, last := 1, o.Most
			if o.AllReduce {
				first, last = 0, 0
			}
			for servers := first; servers <= last; servers++ {
				if !yield(workers, servers) {
					return
				}
			}
		}
	}
}
