package fabric

// Offered lists the degrees of parallelism for which an empty cluster has a block of servers.
func (s *Study) Offered() (degrees []int) {
	for n := 1; n <= min(s.Options.MaxParts, s.Network.Size()); n++ {
		if n == 1 || n%2 == 0 && s.Network.Fits(n) {
			degrees = append(degrees, n)
		}
	}
	return degrees
}

// Homeless returns the first model that does not fit on an empty cluster at any degree of parallelism. The error states
// why the model does not fit at the largest degree. If each model fits, the error is nil.
func (s *Study) Homeless() (model int, err error) {
	site := Site{Network: s.Network, Memory: s.Options.Memory, Free: func(int) bool { return true },
		Forward: s.Options.Quirks.Keeps(ForwardMemory)}
	for model = range s.Models {
		for _, degree := range s.Offered() {
			if _, err = Place(&site, s.Parted(model, degree)); err == nil {
				break
			}
		}
		if err != nil {
			return model, err
		}
	}
	return 0, nil
}
