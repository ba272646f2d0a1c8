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
	// Rate returns the work that a job does in a second, in seconds of work alone on the
	// devices that it asked for. It must be positive and finite.
	Rate(p Placement) float64
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

// Rate returns one for a job alone on the devices that it asked for.
func (m LinearSpeed) Rate(p Placement) float64 {
	if p.Partner == nil || m.Profiles == nil {
		return float64(p.GPUs) / float64(p.Job.asked)
	}
	guest, host := p.Job, p.Partner
	if guest.run < host.run {
		guest, host = host, guest
	}
	rate, hostRate, _ := m.Profiles.Rates(ConfigOf(guest.Trace), ConfigOf(host.Trace))
	if host == p.Job {
		return hostRate
	}
	return rate
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
