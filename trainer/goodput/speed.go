package goodput

import "math"

// Speed holds the seven parameters that model the time of a step, in seconds.
type Speed struct {
	// time to compute the gradients of a batch on one device: fixed part, and part per example
	ComputeStart, ComputeExample float64
	// time of synchronisation over several nodes: fixed part, and part per device above two
	NodesStart, NodesDevice float64
	// time of synchronisation within one node: fixed part, and part per device above two
	NodeStart, NodeDevice float64
	Overlap               float64 // overlap of computation and synchronisation, from 1 (none) to 10
}

// Batch describes how a batch is divided among the devices of a job.
type Batch struct {
	Device     int // number of examples that a device computes at once
	Accumulate int // number of additional turns of a device before the parameters are updated
}

// Turns returns the number of gradient computations per device and step.
func (b Batch) Turns() int { return b.Accumulate + 1 }

// Total returns the number of examples per step on a number of devices.
func (b Batch) Total(devices int) int { return devices * b.Device * b.Turns() }

// tiny replaces zero time before logarithms are taken.
const tiny = 1e-8

// compute is the time of one device to compute the gradients of examples.
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

// last is the time of a turn that ends with a synchronisation.
func (s *Speed) last(compute, network float64) float64 {
	return math.Exp(math.Log(math.Pow(compute, s.Overlap)+math.Pow(network, s.Overlap)) / s.Overlap)
}

// batch is the time of a step with accumulation.
func (s *Speed) batch(nodes, devices int, b Batch) float64 {
	compute := s.compute(float64(b.Device))
	return float64(float64(b.Accumulate)*compute) + s.last(compute, s.network(nodes, devices))
}

// Throughput returns the number of examples per second.
func (s *Speed) Throughput(nodes, devices int, b Batch) float64 {
	return float64(b.Total(devices)) / s.batch(nodes, devices, b)
}
