package execute

import (
	"fmt"
	"slices"
	"syscall"

	"graft/cluster/node"
	"graft/fleet/process"
)

// logsFolder is the folder of logs in a run folder.
const logsFolder = "logs"

// logName is the path of an attempt's log in the run folder.
func logName(task, attempt int) string {
	return fmt.Sprintf("%s/task-%d-%d.log", logsFolder, task, attempt)
}

// reconcile adapts the processes to the machine's state, once for all decisions of a moment: a task that was stopped
// and restarted on the same device gets no signal. Stops come first.
func (x *executor) reconcile() {
	tasks := x.touched
	x.touched = nil
	slices.SortStableFunc(tasks, func(a, b *node.Task) int { return a.ID - b.ID })
	tasks = slices.Compact(tasks)
	for _, t := range tasks {
		a := x.live[t.ID]
		switch {
		case a == nil || a.ending != byItself:
		case t.State == node.Held && !a.paused:
			x.pause(a)
		case t.State == node.Queued, t.State == node.Running && a.device != t.Device:
			x.terminate(a, stopped)
		}
	}
	for _, t := range tasks {
		if t.State == node.Running && x.err == nil {
			x.ensure(t)
		}
	}
}

// ensure runs a task that the scheduler started. It waits while the task's device is not free.
func (x *executor) ensure(t *node.Task) {
	switch a := x.live[t.ID]; {
	case a == nil && x.leaving[t.Device] == 0:
		x.place(t)
	case a == nil || a.ending == stopped:
		x.touch(t)
	case a.ending != byItself: // settle decides after its end
	case a.paused:
		x.resumeAttempt(a)
	case a.slice == 0:
		x.slices(a)
	}
}

// place starts the process of a task.
func (x *executor) place(t *node.Task) {
	t.Since = x.m.Now
	a := &attempt{task: t, job: &x.jobs[t.ID], number: x.account.Jobs[t.ID].next(), device: t.Device, since: x.m.Now}
	log := logName(t.ID, a.number)
	a.log = x.o.Run.Path(log)
	x.emit(Event{Kind: Placed, Task: t.ID, Attempt: a.number, Device: a.device, Command: a.job.Command, Log: log})
	if x.err != nil {
		return
	}
	err, refused := x.confine(a), x.refused
	if err == nil {
		err = x.launch(a)
	}
	if x.refused != nil && refused == nil {
		x.opened(nil, x.refused)
	}
	if x.live[t.ID] = a; err != nil {
		if a.group != nil {
			_ = a.group.remove()
		}
		x.pending = append(x.pending, exit{attempt: a, start: err})
		return
	}
	p, err := process.Named(x.o.Files, a.pid)
	if err != nil {
		p = process.Process{ID: a.pid} // it has already ended
	}
	x.emit(Event{Kind: Started, Task: t.ID, Attempt: a.number, Device: a.device, Process: p})
	x.begun(a)
}

// confine makes the cgroup of an attempt.
func (x *executor) confine(a *attempt) (err error) {
	if x.groups == nil || x.refused != nil {
		return nil
	}
	d, cores := &x.o.Devices[a.device], 0.0
	if d.UUID == "" && len(d.CPUs) > 0 {
		cores = a.job.Cores / 100 * float64(len(d.CPUs))
	}
	if a.group, err = x.groups.task(a.task.ID, cores, a.job.MemoryLimit*(1<<20)); err != nil {
		return fmt.Errorf("create a cgroup: %w", err)
	}
	return nil
}

// begun records that an attempt works from now on.
func (x *executor) begun(a *attempt) {
	a.since = x.m.Now
	if a.job.Timeout > 0 {
		a.timeout = x.schedule(max(0, a.job.Timeout-x.spent[a.task.ID]), exceeds, a.task)
	}
	if x.o.Meter != nil {
		a.reading = x.o.Meter.Begin(a.device)
	}
	x.slices(a)
}

// slices starts a slice.
func (x *executor) slices(a *attempt) {
	if x.slicer == nil {
		return
	}
	if d := x.slicer.Slice(a.task); d > 0 {
		a.slice = x.schedule(d, expires, a.task)
	}
}

// worked records that an attempt has worked until now, and returns its energy since it last started or continued.
func (x *executor) worked(a *attempt) (joules float64, method string) {
	x.cancel(&a.slice, &a.timeout)
	if a.paused {
		return 0, ""
	}
	x.spent[a.task.ID] += x.m.Now - a.since
	if a.reading != nil {
		joules, method = a.reading.End()
		a.reading = nil
	}
	return joules, method
}

// pause stops the processes of a task, which stay in memory.
func (x *executor) pause(a *attempt) {
	x.halt(a, true)
	joules, method := x.worked(a)
	a.paused = true
	x.emit(Event{Kind: Paused, Task: a.task.ID, Attempt: a.number, Device: a.device, Joules: joules, Method: method})
}

// resumeAttempt continues the processes of a task.
func (x *executor) resumeAttempt(a *attempt) {
	a.paused = false
	x.halt(a, false)
	x.emit(Event{Kind: Resumed, Task: a.task.ID, Attempt: a.number, Device: a.device})
	x.begun(a)
}

// terminate asks the processes of a task to end, and kills them after Grace.
func (x *executor) terminate(a *attempt, why cause) {
	if a.ending == stopped {
		x.leaving[a.device]--
	}
	if a.ending = why; why == stopped {
		x.leaving[a.device]++
	}
	x.cancel(&a.slice, &a.timeout)
	a.signal(syscall.SIGTERM)
	if a.paused {
		x.halt(a, false)
	}
	if a.grace == 0 {
		a.grace = x.schedule(x.o.Grace, kills, a.task)
	}
}

// kill kills the process group. The rest follows after the end of its first process.
func (x *executor) kill(a *attempt) { a.signal(syscall.SIGKILL) }
