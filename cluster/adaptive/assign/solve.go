package assign

import (
	"cmp"
	"slices"
)

// Solve divides the devices among the jobs. It searches from two starts, an empty allocation and the current one, and
// returns the better result. The result is deterministic.
func Solve(p *Problem) Result {
	s := newSolver(p)
	all := make([]int, len(p.Jobs))
	for k := range all {
		all[k] = k
		s.lists = append(s.lists, s.tables[k].options)
	}
	_, bound := s.knapsack.solve(s.lists, p.Nodes*p.Devices)
	s.improve(s.near(-1, -1))
	s.improve(all)
	s.search()
	r := s.result(bound)
	s.reset()
	s.improve(s.near(-1, -1))
	s.search()
	if other := s.result(bound); other.Value > r.Value+least {
		return other
	}
	return r
}

// result returns the current solution.
func (s *solver) result(bound float64) Result {
	r := Result{Shares: slices.Clone(s.rows)}
	for k, shares := range s.rows {
		r.Value += s.values[k]
		r.Shares[k] = slices.SortedFunc(slices.Values(shares), func(a, b Share) int { return a.Node - b.Node })
	}
	r.Bound = max(bound, r.Value) // the sums can differ by rounding
	return r
}

// solver holds a solution that is being improved.
type solver struct {
	p        *Problem
	tables   []table
	knapsack knapsack

	rows    [][]Share // by job
	values  []float64 // by job
	free    []int     // free devices by node
	spanner []bool    // nodes with a part of a multi-node job

	old   [][]Share  // of the removed jobs
	lists [][]option // of the removed jobs
	worth []float64
	order []int
}

func newSolver(p *Problem) *solver {
	s := &solver{p: p, tables: make([]table, len(p.Jobs)), rows: make([][]Share, len(p.Jobs)),
		values: make([]float64, len(p.Jobs))}
	s.free, s.spanner = make([]int, p.Nodes), make([]bool, p.Nodes)
	for k := range p.Jobs {
		s.tables[k] = p.table(&p.Jobs[k])
	}
	s.reset()
	return s
}

// reset restores the current devices of all jobs.
func (s *solver) reset() {
	clear(s.spanner)
	for node := range s.free {
		s.free[node] = s.p.Devices
	}
	for k := range s.rows {
		s.put(k, s.p.Jobs[k].Present, s.tables[k].present)
	}
}

// put gives a job devices.
func (s *solver) put(j int, shares []Share, value float64) {
	for _, share := range shares {
		s.free[share.Node] -= share.Devices
		if len(shares) > 1 {
			s.spanner[share.Node] = true
		}
	}
	s.rows[j], s.values[j] = shares, value
}

// take removes all devices of a job.
func (s *solver) take(j int) {
	for _, share := range s.rows[j] {
		s.free[share.Node] += share.Devices
		if len(s.rows[j]) > 1 {
			s.spanner[share.Node] = false
		}
	}
	s.rows[j] = nil
}

// least is the smallest gain that changes allocations; smaller gains are rounding.
const least = 1e-12

// improve redistributes the devices of some jobs and the free devices, if that increases the value.
func (s *solver) improve(jobs []int) bool {
	s.old, s.worth = grow(s.old, len(jobs)), grow(s.worth, len(jobs))
	before, devices := 0.0, 0
	for k, j := range jobs {
		s.old[k], s.worth[k] = s.rows[j], s.values[j]
		before += s.values[j]
		s.take(j)
	}
	for _, free := range s.free {
		devices += free
	}
	s.lists = s.lists[:0]
	for _, j := range jobs {
		if s.canStay(j) {
			s.lists = append(s.lists, s.tables[j].options)
		} else {
			s.lists = append(s.lists, s.tables[j].moving)
		}
	}
	chosen, hoped := s.knapsack.solve(s.lists, devices)
	for _, first := range orders {
		if hoped <= before+least {
			break
		}
		if s.place(jobs, chosen, first) > before+least {
			return true
		}
		for _, j := range jobs {
			s.take(j)
		}
	}
	for k, j := range jobs {
		s.put(j, s.old[k], s.worth[k])
	}
	return false
}

// order selects the jobs to place first. The others follow, by descending number of devices.
type order struct {
	stay  bool // jobs that keep their devices first
	small bool // jobs that fit on one node first
}

// orders are tried until one improves the solution.
var orders = []order{{stay: true}, {stay: true, small: true}, {}}

// place assigns nodes to chosen numbers of devices, as closely as the nodes allow.
func (s *solver) place(jobs []int, chosen []option, first order) (value float64) {
	s.order = s.order[:0]
	for k, j := range jobs {
		if first.stay && chosen[k].stays && s.stay(j) {
			value += s.values[j]
		} else {
			s.order = append(s.order, k)
		}
	}
	slices.SortStableFunc(s.order, func(a, b int) int {
		x, y := chosen[a].devices, chosen[b].devices
		if small := x <= s.p.Devices; first.small && small != (y <= s.p.Devices) {
			return 1 - 2*place(small)
		}
		return cmp.Compare(y, x)
	})
	for _, k := range s.order {
		s.fit(jobs[k], chosen[k].devices)
		value += s.values[jobs[k]]
	}
	return value
}

// stay gives a job its current devices if they are free.
func (s *solver) stay(j int) bool {
	if !s.canStay(j) {
		return false
	}
	s.put(j, s.p.Jobs[j].Present, s.tables[j].present)
	return true
}

func (s *solver) canStay(j int) bool {
	present := s.p.Jobs[j].Present
	for _, share := range present {
		if s.free[share.Node] < share.Devices || len(present) > 1 && s.spanner[share.Node] {
			return false
		}
	}
	return true
}
