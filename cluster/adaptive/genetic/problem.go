package genetic

import "math"

// Problem is an allocation problem: jobs that compete for the devices of identical nodes. Earlier jobs have priority.
type Problem struct {
	Nodes, Devices int     // number of nodes, and number of devices per node
	Jobs           []Job   // jobs in order of priority, highest first
	Fairness       float64 // exponent of the power mean of the speedups; -1 is the harmonic mean

	Mixed bool // nodes may hold parts of several multi-node jobs
	// reproduces a bug of the original search: removing the second multi-node job from a node also removes all later
	// jobs from it
	Neighbour bool
	Incoming  bool // quirk: a multi-node job claims its nodes even after it was reduced to one node

	words int      // words per row
	base  []uint64 // state of the current allocation
	ends  []uint64 // capacity row: devices in each byte that is a node
	terms [][2][2][]float64
	per   [][2][]float64
}

// Job holds the properties of a job that the search needs: its current devices, its maximum number of devices, and its
// speedups.
type Job struct {
	Present []byte  // current devices on each node; nil means none
	Most    int     // maximum number of devices
	Keeps   float64 // fraction of the speedup that remains after a change of the devices
	// speedup of the job on a number of devices; spans is true if the devices are on several nodes
	Speedup func(spans bool, devices int) float64
}

// prepare computes the tables of the jobs.
func (p *Problem) prepare() {
	p.words = (p.Nodes + perWord - 1) / perWord
	p.base = make([]uint64, len(p.Jobs)*p.words)
	p.ends = make([]uint64, p.words)
	for node := range p.Nodes {
		setByte(p.ends, node, uint64(p.Devices))
	}
	for k := range p.Jobs {
		for node, devices := range p.Jobs[k].Present {
			setByte(p.row(p.base, k), node, uint64(devices))
		}
	}
	p.terms, p.per = make([][2][2][]float64, len(p.Jobs)), make([][2][]float64, len(p.Jobs))
	for k := range p.Jobs {
		p.tables(k)
	}
}

// floor keeps the reciprocal of a speedup finite.
const floor = 1e-3

// tables computes a job's contributions to the objectives, indexed by whether its devices change, whether it spans
// nodes, and its number of devices.
func (p *Problem) tables(k int) {
	j := &p.Jobs[k]
	total := p.Nodes * p.Devices
	share := 1 / float64(total)
	size := min(j.Most, total) + 1
	for spans := range 2 {
		p.per[k][spans] = make([]float64, size)
		for moved := range 2 {
			p.terms[k][moved][spans] = make([]float64, size)
		}
		for devices := range size {
			speedup := 0.0
			if devices > spans {
				speedup = j.Speedup(spans > 0, devices)
				p.per[k][spans][devices] = speedup / float64(devices)
			}
			value := float64(speedup*share) * float64(p.Nodes)
			p.terms[k][0][spans][devices] = power(value+floor, p.Fairness)
			p.terms[k][1][spans][devices] = power(float64(value*j.Keeps)+floor, p.Fairness)
		}
	}
}

// power is math.Pow, but exact for a reciprocal.
func power(x, exponent float64) float64 {
	if exponent == -1 {
		return 1 / x
	}
	return math.Pow(x, exponent)
}

// row returns the row of a job in a state.
func (p *Problem) row(state []uint64, k int) []uint64 { return state[k*p.words : (k+1)*p.words] }

// objectives are two numbers of a state to minimise: the negative mean of the speedups, and the negative utilisation of
// the nodes with work.
type objectives [2]float64

// dominates reports whether no number is larger and at least one is smaller.
func (f objectives) dominates(g objectives) bool {
	return f[0] <= g[0] && f[1] <= g[1] && f != g
}

// evaluate computes the objectives of a state. The scratch slices hold one number per job.
func (p *Problem) evaluate(state []uint64, fair, use []float64) objectives {
	used := p.used(state)
	for k := range p.Jobs {
		row, base := p.row(state, k), p.row(p.base, k)
		nodes, devices := count(row)
		spans, moved := 0, 0
		if nodes > 1 {
			spans = 1
		}
		for i, word := range row {
			if word != base[i] {
				moved = 1
			}
		}
		fair[k] = p.terms[k][moved][spans][devices]
		use[k] = 0
		if devices > 0 {
			use[k] = float64(p.per[k][spans][devices] * (float64(devices) / float64(used)))
		}
	}
	return objectives{-power(total(fair)/float64(len(fair)), 1/p.Fairness), -total(use)}
}

// used counts the devices of nodes with work.
func (p *Problem) used(state []uint64) int {
	used := 0
	for w, end := range p.ends {
		marks := uint64(0)
		for at := w; at < len(state); at += p.words {
			marks |= state[at]
		}
		used += sum(end & whole(positive(marks)))
	}
	return used
}

// total adds numbers in the order of NumPy: eight parallel sums, and recursive halves above 128 numbers.
func total(x []float64) float64 {
	if len(x) < 8 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum
	}
	if len(x) > 128 {
		half := len(x) / 2 / 8 * 8
		return total(x[:half]) + total(x[half:])
	}
	r := [8]float64(x[:8])
	at := 8
	for ; at+8 <= len(x); at += 8 {
		for k, v := range x[at : at+8] {
			r[k] += v
		}
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for _, v := range x[at:] {
		sum += v
	}
	return sum
}
