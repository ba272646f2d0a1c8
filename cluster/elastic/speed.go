package elastic

import "iter"

// Deployment holds the type of a job and the nodes on which its tasks run.
type Deployment struct {
	Model   *JobType
	Workers []int // node of each worker; not empty
	Servers []int // node of each parameter server; empty if the cluster has none
}

// Speed models the training speed of jobs. The methods of a Speed are safe for concurrent use.
type Speed interface {
	// Epochs returns the number of epochs that a deployed job completes in the given number of seconds.
	Epochs(d Deployment, seconds float64) float64
	// Limit returns an upper bound on Epochs over all placements of the given numbers of workers and servers. Zero
	// servers mean a cluster without parameter servers.
	Limit(t *JobType, workers, servers int, seconds float64) float64
	// Check returns an error if the speed model does not cover a job type for all numbers of workers and servers up to
	// the argument most.
	Check(t *JobType, most int) error
}

// Best returns the numbers of workers and servers that maximise [Speed.Limit], among the numbers that the options
// allow. It also returns this limit, in epochs per slot. On a tie it returns the fewest workers, then the fewest
// servers. If no limit is positive, it returns zeros.
func Best(s Speed, t *JobType, o *Options) (workers, servers int, epochs float64) {
	for w, p := range counts(o) {
		if limit := s.Limit(t, w, p, o.Slot); limit > epochs {
			workers, servers, epochs = w, p, limit
		}
	}
	return workers, servers, epochs
}

// counts yields all numbers of workers and servers that a job can train with.
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
