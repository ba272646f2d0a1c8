package cluster

import (
	"math/bits"

	"graft/goodput"
)

// Trained describes the training of a job, for [StepSpeed].
type Trained struct {
	Times  goodput.StepTimes
	Device int   // examples that a device takes in a step
	Asked  []int // placement on which a second of work takes a second
}

// StepSpeed is a [SpeedModel] from times of training steps: a job trains as many examples in a second as
// its devices do where they are. Jobs that share devices, and jobs without times, are left to the other
// model.
type StepSpeed struct {
	Of        map[string]Trained // by the ID of a job
	Other     SpeedModel         // for what Of does not say
	Preempted float64            // seconds that a preempted job loses
}

// Rates implements [SpeedModel].
func (m StepSpeed) Rates(p Placement) (job, partner float64) {
	t, known := m.Of[p.Job.Trace.ID]
	if known && p.Partner == nil {
		asked, err1 := t.examples(t.Asked)
		now, err2 := t.examples(devices(p.Nodes))
		if err1 == nil && err2 == nil {
			return now / asked, 1
		}
	}
	return m.Other.Rates(p)
}

// examples is the number of them in a second, in steps of a device.
func (t *Trained) examples(placement []int) (float64, error) {
	step, _, err := t.Times.Step(placement, t.Device)
	n := 0
	for _, each := range placement {
		n += each
	}
	return float64(n) / step, err
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
