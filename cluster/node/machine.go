package node

import (
	"cmp"
	"slices"
	"time"
)

// State is the state of a task.
type State uint8

// States of a task.
const (
	Absent  State = iota // not arrived, or waiting for other tasks to complete
	Queued               // ready to start
	Running              // running on a device
	Held                 // stopped and queued, with its memory still on its device
	Done                 // completed
	Failed               // failed, and will not run again
)

// Task is a task on a machine. Schedulers may read a task; only the machine changes it.
type Task struct {
	Spec
	ID      int           // position of the task in the specs
	State   State         // current state
	Device  int           // position of the current or last device; -1 before the first start
	Since   time.Duration // time at which the task was queued or last started
	Began   time.Duration // time of the first start; -1 if not started
	Ended   time.Duration // time of completion or failure; -1 if not ended
	Worked  time.Duration // work done until the last stop
	Ran     time.Duration // run time until the last stop
	Starts  int           // number of starts
	waiting int           // number of tasks that must complete first
	next    []*Task       // tasks that wait for this one
	pace    pace
}

// Left returns the estimated remaining work of a task. It is at least one twentieth of the estimate, so that a task
// that exceeds its estimate does not count as completed.
func (t *Task) Left() time.Duration { return max(t.Estimate-t.Worked, t.Estimate/20, 1) }

// Served returns the run time of a task so far.
func (t *Task) Served(m *Machine) time.Duration {
	if t.State == Running {
		return t.Ran + m.Now - t.Since
	}
	return t.Ran
}

// Device is a GPU of a machine.
type Device struct {
	ID     int
	Memory float64 // memory in MiB
	Speed  float64 // work per second, relative to the GPU for which durations were estimated
	Tasks  []*Task // running tasks in order of start
	Cores  float64 // sum of the cores of the running tasks, in percent
	Used   float64 // memory of running and held tasks in MiB
}

// Machine is the state of a machine's GPUs and of its tasks. Schedulers must not change the machine.
type Machine struct {
	Now     time.Duration
	Devices []*Device
	// ready tasks in the order in which they were queued; a stopped task is queued when it stops
	Queue   []*Task
	Running []*Task // running tasks in order of start
	All     []*Task
	rules   Rules
}

// Rules defines which tasks may share a device, and what a stopped task keeps. The memory of a device is a further
// limit.
type Rules struct {
	Together int  // maximum number of tasks on a device at a time; zero means no limit
	Whole    bool // limits the cores of the tasks on a device to 100% in total
	Keep     bool // a stopped task keeps its memory and its device; false releases both
}

// NewMachine creates a machine with idle devices. Call EnsureDefaults on each spec first.
func NewMachine(devices []Device, specs []Spec, rules Rules) *Machine {
	m := &Machine{rules: rules}
	for k, d := range devices {
		d.ID, d.Speed = k, cmp.Or(d.Speed, 1)
		m.Devices = append(m.Devices, &d)
	}
	tasks := make([]Task, len(specs))
	for k, s := range specs {
		tasks[k] = Task{Spec: s, ID: k, Device: -1, Began: -1, Ended: -1, waiting: len(s.After)}
		m.All = append(m.All, &tasks[k])
	}
	for _, t := range m.All {
		for _, before := range t.After {
			m.All[before].next = append(m.All[before].next, t)
		}
	}
	return m
}

// Rules returns the rules for sharing devices and for stopping tasks.
func (m *Machine) Rules() Rules { return m.rules }

// Holds reports whether a task can start on a device, that is, whether the device has enough memory and the rules allow
// the task.
func (m *Machine) Holds(t *Task, d *Device) bool {
	memory := t.Memory
	if t.State == Held {
		if t.Device != d.ID {
			return false
		}
		memory = 0
	}
	switch {
	case m.rules.Together > 0 && len(d.Tasks) >= m.rules.Together:
		return false
	case m.rules.Whole && !d.room(t):
		return false
	}
	return d.Used+memory <= d.Memory
}

// Fits reports whether a task can start on a device without a shortage of cores.
func (m *Machine) Fits(t *Task, d *Device) bool { return d.room(t) && m.Holds(t, d) }

// room reports whether the cores suffice.
func (d *Device) room(t *Task) bool { return d.Cores+t.Cores <= whole }

// Arrive adds a task. The task is queued unless it waits for other tasks.
func (m *Machine) Arrive(t *Task) {
	t.waiting--
	m.ready(t)
}

// ready queues a task that waits for nothing. The task's own arrival counts as one more prerequisite.
func (m *Machine) ready(t *Task) {
	if t.waiting < 0 && t.State == Absent {
		t.State, t.Since = Queued, m.Now
		m.Queue = append(m.Queue, t)
	}
}

// Start starts a queued task on a device for which Holds is true.
func (m *Machine) Start(t *Task, d *Device) {
	m.Queue = remove(m.Queue, t)
	if t.State != Held {
		d.Used += t.Memory
	}
	if t.Began < 0 {
		t.Began = m.Now
	}
	t.State, t.Device, t.Since = Running, d.ID, m.Now
	t.Starts++
	d.Tasks, m.Running = append(d.Tasks, t), append(m.Running, t)
	d.recount()
}

// Stop moves a running task to the end of the queue.
func (m *Machine) Stop(t *Task) {
	d := m.leave(t)
	if t.State = Held; !m.rules.Keep {
		t.State = Queued
		d.release(t)
	}
	t.Since = m.Now
	m.Queue = append(m.Queue, t)
}

// Finish ends a task with the state Done or Failed. Tasks that waited for a completed task are queued. Tasks that
// waited for a failed task fail too, and are returned.
func (m *Machine) Finish(t *Task, as State) (failed []*Task) {
	m.withdraw(t)
	t.State, t.Ended = as, m.Now
	for _, next := range t.next {
		if next.State != Absent {
			continue
		}
		if next.waiting--; as == Done {
			m.ready(next)
		} else {
			failed = append(append(failed, next), m.Finish(next, Failed)...)
		}
	}
	return failed
}

// Withdraw removes a running or queued task from the machine until it arrives again.
func (m *Machine) Withdraw(t *Task) {
	m.withdraw(t)
	t.State, t.waiting = Absent, 0
}

// withdraw removes a task from its device and from the queue.
func (m *Machine) withdraw(t *Task) {
	switch t.State {
	case Running:
		m.leave(t).release(t)
	case Held:
		m.Devices[t.Device].release(t)
		fallthrough
	case Queued:
		m.Queue = remove(m.Queue, t)
	}
}

// leave removes a running task from its device.
func (m *Machine) leave(t *Task) *Device {
	d := m.Devices[t.Device]
	t.Ran += m.Now - t.Since
	d.Tasks, m.Running = remove(d.Tasks, t), remove(m.Running, t)
	d.recount()
	return d
}

// release frees the memory of a task. Rounding never makes the usage negative.
func (d *Device) release(t *Task) {
	if d.Used -= t.Memory; d.Used < 0 {
		d.Used = 0
	}
}

// recount recomputes sums, so that rounding errors do not accumulate.
func (d *Device) recount() {
	d.Cores = 0
	for _, t := range d.Tasks {
		d.Cores += t.Cores
	}
}

// Over reports whether all tasks have completed or failed.
func (m *Machine) Over() bool {
	return !slices.ContainsFunc(m.All, func(t *Task) bool { return t.State < Done })
}

func remove(list []*Task, t *Task) []*Task {
	at := slices.Index(list, t)
	return slices.Delete(list, at, at+1)
}
