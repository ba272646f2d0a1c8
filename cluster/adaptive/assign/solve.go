package assign

import (
	"cmp"
	"slices"
)

// Solve divides the devices. It is deterministic.
func Solve(p *Problem) Result {
	s := newSolver(p)
	all := make([]int, len(p.Jobs))
	for k := range all {
		all[k] = k
	}
	_, bound := s.knapsack.solve(s.tables, all, p.Nodes*p.Devices)
	s.improve(s.near(-1, -1))
	s.improve(all)
	s.search()
	r := Result{Shares: s.rows, Bound: bound}
	for k := range all {
		r.Value += s.values[k]
		slices.SortFunc(s.rows[k], func(a, b Share) int { return a.Node - b.Node })
	}
	r.Bound = max(r.Bound, r.Value) // sums of the same values differ by rounding
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

	old   [][]Share // of the jobs that are taken away
	worth []float64
	order []int
	nodes []int
}

func newSolver(p *Problem) *solver {
	s := &solver{p: p, tables: make([]table, len(p.Jobs)), rows: make([][]Share, len(p.Jobs)), values: make([]float64, len(p.Jobs))}
	s.free, s.spanner = make([]int, p.Nodes), make([]bool, p.Nodes)
	for node := range s.free {
		s.free[node] = p.Devices
	}
	for k := range p.Jobs {
		s.tables[k] = p.table(&p.Jobs[k])
		s.put(k, p.Jobs[k].Present, s.tables[k].present)
	}
	return s
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
	chosen, hoped := s.knapsack.solve(s.tables, jobs, devices)
	for _, pinned := range []bool{true, false} {
		if hoped <= before+least {
			break
		}
		if s.place(jobs, chosen, pinned) > before+least {
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

// place finds nodes for chosen numbers of devices, as near as nodes allow: for those with most devices first. Where
// others are pinned, jobs that stay come before all.
func (s *solver) place(jobs []int, chosen []option, pinned bool) (value float64) {
	s.order = s.order[:0]
	for k, j := range jobs {
		if pinned && chosen[k].stays && s.stay(j) {
			value += s.values[j]
		} else {
			s.order = append(s.order, k)
		}
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(chosen[b].devices, chosen[a].devices) })
	for _, k := range s.order {
		s.fit(jobs[k], chosen[k].devices)
		value += s.values[jobs[k]]
	}
	return value
}

// stay gives a job the devices that it has, if they are free.
func (s *solver) stay(j int) bool {
	present := s.p.Jobs[j].Present
	for _, share := range present {
		if s.free[share.Node] < share.Devices || len(present) > 1 && s.spanner[share.Node] {
			return false
		}
	}
	s.put(j, present, s.tables[j].present)
	return true
}
