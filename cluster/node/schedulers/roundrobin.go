package schedulers

import (
	"time"

	"graft/cluster/node"
)

// sliced gives each task a quantum.
type sliced struct{ quantum time.Duration }

// Slice implements [node.Slicer].
func (s sliced) Slice(*node.Task) time.Duration { return s.quantum }

// roundRobin starts the first task of the queue that fits, on the next device in turn.
type roundRobin struct {
	sliced
	next int // device index
}

func newRoundRobin(o node.SchedulerOptions) node.Scheduler {
	return &roundRobin{sliced: sliced{o.Quantum}}
}

// Decide implements [node.Scheduler].
func (r *roundRobin) Decide(m *node.Machine) node.Decision {
	for _, t := range m.Queue {
		for k := range m.Devices {
			if d := m.Devices[(r.next+k)%len(m.Devices)]; m.Fits(t, d) {
				r.next = (d.ID + 1) % len(m.Devices)
				return node.Decision{Start: t, On: d}
			}
		}
	}
	return node.Decision{}
}
