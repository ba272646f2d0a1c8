package node

// Speed models the speed of tasks that run together on a device.
type Speed interface {
	// Rates sets the speed of each task in seconds of work per second; a task that runs alone on the device has speed
	// 1. Rates must be positive.
	Rates(together []*Task, rates []float64)
}

// Shares is the default [Speed]. Tasks that together request more than all cores get cores in proportion to their
// requests. In addition, other tasks slow each task down in proportion to Contention and to their share of the cores,
// since tasks share caches and memory bandwidth.
type Shares struct {
	// slowdown coefficient: speeds are divided by 1 + Contention × other tasks' cores / all cores; zero means none
	Contention float64
}

// Rates implements [Speed].
func (s Shares) Rates(together []*Task, rates []float64) {
	sum := 0.0
	for _, t := range together {
		sum += t.Cores
	}
	fair := min(1, whole/sum)
	for k, t := range together {
		rates[k] = fair / (1 + s.Contention*(sum-t.Cores)/whole)
	}
}

// Pair holds the kinds of two tasks that share a device.
type Pair [2]string

// Pairs is a [Speed] model based on the measured rates of pairs of tasks. The rate of a task that runs with several
// other tasks is the product of its rates with each of them. Pairs without a measurement use the model in the field
// Otherwise.
type Pairs struct {
	Measured  map[Pair][2]float64 // rates of the two tasks in a pair; each pair is listed once, in either order
	Otherwise Speed               // model for pairs without a measurement; nil means Shares{}
}

// Rates implements [Speed].
func (p Pairs) Rates(together []*Task, rates []float64) {
	otherwise := p.Otherwise
	if otherwise == nil {
		otherwise = Shares{}
	}
	var pair [2]float64
	for k, t := range together {
		rates[k] = 1
		for i, other := range together {
			if i == k {
				continue
			}
			if r, ok := p.rate(t.Kind, other.Kind); ok {
				rates[k] *= r
				continue
			}
			otherwise.Rates([]*Task{t, other}, pair[:])
			rates[k] *= pair[0]
		}
	}
}

func (p Pairs) rate(a, b string) (float64, bool) {
	if r, ok := p.Measured[Pair{a, b}]; ok {
		return r[0], true
	}
	r, ok := p.Measured[Pair{b, a}]
	return r[1], ok
}
