package agent

import (
	"graft/cluster/node"
)

// right returns the action of a teacher, which must decide from the machine's state alone. It returns nil if only time
// can advance.
func (e *Env) right(teacher node.Scheduler) []int {
	if len(e.state.candidates) == 0 {
		return nil
	}
	d := teacher.Decide(e.world.Machine)
	for k, c := range e.state.candidates {
		if c.task == d.Start && (c.on == d.On || same(c.on, d.On)) {
			return []int{k}
		}
	}
	return []int{len(e.state.candidates)}
}

// same reports whether two devices are empty and equal.
func same(a, b *node.Device) bool {
	return a.Used == 0 && b.Used == 0 && len(a.Tasks) == 0 && len(b.Tasks) == 0 && a.Memory == b.Memory &&
		a.Speed == b.Speed
}
