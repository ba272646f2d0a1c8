package trace

import (
	"cmp"
	"errors"

	"graft/internal/validate"
)

// AdaptOptions defines the jobs that could have adapted to the GPUs of the cluster. Such a job is long and runs on
// whole GPUs. In addition, it has several GPUs, or it was restarted several times.
type AdaptOptions struct {
	Hours    float64 `json:"min_hours"`    // minimum run time in hours; zero means 1
	GPUs     int     `json:"min_gpus"`     // minimum number of GPUs; zero means 2
	Restarts int     `json:"min_restarts"` // number of restarts that replaces the minimum number of GPUs; zero means 2
}

// EnsureDefaults replaces zero values with defaults.
func (o *AdaptOptions) EnsureDefaults() {
	o.Hours, o.GPUs, o.Restarts = cmp.Or(o.Hours, 1), cmp.Or(o.GPUs, 2), cmp.Or(o.Restarts, 2)
}

// Validate returns an error that lists every invalid option.
func (o *AdaptOptions) Validate() error {
	const most = 1e6 // hours, more than a century
	var faults validate.Faults
	faults.Unless(o.Hours > 0 && o.Hours <= most, "the run time of jobs that could have adapted is %v hours; "+
		"expected more than 0, at most %v", o.Hours, most)
	faults.When(o.GPUs < 1 || o.GPUs > maxCount, "the number of GPUs of jobs that could have adapted is %d; "+
		"expected 1 to %d", o.GPUs, maxCount)
	faults.When(o.Restarts < 1 || o.Restarts > maxCount, "the number of restarts of jobs that could have adapted is "+
		"%d; expected 1 to %d", o.Restarts, maxCount)
	return errors.Join(faults...)
}

// Adaptable summarises the jobs that could have adapted.
type Adaptable struct {
	AdaptOptions
	Jobs     int     `json:"jobs"`      // number of jobs
	Share    float64 `json:"share"`     // fraction of all jobs
	GPUHours float64 `json:"gpu_hours"` // sum of GPU hours over these jobs
	GPUShare float64 `json:"gpu_share"` // fraction of the GPU hours of all jobs
}

// holds reports whether a job could have adapted.
func (o *AdaptOptions) holds(job *Job) bool {
	restarts := 0
	if job.History != nil {
		restarts = job.History.Restarts
	}
	return float64(job.Duration) >= o.Hours*secondsOfHour && job.GPUs > 0 && job.Share == 0 &&
		(job.GPUs >= o.GPUs || restarts >= o.Restarts)
}

func (t *tally) addAdaptable(job *Job, gpuSeconds float64) {
	a := &t.sum.Adapt
	if a.holds(job) && !job.Runaway() {
		a.Jobs++
		a.GPUHours += gpuSeconds // in seconds until the end
	}
}
