package adaptive

import (
	"fmt"
	"math"
	"math/bits"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/goodput"
)

// rigidPool is the name of the only virtual cluster of a rigid study.
const rigidPool = "all"

// Rigid is the study for schedulers of jobs that keep devices and batch: each job has those that its user
// asks for, and takes as long as its epochs take on as few nodes as there can be, after the delay of a
// start. Times are whole seconds. On other nodes, or on fewer devices, it is as fast as its steps.
func (s *Study) Rigid() (*cluster.Study, error) {
	o := s.Options
	o.EnsureDefaults()
	r := &cluster.Study{VCs: []trace.VC{{Name: rigidPool, Nodes: o.Nodes}}, PerNode: o.Devices}
	speed := &rigidSpeed{options: o, jobs: map[string]*Spec{}}
	r.Speed = speed
	for k := range s.Jobs {
		j := &s.Jobs[k]
		seconds, err := j.alone(o)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.Name, err)
		}
		speed.jobs[j.Name] = j
		r.Jobs = append(r.Jobs, trace.Job{ID: j.Name, VC: rigidPool, Submit: int64(math.Ceil(j.Submitted)), Duration: int64(math.Ceil(o.Delay + seconds)),
			GPUs: j.Devices, Model: j.App.Name, Batch: j.Batch})
	}
	return r, nil
}

// alone is the time of all epochs with what the user asks for, on as few nodes as there can be.
func (j *Spec) alone(o Options) (seconds float64, err error) {
	return j.App.seconds(compact(j.Devices, o.Devices), j.App.Limits.Share(j.Batch, j.Devices, false))
}

// seconds is the time of all epochs at a placement.
func (a *Application) seconds(placement []int, b goodput.Batch) (seconds float64, err error) {
	total := b.Total(devicesOf(placement))
	step, err := a.step(placement, b)
	if err != nil {
		return 0, err
	}
	for e := range a.Epochs {
		noise, err := a.Noise(total, e)
		if err != nil {
			return 0, err
		}
		seconds += (a.Progress(e+1) - a.Progress(e)) / noise.Gain(float64(total)/float64(a.Limits.Least)) * step
	}
	return seconds, nil
}

func devicesOf(placement []int) (n int) {
	for _, devices := range placement {
		n += devices
	}
	return n
}

// step is the time of a step, of all its turns.
func (a *Application) step(placement []int, b goodput.Batch) (float64, error) {
	step, sync, err := a.times.Step(placement, b.Device)
	return step + (step-sync)*float64(b.Accumulate), err
}

// compact is a placement on as few nodes as there can be.
func compact(devices, each int) (placement []int) {
	for ; devices > 0; devices -= each {
		placement = append(placement, min(devices, each))
	}
	return placement
}

// rigidSpeed is the speed of jobs with the batch that users ask for.
type rigidSpeed struct {
	options Options
	jobs    map[string]*Spec
}

// Rates compares the step where the job is with that on as few nodes as there can be. Jobs share no
// devices. A step without a known time has no rate, which ends the simulation.
func (s *rigidSpeed) Rates(p cluster.Placement) (job, partner float64) {
	j := s.jobs[p.Job.Trace.ID]
	var placement []int
	for _, share := range p.Nodes {
		placement = append(placement, bits.OnesCount64(share.GPUs))
	}
	limits := j.App.Limits
	asked, err1 := j.App.step(compact(j.Devices, s.options.Devices), limits.Share(j.Batch, j.Devices, false))
	here, err2 := j.App.step(placement, limits.Share(j.Batch, p.GPUs, false))
	if err1 != nil || err2 != nil {
		return 0, 0
	}
	return asked / here, asked / here
}

// Lost is the delay of a start.
func (s *rigidSpeed) Lost(*cluster.Job) float64 { return s.options.Delay }
