package dl2

import (
	"graft/cluster/elastic"
	"graft/internal/random/numpy"
)

// noise draws the errors of speeds. The original draws one for each job with servers, even if errors are zero, unless
// speeds are analytic. noise keeps errors that are not zero, so that an episode can be replayed.
type noise struct {
	random *numpy.Random
	silent bool // nothing is drawn
	keep   bool // errors are not zero
	drawn  []float64
	again  int // index of the next kept error to replay; -1 draws new ones
}

func newNoise(s *elastic.Study, random *numpy.Random) *noise {
	_, analytic := s.Speed.(elastic.Analytic)
	return &noise{random: random, silent: analytic || s.Options.AllReduce, keep: s.Options.SpeedError > 0, again: -1}
}

// join makes a world draw its errors from n.
func (n *noise) join(w *elastic.World) {
	if w.Errors = nil; !n.silent {
		w.Errors = func(*elastic.Job) float64 { return n.Float64() }
	}
}

// Float64 returns a random number from 0, inclusive, to 1, exclusive.
func (n *noise) Float64() float64 {
	switch {
	case n.again < 0:
		v := n.random.Float64()
		if n.keep {
			n.drawn = append(n.drawn, v)
		}
		return v
	case n.again < len(n.drawn):
		n.again++
		return n.drawn[n.again-1]
	}
	return 0
}
