package cluster

import "math/bits"

// Trained describes the training of a job, for [StepSpeed].
type Trained struct {
	Step  func(placement []int) (seconds float64, err error) // time of a step on so many devices of each node
	Asked []int                                              // placement on which a second of work takes a second
}

// StepSpeed is a [SpeedModel] from times of training steps, such as those of [goodput.StepTimes]: a job
// works slower where its steps take longer. Jobs that share devices, and jobs without times, are left to
// the other model.
type StepSpeed struct {
	Of        map[string]Trained // by the ID of a job
	Other     SpeedModel         // for jobs that Of lacks
	Preempted float64            // seconds that a preempted job loses
}

// Rates implements [SpeedModel]. A placement without a time has no rate, which ends the simulation.
func (m StepSpeed) Rates(p Placement) (job, partner float64) {
	t, known := m.Of[p.Job.Trace.ID]
	if !known || p.Partner != nil {
		return m.Other.Rates(p)
	}
	asked, err1 := t.Step(t.Asked)
	now, err2 := t.Step(devices(p.Nodes))
	if err1 != nil || err2 != nil {
		return 0, 0
	}
	return asked / now, 1
}

// Lost implements [SpeedModel].
func (m StepSpeed) Lost(*Job) float64 { return m.Preempted }

// devices is the number of devices on each node.
func devices(shares []Share) (placement []int) {
	for _, s := range shares {
		placement = append(placement, bits.OnesCount64(s.GPUs))
	}
	return placement
}
