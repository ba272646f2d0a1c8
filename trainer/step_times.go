package trainer

import (
	"time"

	"graft/trainer/clock"
	"graft/trainer/goodput"
)

// timed is a measured time of steps on the wall clock.
type timed struct {
	Nodes   int     `json:"nodes"`
	Devices int     `json:"devices"`
	Device  int     `json:"device"`  // images per device at once
	Compute float64 `json:"compute"` // seconds to compute their gradients
	Step    float64 `json:"step"`    // seconds of the gradients and the exchange
	Calls   int     `json:"calls"`   // calls in the averages
}

// newShare is the weight of a new time in an average, as on the wall clock.
const newShare = 0.25

// mostTimes limits the number of measured times; the oldest are dropped first.
const mostTimes = 64

// virtual reports whether a clock can tell the cost of work in advance.
func virtual(c clock.Clock) bool {
	_, is := c.(interface{ Knows(clock.Work) error })
	return is
}

// learnTime measures the steps of a call if the clock cannot tell their cost.
func (j *Job) learnTime(steps int, took, exchange time.Duration) {
	if !j.AdaptiveBatch.On || virtual(j.Clock) || steps == 0 || took <= exchange {
		return
	}
	t := timed{Nodes: 1, Devices: j.team.Size()}
	if j.team.Apart() {
		t.Nodes = t.Devices
	}
	share, turns := j.turns(j.batch(), t.Devices)
	sum := exchange.Seconds() / float64(steps)
	t.Device, t.Compute = share, ((took-exchange).Seconds()/float64(steps))/float64(turns)
	t.Step = t.Compute + sum
	j.Batching.Times = withTime(j.Batching.Times, t)
}

// turns returns the number of images per device at once, and the number of turns per step.
func (c *core) turns(size, devices int) (share, turns int) {
	part := c.microBatch(c.Network, size, devices)
	if part == 0 {
		part = size
	}
	turns = (size + part - 1) / part
	return (size + turns*devices - 1) / (turns * devices), turns
}

// withTime adds a measurement to the average of its kind. The second measurement replaces the first, which includes
// allocation.
func withTime(list []timed, t timed) []timed {
	for k := range list {
		is := &list[k]
		if is.Nodes != t.Nodes || is.Devices != t.Devices || is.Device != t.Device {
			continue
		}
		if is.Calls++; is.Calls == 2 {
			is.Compute, is.Step = t.Compute, t.Step
			return list
		}
		is.Compute += newShare * (t.Compute - is.Compute)
		is.Step += newShare * (t.Step - is.Step)
		return list
	}
	t.Calls = 1
	return append(list[max(0, len(list)+1-mostTimes):], t)
}

// fittedThroughput returns Pollux's throughput model, fitted to the measured times.
func (j *Job) fittedThroughput() func(size int) float64 {
	var rows []goodput.Measured
	for _, t := range j.Batching.Times {
		rows = append(rows, goodput.Measured{Nodes: t.Nodes, Devices: t.Devices, Device: t.Device, Compute: t.Compute,
			Step: t.Step})
	}
	if len(rows) == 0 {
		return func(int) float64 { return 0 }
	}
	speed, devices, nodes := goodput.Fit(rows), j.devices(), 1
	if j.team.Apart() {
		nodes = devices
	}
	return func(size int) float64 {
		share, turns := j.turns(size, devices)
		return speed.Throughput(nodes, devices, goodput.Batch{Device: share, Accumulate: turns - 1})
	}
}
