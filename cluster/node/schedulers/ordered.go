package schedulers

import (
	"graft/cluster/node"
)

// ordered takes the task of the queue that comes first in an order.
type ordered struct {
	before func(m *node.Machine, a, b *node.Task) bool // nil is the order of the queue
	place  placement
	// pass lets tasks go first that fit while others do not.
	pass bool
}

// Decide implements [node.Scheduler].
func (o *ordered) Decide(m *node.Machine) (d node.Decision) {
	for _, t := range m.Queue {
		if d.Start != nil && (o.before == nil || !o.before(m, t, d.Start)) {
			continue
		}
		on := o.place(m, t)
		if on == nil && o.pass {
			continue
		}
		if d = (node.Decision{Start: t, On: on}); o.before == nil {
			break
		}
	}
	if d.On == nil {
		return node.Decision{}
	}
	return d
}

// byArrival orders tasks by their arrival, then by their place.
func byArrival(_ *node.Machine, a, b *node.Task) bool {
	return a.Arrival < b.Arrival || a.Arrival == b.Arrival && a.ID < b.ID
}

// byPriority orders tasks by descending priority, then by arrival.
func byPriority(m *node.Machine, a, b *node.Task) bool {
	return a.Priority > b.Priority || a.Priority == b.Priority && byArrival(m, a, b)
}

// placement returns the device for a task; nil if none has room.
type placement func(m *node.Machine, t *node.Task) *node.Device

// first takes the first device with room.
func first(m *node.Machine, t *node.Task) *node.Device {
	for _, d := range m.Devices {
		if m.Fits(t, d) {
			return d
		}
	}
	return nil
}

// least takes the device of the least score among those with room, the first of equals.
func least(score func(t *node.Task, d *node.Device) float64) placement {
	return func(m *node.Machine, t *node.Task) (best *node.Device) {
		lowest := 0.0
		for _, d := range m.Devices {
			if !m.Fits(t, d) {
				continue
			}
			if s := score(t, d); best == nil || s < lowest {
				best, lowest = d, s
			}
		}
		return best
	}
}

// room returns the shares of cores and of memory, summed, that a task leaves free on a device.
func room(t *node.Task, d *node.Device) float64 {
	return 1 - (d.Cores+t.Cores)/100 + 1 - (d.Used+t.Memory)/d.Memory
}

// load is the share of cores in use.
func load(_ *node.Task, d *node.Device) float64 { return d.Cores }
