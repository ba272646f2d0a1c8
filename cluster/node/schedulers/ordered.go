package schedulers

import (
	"graft/cluster/node"
)

// ordered starts the first task of the queue in a given order.
type ordered struct {
	before func(m *node.Machine, a, b *node.Task) bool // nil means the order of the queue
	place  placement
	// pass lets tasks that fit overtake tasks that do not.
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

// byArrival orders tasks by arrival, then by position.
func byArrival(_ *node.Machine, a, b *node.Task) bool {
	return a.Arrival < b.Arrival || a.Arrival == b.Arrival && a.ID < b.ID
}

// byPriority orders tasks by descending priority, then by arrival.
func byPriority(m *node.Machine, a, b *node.Task) bool {
	return a.Priority > b.Priority || a.Priority == b.Priority && byArrival(m, a, b)
}

// placement returns the device for a task; nil if no device has room.
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

// least returns the device with room that has the lowest score, the first on a tie.
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

// room returns the sum of the shares of cores and of memory that a task leaves free on a device.
func room(t *node.Task, d *node.Device) float64 {
	return 1 - (d.Cores+t.Cores)/100 + 1 - (d.Used+t.Memory)/d.Memory
}

// load returns the cores in use, percent.
func load(_ *node.Task, d *node.Device) float64 { return d.Cores }
