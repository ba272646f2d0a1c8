package assign

// Limits of the local search, in trials.
const (
	mostTrials  = 4000
	mostWaiting = 16 // jobs without devices that may get some in a trial
)

// search improves the jobs of two nodes at a time, until no pair gets better.
func (s *solver) search() {
	trials := 0
	for better := true; better; {
		better = false
		for gap := 1; gap < s.p.Nodes; gap++ {
			for a := 0; a+gap < s.p.Nodes; a++ {
				if trials++; trials > mostTrials {
					return
				}
				if s.improve(s.near(a, a+gap)) {
					better = true
				}
			}
		}
	}
}

// near are the jobs on two nodes, if they are not negative, and some that wait.
func (s *solver) near(a, b int) (jobs []int) {
	waiting := 0
	for j, shares := range s.rows {
		found := len(shares) == 0 && waiting < mostWaiting
		if found {
			waiting++
		}
		for _, share := range shares {
			found = found || share.Node == a || share.Node == b
		}
		if found {
			jobs = append(jobs, j)
		}
	}
	return jobs
}
