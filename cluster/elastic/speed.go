package elastic

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

// Best returns the largest [Speed.Limit] over all numbers of tasks that options allow, for one slot.
func Best(s Speed, t *JobType, o *Options) (epochs float64) {
	for workers, servers := range counts(o) {
		epochs = max(epochs, s.Limit(t, workers, servers, o.Slot))
	}
	return epochs
}

// counts yields all numbers of workers and servers with which a job can train.
func counts(o *Options) func(yield func(workers, servers int) bool) {
	return func(yield func(workers, servers int) bool) {
		for workers := 1; workers <= o.Most; workers++ {
			if o.AllReduce {
				if !yield(workers, 0) {
					return
				}
				continue
			}
			for servers := 1; servers <= o.Most; servers++ {
				if !yield(workers, servers) {
					return
				}
			}
		}
	}
}
