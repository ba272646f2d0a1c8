package cluster

import "math/bits"

// Trained holds the step times of a job, for [StepSpeed].
type Trained struct {
	// returns the time of a step in seconds on a placement, which lists the number of devices on each node
	Step func(placement []int) (seconds float64, err error)
	// requested placement, on which the rate is 1, as a list of the number of devices on each node
	Asked []int
}

// StepSpeed is a [SpeedModel] based on step times, such as [goodput.StepTimes]. The rate of a job is inversely
// proportional to its step time. The field Other handles jobs that share devices, and jobs without step times.
type StepSpeed struct {
	Of        map[string]Trained // step times of each job, by job ID
	Other     SpeedModel         // model for jobs that are not in Of
	Preempted float64            // seconds of work that a preempted job loses
}

// Rates implements [SpeedModel]. If the step time of a placement is unknown, Rates returns 0, which is invalid and ends
// the simulation.
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

// Lost implements [SpeedModel]. It returns the field Preempted for every job.
func (m StepSpeed) Lost(*Job) float64 { return m.Preempted }

// devices returns the number of devices on each node.
func devices(shares []Share) (placement []int) {
	for _, s := range shares {
		placement = append(placement, bits.OnesCount64(s.GPUs))
	}
	return placement
}
