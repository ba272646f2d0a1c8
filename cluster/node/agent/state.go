// Package agent learns to schedule the tasks of a machine. It has a learning environment that simulates the machine,
// and a scheduler that follows a learned agent.
package agent

import (
	"math"
	"time"

	"graft/cluster/node"
	"graft/learn"
)

// Numbers of values in an observation.
const (
	Globals  = 5  // values that describe the machine
	Features = 13 // values that describe a candidate, which is a task on a device
)

// MostCores is the maximum percentage of a device's cores that a candidate may request together with the running tasks.
const MostCores = 150.0

// window is the number of tasks at the head of the queue that are candidates.
const window = 64

// candidate is a task that may start on a device.
type candidate struct {
	task *node.Task
	on   *node.Device
}

// state describes a machine to an agent.
type state struct {
	machine    *node.Machine
	candidates []candidate
	values     []float64
	unit       time.Duration  // mean estimate of the tasks that have arrived
	arrived    int            // number of tasks that have arrived
	largest    float64        // memory of the largest device
	logs       []logs         // by task
	speeds     []float64      // logarithms of speeds, by device
	devices    []*node.Device // without repetitions of empty, equal devices
}

// logs caches the logarithms of a task's work for its features, while unit and left stay constant.
type logs struct {
	unit, left time.Duration
	work, area float64
}

func newState(m *node.Machine) *state {
	s := &state{machine: m, unit: 1}
	for _, d := range m.Devices {
		s.largest, s.speeds = max(s.largest, d.Memory), append(s.speeds, math.Log(d.Speed))
	}
	s.logs = make([]logs, len(m.All))
	return s
}

// look lists and describes the candidates. Among devices in equal states only the first counts.
func (s *state) look() learn.Observation {
	m := s.machine
	s.measure()
	s.candidates, s.values = s.candidates[:0], s.globals(s.values[:0])
	s.devices = s.devices[:0]
	for _, d := range m.Devices {
		if !s.repeats(d) {
			s.devices = append(s.devices, d)
		}
	}
	for _, t := range m.Queue[:min(len(m.Queue), window)] {
		for _, d := range s.devices {
			if d.Cores+t.Cores <= MostCores && m.Holds(t, d) {
				s.candidates = append(s.candidates, candidate{t, d})
				s.values = s.describe(s.values, t, d)
			}
		}
	}
	return learn.Observation{Values: s.values}
}

// repeats reports whether an earlier device is also empty and equal.
func (s *state) repeats(d *node.Device) bool {
	if d.Used > 0 || len(d.Tasks) > 0 {
		return false
	}
	for _, other := range s.machine.Devices[:d.ID] {
		if other.Used == 0 && len(other.Tasks) == 0 && other.Memory == d.Memory && other.Speed == d.Speed {
			return true
		}
	}
	return false
}

// measure recomputes the unit of time if tasks have arrived.
func (s *state) measure() {
	if s.arrived == len(s.machine.All) {
		return
	}
	count, sum := 0, time.Duration(0)
	for _, t := range s.machine.All {
		if t.State != node.Absent {
			count, sum = count+1, sum+t.Estimate
		}
	}
	if count != s.arrived {
		s.arrived, s.unit = count, max(1, sum/time.Duration(count))
	}
}

// globals are the free shares of cores and memory, the lengths of the queue and of the list of running tasks, and the
// share of empty devices.
func (s *state) globals(to []float64) []float64 {
	m := s.machine
	cores, memory, all, empty := 0.0, 0.0, 0.0, 0
	for _, d := range m.Devices {
		cores, memory, all = cores+min(100, d.Cores), memory+d.Used, all+d.Memory
		if len(d.Tasks) == 0 {
			empty++
		}
	}
	n := float64(len(m.Devices))
	return append(to, 1-cores/100/n, 1-memory/all, math.Log1p(float64(len(m.Queue)))/4,
		math.Log1p(float64(len(m.Running)))/3, float64(empty)/n)
}

// describe appends a task's demands, work and area, and a device's usage before and after the task starts.
func (s *state) describe(to []float64, t *node.Task, d *node.Device) []float64 {
	cores, memory := t.Cores/100, t.Memory/d.Memory
	known := &s.logs[t.ID]
	if left := t.Left(); known.unit != s.unit || known.left != left {
		work := math.Log(float64(left)/float64(s.unit) + 1e-3)
		*known = logs{s.unit, left, work, work + math.Log(max(cores, t.Memory/s.largest)+1e-3)}
	}
	after, used := (d.Cores+t.Cores)/100, d.Used/d.Memory
	if t.State != node.Held {
		used += memory
	}
	held, empty := 0.0, 0.0
	if t.State == node.Held {
		held = 1
	}
	if len(d.Tasks) == 0 {
		empty = 1
	}
	return append(to, cores, memory, known.work, known.area, min(1, after), max(0, after-1), used,
		float64(len(d.Tasks))/4, empty, min(1, after)-used, held, float64(t.Priority)/5, s.speeds[d.ID])
}
