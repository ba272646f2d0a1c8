package world

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"graft/cluster/node"
)

// Task configures one task in a file.
type Task struct {
	Name string // Unique name of the task. Empty means "task" followed by its position in the file.
	// Program and arguments of a real task, run without a shell. Empty means a task that is only simulated.
	Command []string
	// Kind of the task, which selects its measured slowdowns in machine.profiles. Empty means the task's name.
	Kind string
	// Name of the user or queue whose tasks share one weight in fair queueing. Empty gives the task its own flow.
	Flow string
	// Percentage of a GPU's cores that the task keeps busy when it runs alone. Default 100.
	Cores  float64
	Memory float64 `config:"memory_mb"` // GPU memory of the task in MiB. Default 0.
	// Run time of the task when it has a GPU to itself. 'graft node simulate' needs it; schedulers of 'graft node
	// run' use it as an estimate. Zero means unknown.
	Duration time.Duration
	Estimate time.Duration // Estimated duration that schedulers use. Zero means the true duration.
	Arrival  time.Duration // Time of submission, measured from the start of the run. Default 0.
	Priority int           // Scheduling priority; tasks with larger values run first. Default 0.
	// Weight of the task's flow in fair queueing. Zero means the weight that another task of the flow sets, or 1. Two
	// tasks of a flow must not set different weights.
	Weight  float64
	Tickets int      // Number of tickets in lottery and stride scheduling. Default 1.
	After   []string // Names of the tasks that must complete before this task starts. Empty means no dependency.
	// Number of copies of the task. If count is above 1, a number is appended to the name of each copy. Default 1.
	Count int

	Folder string // Working directory of a real task. Empty means the working directory of graft.
	// Additional environment variables of a real task, such as SEED=1. Empty adds none.
	Env []string
	// Maximum running time of a real task, after which it is terminated. Zero means no limit.
	Timeout time.Duration
	Retries int // Maximum number of retries of a real task after failures. Default 0.
	// Main memory limit of a real task in MiB, enforced only if its processes have a cgroup. Zero means no limit.
	MainMemory float64 `config:"main_memory_mb"`
	// Declares that a real task saves its state at SIGTERM and resumes from this state in its next run, as 'graft train
	// --resume' does, and that its exit code 75 requests another run. If false, graft can pause the task only by
	// signals (SIGSTOP and SIGCONT), and exit code 75 is a failure.
	Checkpoint bool
}

// EnsureDefaults fills in defaults, except for the name.
func (t *Task) EnsureDefaults() {
	t.Cores, t.Weight, t.Tickets, t.Count = cmp.Or(t.Cores, 100), cmp.Or(t.Weight, 1), cmp.Or(t.Tickets, 1),
		cmp.Or(t.Count, 1)
}

// spec converts the task for schedulers.
func (t *Task) spec() node.Spec {
	return node.Spec{Name: t.Name, Kind: t.Kind, Flow: t.Flow, Cores: t.Cores, Memory: t.Memory, Work: t.Duration,
		Estimate: t.Estimate, Arrival: t.Arrival, Priority: t.Priority, Weight: t.Weight, Tickets: t.Tickets}
}

// mostCount bounds Count.
const mostCount = 1 << 20

// expand numbers equal tasks, and resolves the names of earlier tasks to positions.
func expand(tasks []Task) (specs []node.Spec, err error) {
	places := map[string][]int{} // of all tasks with a name, with or without number
	for k := range tasks {
		t := &tasks[k]
		if t.Count < 0 || t.Count > mostCount {
			return nil, fmt.Errorf("task %s: count is %d; must be from 0 to %d", t.Name, t.Count, mostCount)
		}
		base := t.base(k)
		for i := range t.Count {
			s := t.spec()
			if s.Name = base; t.Count > 1 {
				s.Name = fmt.Sprintf("%s-%d", base, i+1)
				places[base] = append(places[base], len(specs))
			}
			s.Kind, s.Flow = cmp.Or(s.Kind, base), t.flow(k)
			places[s.Name] = append(places[s.Name], len(specs))
			specs = append(specs, s)
		}
	}
	return specs, errors.Join(order(tasks, specs, places), weigh(specs))
}

// weigh returns an error for a flow whose tasks have different weights: fair schedulers give a flow one weight.
func weigh(specs []node.Spec) error {
	of := map[string]float64{}
	for k := range specs {
		t := &specs[k]
		if other, known := of[t.Flow]; known && other != t.Weight {
			return fmt.Errorf("task %s has the weight %g, but another task of flow %s has %g; set the weight of a "+
				"flow once, or give all its tasks the same weight", t.Name, t.Weight, t.Flow, other)
		}
		of[t.Flow] = t.Weight
	}
	return nil
}

// shareWeights gives tasks without a weight the weight of their flow, if a task of the flow has one.
func shareWeights(tasks []Task) {
	of := map[string]float64{}
	for k := range tasks {
		flow := tasks[k].flow(k)
		of[flow] = cmp.Or(of[flow], tasks[k].Weight)
	}
	for k := range tasks {
		tasks[k].Weight = cmp.Or(tasks[k].Weight, of[tasks[k].flow(k)])
	}
}

// order fills in the positions of the tasks that must complete before each task.
func order(tasks []Task, specs []node.Spec, places map[string][]int) error {
	var faults []error
	at := 0
	for k := range tasks {
		var after []int
		for _, name := range tasks[k].After {
			if after = append(after, places[name]...); len(places[name]) == 0 {
				faults = append(faults, fmt.Errorf("task %s: unknown task %q in the key \"after\"; expected one of: "+
					"%.200s",
					specs[at].Name, name, fmt.Sprint(slices.Sorted(maps.Keys(places)))))
			}
		}
		for range tasks[k].Count {
			specs[at].After = after
			at++
		}
	}
	return errors.Join(faults...)
}

// checkDurations returns an error for a task without a duration. If runnable is true, tasks with a command need no
// duration, because 'graft node run' can run them.
func (f *File) checkDurations(runnable bool) error {
	for k := range f.Task {
		t := &f.Task[k]
		if t.Duration > 0 || t.Count == 0 || runnable && len(t.Command) > 0 {
			continue
		}
		remedy := ""
		if len(t.Command) > 0 {
			remedy = ", or run the tasks with 'graft node run'"
		}
		return fmt.Errorf("task %s has no duration, which a simulation needs; set duration to its run time alone on "+
			"a GPU%s", t.base(k), remedy)
	}
	return nil
}

// base returns the name of a task without the number of a copy. The argument place is its position in the file.
func (t *Task) base(place int) string { return cmp.Or(t.Name, fmt.Sprintf("task%d", place+1)) }

// flow returns the name of a task's flow.
func (t *Task) flow(place int) string { return cmp.Or(t.Flow, t.base(place)) }

// ExpandedTasks returns the tasks of the file, with a separate task for each copy. The copies have unique names.
func (f *File) ExpandedTasks() (all []Task) {
	for _, t := range f.Task {
		for range t.Count {
			t.Name = f.specs[len(all)].Name
			all = append(all, t)
		}
	}
	return all
}
