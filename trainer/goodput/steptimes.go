package goodput

// StepTimes predicts times of training steps by placement. Worlds whose jobs train the same application use the same
// StepTimes: the seven parameters of [Speed], or measured tables.
type StepTimes interface {
	// Step returns the seconds of a step without accumulation, and the synchronisation part of them. Placement is the
	// number of devices on each node, device the number of examples per device.
	Step(placement []int, device int) (step, sync float64, err error)
}

// Step implements [StepTimes].
func (s *Speed) Step(placement []int, device int) (step, sync float64, err error) {
	devices := 0
	for _, n := range placement {
		devices += n
	}
	compute := s.compute(float64(device))
	step = s.last(compute, s.network(len(placement), devices))
	return step, max(step-compute, 0), nil
}
