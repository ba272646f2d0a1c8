package cluster

// Placement describes the devices of a job, for a [SpeedModel].
type Placement struct {
	Job     *Job
	GPUs    int     // number of devices
	Nodes   []Share // devices by node
	Partner *Job    // job on the same devices; nil if none exists
}

// SpeedModel computes the speed of a job on its devices, and the work that it loses when its devices are taken or
// changed. Schedulers only choose devices. Concurrent simulations share one model.
type SpeedModel interface {
	// Rates returns the work per second of a job and its partner, each in seconds of work alone on the requested
	// devices. Rates must be positive and finite. Without a partner, the second one is ignored.
	Rates(p Placement) (job, partner float64)
	// Lost returns the work in seconds that a job repeats after preemption or a change of devices. It must not be
	// negative.
	Lost(j *Job) float64
}

// LinearSpeed is the default [SpeedModel]. The rate of a job that runs alone is proportional to its number of devices.
// Two jobs on the same devices work at the rates of their profiles, in which the job that came later is the first, and
// at full rate if the pair was not measured.
type LinearSpeed struct {
	Profiles *Profiles // nil means no measured pairs
}

// Rates returns one for a job alone on its requested devices.
func (m LinearSpeed) Rates(p Placement) (job, partner float64) {
	switch {
	case p.Partner == nil || m.Profiles == nil:
		rate := float64(p.GPUs) / float64(p.Job.asked)
		return rate, rate
	case p.Job.run > p.Partner.run:
		job, partner, _ = m.Profiles.Rates(ConfigOf(p.Job.Trace), ConfigOf(p.Partner.Trace))
	default:
		partner, job, _ = m.Profiles.Rates(ConfigOf(p.Partner.Trace), ConfigOf(p.Job.Trace))
	}
	return job, partner
}

// Seconds of work that a job repeats: saving and loading its state takes longer on several nodes. Measured by Hu et
// al., Lucid, ASPLOS 2023.
const (
	lostSmall  = 40
	lostLarge  = 60
	largeAbove = 8 // devices
)

// Lost returns 40 s, and 60 s for a job on more than eight devices.
func (LinearSpeed) Lost(j *Job) float64 {
	if j.GPUs > largeAbove {
		return lostLarge
	}
	return lostSmall
}
