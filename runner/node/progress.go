package node

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"graft/cluster/execute"
	"graft/internal/telemetry"
)

// TaskState is the state of a task in a run.
type TaskState string

// States of a task.
const (
	TaskWaiting TaskState = "waiting" // the task waits for its arrival, for other tasks or for a retry
	TaskQueued  TaskState = "queued"  // the task may start
	TaskRunning TaskState = "running"
	TaskPaused  TaskState = "paused" // the processes of the task are stopped and stay in memory
	TaskDone    TaskState = "done"
	TaskFailed  TaskState = "failed"
	TaskSkipped TaskState = "skipped" // a task that it depends on failed
)

// TaskStates lists all states, in the order of a task's life cycle.
func TaskStates() []TaskState {
	return []TaskState{TaskWaiting, TaskQueued, TaskRunning, TaskPaused, TaskDone, TaskFailed, TaskSkipped}
}

// RunStatus is the response to GET /status.
type RunStatus struct {
	Graft     string            `json:"graft"`        // version of graft
	Folder    string            `json:"folder"`       // path of the run folder
	Scheduler string            `json:"scheduler"`    // name of the scheduler that places the tasks
	Time      float64           `json:"time_seconds"` // time of the last event since the start
	Tasks     map[TaskState]int `json:"tasks"`        // number of tasks in each state
	Attempts  int               `json:"attempts"`     // number of started attempts
	Running   []RunningTask     `json:"running"`      // tasks on devices, including paused tasks
	Devices   []telemetry.State `json:"devices"`      // devices with their last reading; empty if nothing is measured
}

// RunningTask is a running or paused task on a device.
type RunningTask struct {
	Task    string    `json:"task"`          // name of the task
	State   TaskState `json:"state"`         // state of the task: running or paused
	Device  string    `json:"device"`        // name of the device
	Attempt int       `json:"attempt"`       // number of the attempt, from 1
	Since   float64   `json:"since_seconds"` // start of the attempt or of the pause
}

// progress follows the events of a run. It is safe for concurrent use.
type progress struct {
	names  []string // names of the devices
	mu     sync.Mutex
	status RunStatus
	states []TaskState
	on     map[int]RunningTask
}

func newProgress(tasks int, devices []string, folder, scheduler string) *progress {
	return &progress{names: devices, on: map[int]RunningTask{}, states: slices.Repeat([]TaskState{TaskWaiting}, tasks),
		status: RunStatus{Folder: folder, Scheduler: scheduler, Tasks: map[TaskState]int{TaskWaiting: tasks}}}
}

// see adds an event. It ignores an event of an unknown task: execute.Run returns an error for it.
func (p *progress) see(e execute.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Time = e.At.Seconds()
	state := stateAfter(e)
	if e.Task < 0 || e.Task >= len(p.states) || state == "" {
		return nil
	}
	p.status.Tasks[p.states[e.Task]]--
	p.status.Tasks[state]++
	p.states[e.Task] = state
	if e.Kind == execute.Placed {
		p.status.Attempts++
	}
	if state != TaskRunning && state != TaskPaused {
		delete(p.on, e.Task)
	} else if e.Device >= 0 && e.Device < len(p.names) {
		p.on[e.Task] = RunningTask{e.Name, state, p.names[e.Device], e.Attempt, e.At.Seconds()}
	}
	return nil
}

// stateAfter returns the state of a task after an event; empty if it does not change.
func stateAfter(e execute.Event) TaskState {
	switch e.Kind {
	case execute.Queued:
		return TaskQueued
	case execute.Placed, execute.Started, execute.Resumed:
		return TaskRunning
	case execute.Paused:
		return TaskPaused
	case execute.Skipped:
		return TaskSkipped
	case execute.Ended:
		return cmp.Or(map[execute.End]TaskState{execute.Done: TaskDone, execute.Failed: TaskFailed,
			execute.Stopped: TaskQueued}[e.End], TaskWaiting)
	}
	return ""
}

// now returns a copy of the state.
func (p *progress) now() RunStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.Tasks, s.Running = maps.Clone(s.Tasks), []RunningTask{}
	for _, task := range slices.Sorted(maps.Keys(p.on)) {
		s.Running = append(s.Running, p.on[task])
	}
	return s
}
