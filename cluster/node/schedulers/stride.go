package schedulers

import (
	"graft/cluster/node"
)

// stride gives tasks GPU time in proportion to their tickets. The task with the lowest pass runs, and its pass grows by
// the time that it used divided by its tickets (Waldspurger and Weihl, Stride Scheduling, MIT/LCS TM-528, 1995). A new
// task starts at the lowest pass of the present tasks.
type stride struct {
	sliced
	joined map[*node.Task]float64 // pass at arrival, minus the pass of the time used before
}

func newStride(o node.SchedulerOptions) node.Scheduler {
	return &stride{sliced{o.Quantum}, map[*node.Task]float64{}}
}

func (s *stride) pass(m *node.Machine, t *node.Task) float64 {
	return s.joined[t] + t.Served(m).Seconds()*t.Cores/100/float64(t.Tickets)
}

// Decide implements [node.Scheduler].
func (s *stride) Decide(m *node.Machine) (d node.Decision) {
	s.join(m)
	lowest := 0.0
	for _, t := range m.Queue {
		if p := s.pass(m, t); d.Start == nil || p < lowest {
			if on := least(load)(m, t); on != nil {
				d, lowest = node.Decision{Start: t, On: on}, p
			}
		}
	}
	return d
}

// join gives new tasks the lowest pass.
func (s *stride) join(m *node.Machine) {
	var fresh []*node.Task
	least, known := 0.0, false
	for _, list := range [][]*node.Task{m.Queue, m.Running} {
		for _, t := range list {
			if _, ok := s.joined[t]; !ok {
				fresh = append(fresh, t)
			} else if p := s.pass(m, t); !known || p < least {
				least, known = p, true
			}
		}
	}
	for _, t := range fresh {
		s.joined[t] = 0
		s.joined[t] = least - s.pass(m, t)
	}
}
