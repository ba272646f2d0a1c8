package adaptive

import (
	"fmt"
	"math"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/goodput"
)

// Rigid returns the same jobs for schedulers that do not adapt them: each keeps the devices and the batch
// that its user asks for, and lasts as long as the times of its steps say on as few nodes as there can be.
// Spread over more nodes it works slower. It stands still for the delay when it starts, and again when it
// is preempted. Times are rounded to seconds.
func (s Study) Rigid() (*cluster.Study, error) {
	s.Options.EnsureDefaults()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	speed := cluster.StepSpeed{Of: map[string]cluster.Trained{}, Other: cluster.LinearSpeed{}, Preempted: s.Options.Delay}
	study := &cluster.Study{VCs: []trace.VC{{Name: "all", Nodes: s.Options.Nodes}}, PerNode: s.Options.Devices, WholeGPUs: true, Speed: &speed}
	for k := range s.Jobs {
		j := &s.Jobs[k]
		asked := compact(j.Devices, s.Options.Devices)
		b := j.App.Limits.Share(j.Batch, j.Devices, false)
		seconds, err := j.App.seconds(asked, b)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.Name, err)
		}
		speed.Of[j.Name] = cluster.Trained{Times: j.App.times, Device: b.Device, Asked: asked}
		study.Jobs = append(study.Jobs, trace.Job{ID: j.Name, Name: j.Name, VC: "all", Submit: int64(math.Round(j.Submitted)),
			Duration: int64(math.Ceil(seconds + s.Options.Delay)), GPUs: j.Devices, Model: j.App.Name, Batch: j.Batch, State: trace.Completed})
	}
	return study, nil
}

// seconds is the time that a job takes from its first epoch to its last on one placement.
func (a *Application) seconds(placement []int, b goodput.Batch) (seconds float64, err error) {
	devices := 0
	for _, n := range placement {
		devices += n
	}
	step, sync, err := a.times.Step(placement, b.Device)
	if err != nil {
		return 0, err
	}
	step += float64(step-sync) * float64(b.Accumulate)
	for epoch := range a.Epochs {
		noise, err := a.Noise(b.Total(devices), epoch)
		if err != nil {
			return 0, err
		}
		gain := noise.Gain(float64(b.Total(devices)) / float64(a.Limits.Least))
		seconds += (a.Progress(epoch+1) - a.Progress(epoch)) / gain * step
	}
	return seconds, nil
}

// compact is a placement on as few nodes as there can be.
func compact(devices, each int) (placement []int) {
	for ; devices > 0; devices -= each {
		placement = append(placement, min(devices, each))
	}
	return placement
}
