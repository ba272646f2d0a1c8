package node

// Speed models the speed of tasks that run together on a device.
type Speed interface {
	// Rates fills in each task's work per second, in seconds of work alone on the device. Rates must be positive.
	Rates(together []*Task, rates []float64)
}

// Shares is the default [Speed]. Tasks that together request more than all cores get them in proportion. In addition,
// each task loses Contention per GPU's worth of cores that other tasks use, since caches and memory bandwidth are
// shared.
type Shares struct {
	Contention float64 // share of a task's speed; zero means none
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

// Pair names the kinds of two tasks.
type Pair [2]string

// Pairs is a [Speed] from measured pairs. A task that runs with several others keeps the product of its rates with each
// of them. Pairs without a measurement slow each other by Otherwise.
type Pairs struct {
	Measured  map[Pair][2]float64 // rates of both tasks; a pair is listed in one of its orders
	Otherwise Speed               // nil means Shares{}
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
