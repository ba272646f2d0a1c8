package cluster

// Scheduler says which jobs of a pool run, and where. One is made for each pool, and each
// pool is simulated by itself.
type Scheduler interface {
	// Arrived tells that a job waits. A preempted job does so without being told again.
	Arrived(j *Job)
	// Ended tells that a job has ended and left its devices.
	Ended(j *Job)
	// Schedule starts, preempts, packs and resizes jobs. It is asked once in each second
	// in which jobs arrived or ended, and at the second that it returned last, which is
	// later than now or [Never].
	Schedule(p *Pool) int64
}

// Quirks are faults of the simulator that had these schedulers first. Its results hold them;
// the zero value has none of them.
type Quirks struct {
	ExtraSecond   bool // preemptive schedulers and Lucid: a job keeps its devices for a second too long
	SlowPartner   bool // Lucid: of two packed jobs the one that came later stays slow when the other ends
	FreeProfiling bool // Lucid: the time that a job spends in the profiler delays nothing
	SizeFirst     bool // QSSF: jobs that come while none waits are tried by size for a second
	FourModels    bool // Lucid: four models are taken to disturb nobody, though two of them were measured
}

// AllQuirks are all of them: results equal the first simulator's.
func AllQuirks() Quirks {
	return Quirks{ExtraSecond: true, SlowPartner: true, FreeProfiling: true, SizeFirst: true, FourModels: true}
}
