package cluster

// Placement describes the devices of a job, for a [SpeedModel].
type Placement struct {
	Job     *Job
	GPUs    int     // number of devices
	Nodes   []Share // devices on each node
	Partner *Job    // job that shares the devices; nil if they are not shared
}

// SpeedModel computes the speed of a job on its devices, and the work that it loses when its devices are taken or
// changed. A model is shared by concurrent simulations, so it must be safe for concurrent use.
type SpeedModel interface {
	// Rates returns the work per second of a job and of its partner, the job with which it shares its devices. A job
	// that runs alone on its requested devices does one second of work per second. Rates must be positive and finite.
	// Without a partner, the second rate is ignored.
	Rates(p Placement) (job, partner float64)
	// Lost returns the work in seconds that a job repeats after preemption or a change of devices. It must not be
	// negative.
	Lost(j *Job) float64
}

// LinkModel is a [SpeedModel] of jobs that slow each other down because they share links between nodes. Rates returns
// the rate of a job whose links nobody else uses.
type LinkModel interface {
	SpeedModel
	// Together sets the rates of jobs that run at the same time, each on devices of several nodes that it does not
	// share. Rates must be positive and finite.
	Together(running []*Job, rates []float64)
}

// LinearSpeed is the default [SpeedModel]. The rate of a job that runs alone is proportional to its number of devices.
// Two jobs that share devices run at the rates in the profile of their pair. If both jobs have the same configuration,
// the first rate is for the job that started later. If no profile of a pair exists, both jobs run at full rate.
type LinearSpeed struct {
	Profiles *Profiles // profiles of pairs; nil means no measured pairs
}

// Rates implements [SpeedModel]. A job that runs alone on its requested devices has a rate of 1.
func (m LinearSpeed) Rates(p Placement) (job, partner float64) {
	switch {
	case p.Partner == nil || m.Profiles == nil:
		rate := float64(p.GPUs) / float64(p.Job.asked)
		return rate, rate
	case p.Job.Order() > p.Partner.Order():
		job, partner, _ = m.Profiles.Rates(ConfigOf(p.Job.Trace), ConfigOf(p.Partner.Trace))
	default:
		partner, job, _ = m.Profiles.Rates(ConfigOf(p.Partner.Trace), ConfigOf(p.Job.Trace))
	}
	return job, partner
}

// Seconds of work that a job repeats. Saving and loading its state takes longer on several nodes. Measured by Hu et
// al., Lucid, ASPLOS 2023.
const (
	lostSmall  = 40
	lostLarge  = 60
	largeAbove = 8 // devices
)

// Lost returns 40 seconds of work, or 60 seconds for a job on more than eight devices.
func (LinearSpeed) Lost(j *Job) float64 {
	if j.GPUs > largeAbove {
		return lostLarge
	}
	return lostSmall
}
