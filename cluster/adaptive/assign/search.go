package assign

import "slices"

// Limits of the local search.
const (
	mostVisits  = 1_000_000 // nodes and jobs that all trials visit
	mostWaiting = 16        // jobs without devices that may get some in a trial
)

// search improves the jobs of two nodes at a time, until no pair improves.
func (s *solver) search() {
	trials := mostVisits / (s.p.Nodes + len(s.p.Jobs) + 1)
	for better := true; better; {
		better = false
		for gap := 1; gap < s.p.Nodes; gap++ {
			for a := 0; a+gap < s.p.Nodes; a++ {
				if trials--; trials < 0 {
					return
				}
				if s.improve(s.near(a, a+gap)) {
					better = true
				}
			}
		}
	}
}

// near returns the jobs that are or were on two nodes, and some waiting jobs. Negative nodes have no jobs.
func (s *solver) near(a, b int) (jobs []int) {
	on := func(share Share) bool { return share.Node == a || share.Node == b }
	waiting := 0
	for j, shares := range s.rows {
		found := len(shares) == 0 && waiting < mostWaiting
		if found {
			waiting++
		}
		if found || slices.ContainsFunc(shares, on) || slices.ContainsFunc(s.p.Jobs[j].Present, on) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}
