package goodput

// StepTimes predicts the time of a training step for a placement of devices on nodes, from the seven parameters of
// [Speed] or from measured tables. Jobs that train the same application share one StepTimes.
type StepTimes interface {
	// Step returns the duration of a step without gradient accumulation, and its synchronisation time, in seconds. The
	// placement gives the number of devices on each node; device is the number of examples per device.
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
