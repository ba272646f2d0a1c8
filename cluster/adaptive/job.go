package adaptive

import (
	"cmp"
	"math"
	"slices"

	"graft/trainer/goodput"
)

// Spec describes a job in a workload.
type Spec struct {
	Name      string
	Submitted float64 // submission time in seconds from the start
	App       *Application
	Devices   int // number of devices that the user requests
	Batch     int // examples per step that the user requests
	// Work multiplies the work of every epoch, for jobs that are longer or shorter than their application's measured
	// run; zero means 1.
	Work float64
}

// Multiple returns Work, or 1 if Work is zero.
func (s *Spec) Multiple() float64 { return cmp.Or(s.Work, 1) }

// Alone returns the job's run time in seconds when it runs alone on one device at the smallest batch size.
func (s *Spec) Alone() (seconds float64, err error) {
	seconds, err = s.App.OneDevice()
	return seconds * s.Multiple(), err
}

// Requested returns the run time of the job in seconds if it has the batch size and the number of devices that its user
// requests, on nodes with perNode devices each.
func (s *Spec) Requested(perNode int) (seconds float64, err error) {
	seconds, err = s.App.time(compact(s.Devices, perNode), s.Batch)
	return seconds * s.Multiple(), err
}

// Share is a number of devices on one node.
type Share struct{ Node, Devices int }

// Job is the state of a job in a running simulation. Times are in seconds from the start of the simulation.
type Job struct {
	Spec
	Row int // position of the job in order of submission

	Allocation []Share
	Batch      goodput.Batch // current batch, divided among the devices
	Epoch      int           // current epoch
	Progress   float64       // progress in steps of the smallest batch
	Attained   float64       // device-seconds used so far
	Restarts   int           // number of changes of the allocation, without the first allocation
	Started    float64       // time at which the job first had devices; negative before
	Ended      float64       // completion time; negative before

	target    int     // fixed batch; zero adapts the batch
	placement []int   // devices by node
	devices   int     // sum of placement
	stopped   float64 // seconds until its devices work again
	seen      []goodput.Measured
	known     *goodput.Job // its own fitted model; nil before its first step
}

func newJob(spec Spec, row int) *Job {
	return &Job{Spec: spec, Row: row, Started: -1, Ended: -1}
}

// Devices returns the job's current number of devices.
func (j *Job) Devices() int { return j.devices }

// Done reports whether the job is complete.
func (j *Job) Done() bool { return j.Ended >= 0 }

// JCT is the time from submission to completion.
func (j *Job) JCT() float64 { return j.Ended - j.Submitted }

// Known returns the speed model fitted to the job's own step times, or nil before its first step.
func (j *Job) Known() *goodput.Job { return j.known }

// tune chooses the division of the batch among devices, and the batch size if it is adaptive.
func (j *Job) tune() {
	limits := j.App.Limits
	total := j.target
	if total == 0 && j.known == nil {
		total = max(limits.Least, limits.DeviceLeast*j.devices)
	}
	if total > 0 {
		j.Batch = limits.Share(total, j.devices, false)
		return
	}
	_, b := j.known.Best(len(j.placement), j.devices)
	j.Batch = limits.Bound(b, j.devices)
}

// allocate changes the job's devices. The job then stops for the delay.
func (j *Job) allocate(shares []Share, delay, now float64) {
	j.Allocation = shares
	j.placement, j.devices = j.placement[:0], 0
	for _, s := range shares {
		j.placement = append(j.placement, s.Devices)
		j.devices += s.Devices
	}
	if j.devices == 0 {
		j.Batch.Device = 0
		return
	}
	j.tune()
	j.stopped = delay
	if j.Started < 0 {
		j.Started = now
	} else {
		j.Restarts++
	}
}

// advance runs a job from now for some seconds, each of which counts as worth seconds of training.
func (j *Job) advance(w *World, now, seconds, worth float64) error {
	if j.devices == 0 || j.Done() {
		return nil
	}
	stopped := min(j.stopped, seconds)
	j.stopped -= stopped
	j.Attained += stopped * float64(j.devices)
	now, seconds = now+stopped, seconds-stopped
	for seconds > 0 && !j.Done() {
		spent, err := j.work(w, now, seconds, worth)
		if err != nil {
			return err
		}
		j.Attained += spent * float64(j.devices)
		now, seconds = now+spent, seconds-spent
	}
	return nil
}

// work runs a job until the end of its epoch or of the seconds, and returns the time spent.
func (j *Job) work(w *World, now, seconds, worth float64) (spent float64, err error) {
	total := j.Batch.Total(j.devices)
	step, sync, err := j.App.times.Step(j.placement, j.Batch.Device)
	if err != nil {
		return 0, err
	}
	compute := step - sync
	noise, err := j.App.Noise(total, j.Epoch)
	if err != nil {
		return 0, err
	}
	gain := noise.Gain(float64(total) / float64(j.App.Limits.Least))
	if w.learns {
		j.learn(goodput.Measured{Nodes: len(j.placement), Devices: j.devices, Device: j.Batch.Device, Compute: compute,
			Step: step}, noise)
	}
	rate := gain / (step + float64(compute*float64(j.Batch.Accumulate))) * worth
	if next := j.begins(j.Epoch + 1); j.Progress+float64(rate*seconds) < next {
		j.Progress += float64(rate * seconds)
		spent = seconds
	} else {
		spent = (next - j.Progress) / rate
		if w.options.Quirks.Keeps(WholeSeconds) {
			spent = math.RoundToEven(spent)
		}
		j.Epoch, j.Progress = j.Epoch+1, next
		if spent = min(spent, seconds); j.Epoch == j.App.Epochs {
			j.Ended = now + spent
		}
	}
	j.tune()
	return spent, nil
}

// begins returns the progress at which an epoch of the job begins.
func (j *Job) begins(epoch int) float64 { return j.App.Progress(epoch) * j.Multiple() }

// learn updates the job's model with the measurements of a step.
func (j *Job) learn(m goodput.Measured, noise goodput.Noise) {
	if j.known == nil {
		j.known = &goodput.Job{Limits: j.App.Limits}
	}
	j.known.Noise = noise
	if !slices.ContainsFunc(j.seen, func(s goodput.Measured) bool {
		return s.Nodes == m.Nodes && s.Devices == m.Devices && s.Device == m.Device
	}) {
		j.seen = append(j.seen, m)
		j.known.Speed = goodput.Fit(j.seen)
	}
}

// most is the largest number of devices that the job has run on.
func (j *Job) most() (n int) {
	for _, s := range j.seen {
		n = max(n, s.Devices)
	}
	return n
}
