package assign

import (
	"cmp"
	"slices"
)

// Solve divides the devices, from two starts: all devices divided anew, and the jobs as they are. It is deterministic.
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

// result is the present solution.
func (s *solver) result(bound float64) Result {
	r := Result{Shares: slices.Clone(s.rows)}
	for k, shares := range s.rows {
		r.Value += s.values[k]
		r.Shares[k] = slices.SortedFunc(slices.Values(shares), func(a, b Share) int { return a.Node - b.Node })
	}
	r.Bound = max(bound, r.Value) // sums of the same values differ by rounding
	return r
}

// solver is a solution that is made better.
type solver struct {
	p        *Problem
	tables   []table
	knapsack knapsack

	rows    [][]Share // of each job
	values  []float64 // of each job
	free    []int     // devices of each node
	spanner []bool    // nodes with a part of a job that is on several

	old   [][]Share  // of the jobs that are taken away
	lists [][]option // of these jobs
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

// reset returns to the devices that jobs have.
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

// take removes the devices of a job.
func (s *solver) take(j int) {
	for _, share := range s.rows[j] {
		s.free[share.Node] += share.Devices
		if len(s.rows[j]) > 1 {
			s.spanner[share.Node] = false
		}
	}
	s.rows[j] = nil
}

// least is the smallest gain for which allocations change; smaller ones are rounding.
const least = 1e-12

// improve divides the devices of some jobs and those that are free anew, if that is better.
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

// order says which jobs are placed first; then come those with most devices.
type order struct {
	stay  bool // jobs that stay
	small bool // jobs that one node holds
}

// orders are tried until one is better than what there was.
var orders = []order{{stay: true}, {stay: true, small: true}, {}}

// place finds nodes for chosen numbers of devices, as near as nodes allow.
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

// stay gives a job the devices that it has, if they are free.
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
