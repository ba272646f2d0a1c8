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

// Task is a task of the file.
type Task struct {
	Name    string   // unique name. Empty means task and its place.
	Command []string // program and arguments of a real task; no shell reads them. A task without one is only simulated.
	Kind    string   // row in tables of measured pairs. Empty means the name.
	Flow    string   // user or queue to which fair queueing gives a share. Empty means a flow of its own.
	Cores   float64  // share of a GPU's cores that the task keeps busy when it runs alone, percent. Default 100.
	Memory  float64  `config:"memory_mb"` // memory of a GPU, MiB. Default 0.
	// run time alone on a GPU, for simulations and schedulers. Zero means unknown, which real tasks may be.
	Duration time.Duration
	Estimate time.Duration // estimate of the duration, for schedulers. Zero means the duration.
	Arrival  time.Duration // time since the beginning. Default 0.
	Priority int           // priority: larger ones are first. Default 0.
	Weight   float64       // weight of its flow in fair queueing. Default 1.
	Tickets  int           // tickets in lotteries and stride scheduling. Default 1.
	After    []string      // names of the tasks that must complete before
	Count    int           // number of equal tasks; more than one have numbers behind the name. Default 1.

	Folder  string        // working folder of a real task. Empty means that of the command.
	Env     []string      // further variables of a real task, such as SEED=1
	Timeout time.Duration // running time after which a real task is ended. Zero means no limit.
	Retries int           // maximum number of times that a real task runs again after a failure. Default 0.
	// MainMemory limits the main memory of a real task, MiB, where its processes have a cgroup. Zero means no limit.
	MainMemory float64 `config:"main_memory_mb"`
	// Checkpoint says that a real task saves its state when it gets SIGTERM, and continues from there when it runs
	// again, as 'graft train --resume' does. False only pauses it by signals.
	Checkpoint bool
}

// EnsureDefaults fills in defaults, except for the name.
func (t *Task) EnsureDefaults() {
	t.Cores, t.Weight, t.Tickets, t.Count = cmp.Or(t.Cores, 100), cmp.Or(t.Weight, 1), cmp.Or(t.Tickets, 1),
		cmp.Or(t.Count, 1)
}

// spec is the task for schedulers.
func (t *Task) spec() node.Spec {
	return node.Spec{Name: t.Name, Kind: t.Kind, Flow: t.Flow, Cores: t.Cores, Memory: t.Memory, Work: t.Duration,
		Estimate: t.Estimate, Arrival: t.Arrival, Priority: t.Priority, Weight: t.Weight, Tickets: t.Tickets}
}

// mostCount bounds equal tasks.
const mostCount = 1 << 20

// expand gives tasks their names and the places of those before them.
func expand(tasks []Task) (specs []node.Spec, err error) {
	places := map[string][]int{} // of all tasks of a name, with or without number
	for k := range tasks {
		t := &tasks[k]
		if t.Count < 0 || t.Count > mostCount {
			return nil, fmt.Errorf("task %s: count is %d; must be from 0 to %d", t.Name, t.Count, mostCount)
		}
		base := cmp.Or(t.Name, fmt.Sprintf("task%d", k+1))
		for i := range t.Count {
			s := t.spec()
			if s.Name = base; t.Count > 1 {
				s.Name = fmt.Sprintf("%s-%d", base, i+1)
				places[base] = append(places[base], len(specs))
			}
			s.Kind, s.Flow = cmp.Or(s.Kind, base), cmp.Or(s.Flow, base)
			places[s.Name] = append(places[s.Name], len(specs))
			specs = append(specs, s)
		}
	}
	return specs, order(tasks, specs, places)
}

// order fills in the places of the tasks before each one.
func order(tasks []Task, specs []node.Spec, places map[string][]int) error {
	var faults []error
	at := 0
	for k := range tasks {
		var after []int
		for _, name := range tasks[k].After {
			if after = append(after, places[name]...); len(places[name]) == 0 {
				faults = append(faults, fmt.Errorf("task %s: it comes after %q, which is no task; known are %.200s",
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

// ExpandedTasks returns the tasks of the file in the order of the specs, with the names of these.
func (f *File) ExpandedTasks() (all []Task) {
	for _, t := range f.Task {
		for range t.Count {
			t.Name = f.specs[len(all)].Name
			all = append(all, t)
		}
	}
	return all
}
