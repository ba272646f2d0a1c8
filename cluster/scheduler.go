package cluster

// Scheduler decides which jobs of a pool run on which devices. Each pool has its own scheduler and is simulated
// separately.
type Scheduler interface {
	// Arrived is called when a job arrives and starts to wait. It is not called again when a preempted job returns to
	// the queue.
	Arrived(j *Job)
	// Ended is called after a job has ended and released its devices.
	Ended(j *Job)
	// Schedule starts, preempts, packs and resizes jobs. It returns the next second at which it must be called, or
	// [Never]. It is also called once in each second in which jobs arrived or ended.
	Schedule(p *Pool) int64
}
