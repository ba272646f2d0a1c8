package schedulers

import (
	"math/rand/v2"

	"graft/cluster/node"
)

// lottery draws among the tasks that fit, weighted by tickets (Waldspurger and Weihl, OSDI 1994).
type lottery struct {
	sliced
	random *rand.Rand
}

func newLottery(o node.SchedulerOptions) node.Scheduler {
	return &lottery{sliced{o.Quantum}, o.Random}
}

// Decide implements [node.Scheduler].
func (l *lottery) Decide(m *node.Machine) (d node.Decision) {
	sum := 0
	for _, t := range m.Queue {
		on := least(load)(m, t)
		if on == nil {
			continue
		}
		// The n-th task wins with its share of the tickets so far (reservoir sampling).
		if sum += t.Tickets; l.random.IntN(sum) < t.Tickets {
			d = node.Decision{Start: t, On: on}
		}
	}
	return d
}
