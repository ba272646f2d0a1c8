package cluster

// Scheduler decides which jobs of a pool run, and where. Each pool has its own scheduler and is simulated separately.
type Scheduler interface {
	// Arrived announces a waiting job. A preempted job waits without another announcement.
	Arrived(j *Job)
	// Ended announces that a job has ended and left its devices.
	Ended(j *Job)
	// Schedule starts, preempts, packs and resizes jobs. It is called once in each second in which jobs arrived or
	// ended, and at the second that it returned last, which is later than now or [Never].
	Schedule(p *Pool) int64
}
