package goodput

import "math"

// Speed is the seven parameters of the time of a step. Times are in seconds.
type Speed struct {
	ComputeStart, ComputeExample float64 // gradients of a batch on one device: fixed, and for each example
	NodesStart, NodesDevice      float64 // synchronisation over several nodes: fixed, and for each device above two
	NodeStart, NodeDevice        float64 // the same within one node
	Overlap                      float64 // from 1, nothing of the two overlaps, to 10
}

// Batch divides a batch among the devices of a job.
type Batch struct {
	Device     int // examples that a device takes at once
	Accumulate int // further turns of a device before parameters change
}

// Turns are the times that a device computes gradients in a step.
func (b Batch) Turns() int { return b.Accumulate + 1 }

// Total is the examples of a step on a number of devices.
func (b Batch) Total(devices int) int { return devices * b.Device * b.Turns() }

// tiny stands for no time where logarithms are taken.
const tiny = 1e-8

// compute is the time that a device takes for the gradients of some examples.
func (s *Speed) compute(examples float64) float64 {
	return s.ComputeStart + float64(s.ComputeExample*examples)
}

// network is the time of a synchronisation.
func (s *Speed) network(nodes, devices int) float64 {
	start, device := tiny, tiny
	switch {
	case nodes > 1:
		start, device = s.NodesStart, s.NodesDevice
	case devices > 1:
		start, device = s.NodeStart, s.NodeDevice
	}
	return start + float64(device*max(float64(devices-2), tiny))
}

// last is the time of a turn with synchronisation at its end.
func (s *Speed) last(compute, network float64) float64 {
	return math.Exp(math.Log(math.Pow(compute, s.Overlap)+math.Pow(network, s.Overlap)) / s.Overlap)
}

// batch is the time of a step with accumulation.
func (s *Speed) batch(nodes, devices int, b Batch) float64 {
	compute := s.compute(float64(b.Device))
	return float64(float64(b.Accumulate)*compute) + s.last(compute, s.network(nodes, devices))
}

// Throughput is the examples a second.
func (s *Speed) Throughput(nodes, devices int, b Batch) float64 {
	return float64(b.Total(devices)) / s.batch(nodes, devices, b)
}
