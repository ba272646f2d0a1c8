package schedulers

import (
	"cmp"
	"slices"
	"time"

	"graft/cluster/node"
)

// backfill starts tasks in order of arrival. The first task that does not fit gets a reservation at the earliest time
// and device at which it fits, by estimates; later tasks start first if they do not delay it (EASY: Lifka, The ANL/IBM
// SP Scheduling System, 1995).
type backfill struct{}

func newBackfill(node.SchedulerOptions) node.Scheduler { return backfill{} }

// Decide implements [node.Scheduler].
func (backfill) Decide(m *node.Machine) (d node.Decision) {
	if len(m.Queue) == 0 {
		return d
	}
	queue := slices.SortedFunc(slices.Values(m.Queue), func(a, b *node.Task) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	head := queue[0]
	if on := first(m, head); on != nil {
		return node.Decision{Start: head, On: on}
	}
	r := reserve(m, head)
	for _, t := range queue[1:] {
		for _, d := range m.Devices {
			if m.Fits(t, d) && r.allows(m, t, d) {
				return node.Decision{Start: t, On: d}
			}
		}
	}
	return node.Decision{}
}

// reservation holds the device and time at which the head of the queue will fit, and the room that it leaves there.
type reservation struct {
	on            *node.Device
	at            time.Duration
	cores, memory float64
}

// reserve finds the earliest reservation from the estimates of running tasks.
func reserve(m *node.Machine, head *node.Task) (best reservation) {
	for _, d := range m.Devices {
		ends := slices.SortedFunc(slices.Values(d.Tasks), func(a, b *node.Task) int {
			return cmp.Or(cmp.Compare(expected(m, a), expected(m, b)), cmp.Compare(a.ID, b.ID))
		})
		cores, memory := 100-d.Cores, d.Memory-d.Used
		for _, t := range ends {
			cores, memory = cores+t.Cores, memory+t.Memory
			if head.Cores > cores || head.Memory > memory {
				continue
			}
			if at := expected(m, t); best.on == nil || at < best.at {
				best = reservation{d, at, cores - head.Cores, memory - head.Memory}
			}
			break
		}
	}
	return best
}

// expected returns the estimated end of a running task.
func expected(m *node.Machine, t *node.Task) time.Duration {
	return max(m.Now, t.Since+timeOn(t, m.Devices[t.Device]))
}

// timeOn returns the estimated time that the remaining work of a task takes on a device.
func timeOn(t *node.Task, d *node.Device) time.Duration {
	if d.Speed == 1 {
		return t.Left()
	}
	return time.Duration(float64(t.Left()) / d.Speed)
}

// allows reports whether a task does not delay the reservation.
func (r reservation) allows(m *node.Machine, t *node.Task, d *node.Device) bool {
	return r.on != d || m.Now+timeOn(t, d) <= r.at || t.Cores <= r.cores && t.Memory <= r.memory
}
