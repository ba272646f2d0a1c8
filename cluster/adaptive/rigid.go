package adaptive

import (
	"fmt"
	"math"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/trainer/goodput"
)

// RigidPool is the name of the only virtual cluster in a study that [Study.Rigid] returns.
const RigidPool = "all"

// Rigid returns the jobs of the study as rigid jobs, which always use the number of devices and the batch size that
// their users request. The duration of a rigid job is the time that its epochs take on the minimum number of nodes,
// plus the start delay. If the job runs on more nodes, its speed follows the measured step times. Times are rounded to
// seconds.
func (s Study) Rigid() (*cluster.Study, error) {
	s.Options.EnsureDefaults()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	speed := cluster.StepSpeed{Of: map[string]cluster.Trained{}, Other: cluster.LinearSpeed{},
		Preempted: s.Options.Delay}
	study := &cluster.Study{VCs: []trace.VC{{Name: RigidPool, Nodes: s.Options.Nodes}}, PerNode: s.Options.Devices,
		WholeGPUs: true, Speed: &speed}
	for k := range s.Jobs {
		j := &s.Jobs[k]
		asked := compact(j.Devices, s.Options.Devices)
		seconds, err := j.Requested(s.Options.Devices)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.Name, err)
		}
		speed.Of[j.Name] = cluster.Trained{Asked: asked,
			Step: func(placement []int) (float64, error) { return j.App.step(placement, j.Batch) }}
		study.Jobs = append(study.Jobs, trace.Job{ID: j.Name, Name: j.Name, VC: RigidPool,
			Submit: int64(math.Ceil(j.Submitted)), Duration: int64(math.Ceil(s.Options.Delay + seconds)),
			GPUs: j.Devices, State: trace.Completed, Training: &trace.Training{Model: j.App.Name, Batch: j.Batch}})
	}
	return study, nil
}

// OneDevice returns the run time, in seconds, of a job of the application that runs alone on one device at the smallest
// batch size.
func (a *Application) OneDevice() (seconds float64, err error) {
	return a.time([]int{1}, a.Limits.Least)
}

// time returns the time of all epochs at a placement.
func (a *Application) time(placement []int, batch int) (seconds float64, err error) {
	step, err := a.step(placement, batch)
	if err != nil {
		return 0, err
	}
	devices, b := a.share(placement, batch)
	total := b.Total(devices)
	for e := range a.Epochs {
		noise, err := a.Noise(total, e)
		if err != nil {
			return 0, err
		}
		seconds += (a.Progress(e+1) - a.Progress(e)) / noise.Gain(float64(total)/float64(a.Limits.Least)) * step
	}
	return seconds, nil
}

// step returns the time of a step with a batch, over all its accumulation turns.
func (a *Application) step(placement []int, batch int) (float64, error) {
	_, b := a.share(placement, batch)
	step, sync, err := a.times.Step(placement, b.Device)
	return step + (step-sync)*float64(b.Accumulate), err
}

// share divides a batch among the devices of a placement.
func (a *Application) share(placement []int, batch int) (devices int, b goodput.Batch) {
	for _, n := range placement {
		devices += n
	}
	return devices, a.Limits.Share(batch, devices, false)
}

// compact returns a placement on as few nodes as possible.
func compact(devices, each int) (placement []int) {
	for ; devices > 0; devices -= each {
		placement = append(placement, min(devices, each))
	}
	return placement
}
