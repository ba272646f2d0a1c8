package cluster

// Placement says what a job works on, for a [SpeedModel].
type Placement struct {
	Job     *Job
	GPUs    int     // number of its devices
	Nodes   []Share // these devices
	Partner *Job    // job on the same devices; nil if it has them for itself
}

// SpeedModel is the physics of a study: it says how fast a job works where it is, and what it
// loses when its devices are taken or changed. Schedulers choose devices and nothing else.
// Simulations that run at the same time share one model.
type SpeedModel interface {
	// Rates returns the work that a job and its partner do in a second, each in seconds of work
	// alone on the devices that it asked for. They must be positive and finite; that of a partner
	// who is not there is ignored.
	Rates(p Placement) (job, partner float64)
	// Lost returns the work in seconds that a job has to repeat when it is preempted or gets
	// other devices. It must not be negative.
	Lost(j *Job) float64
}

// LinearSpeed is the default [SpeedModel]. A job that has its devices for itself works in
// proportion to their number. Two jobs on the same devices work at the rates of their profiles,
// of which the first is that of the job that came later, and at full rate where the pair was not
// measured.
type LinearSpeed struct {
	Profiles *Profiles // nil has no pairs
}

// Rates returns one for a job alone on the devices that it asked for.
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

// Seconds of work that a job repeats: saving and loading its state takes longer on several
// nodes. Hu et al., Lucid, ASPLOS 2023, measured them.
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
