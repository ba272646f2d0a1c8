package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"graft/cluster/node"
	"graft/cluster/trace"
	"graft/config/decode"
	"graft/internal/files"
	"graft/internal/validate"
)

// NodeTask is a task of the file.
type NodeTask struct {
	Name    string   // unique; empty means task and its place
	Command []string // program and arguments of a real task, which no shell reads; empty can be simulated only
	Kind    string   // row in tables of measured pairs; empty means the name
	Flow    string   // user or queue that fair queueing gives a share; empty means a flow of its own
	Cores   float64  // share of a GPU's cores that the task keeps busy alone, percent; zero means 100
	Memory  float64  `config:"memory_mb"` // of a GPU, MiB; zero means none
	// run time alone on a GPU, for simulations and schedulers; zero means unknown, which real tasks may be
	Duration time.Duration
	Estimate time.Duration // of the duration, for schedulers; zero means the duration
	Arrival  time.Duration // since the beginning; zero is at once
	Priority int           // larger ones first
	Weight   float64       // of its flow in fair queueing; zero means 1
	Tickets  int           // in lotteries and stride scheduling; zero means 1
	After    []string      // names of the tasks that must complete before
	Count    int           // equal tasks with numbers after the name; zero means 1

	Folder  string        // working folder of a real task; empty means that of the command
	Env     []string      // further variables of a real task, such as SEED=1
	Timeout time.Duration // running time after which a real task is ended; zero means none
	Retries int           // times that a real task which failed is run again; zero means none
	// MainMemory bounds the main memory of a real task, MiB, where its processes have a cgroup; zero means no limit.
	MainMemory float64 `config:"main_memory_mb"`
	// Checkpoint says that a real task saves its state when it gets SIGTERM, and goes on when it is run again, as
	// 'graft train --resume' does. False pauses it by signals only.
	Checkpoint bool
}

// EnsureDefaults fills in what zero stands for, but for the name.
func (t *NodeTask) EnsureDefaults() {
	t.Cores, t.Weight, t.Tickets, t.Count = cmp.Or(t.Cores, 100), cmp.Or(t.Weight, 1), cmp.Or(t.Tickets, 1),
		cmp.Or(t.Count, 1)
}

// spec is the task for schedulers.
func (t *NodeTask) spec() node.Spec {
	return node.Spec{Name: t.Name, Kind: t.Kind, Flow: t.Flow, Cores: t.Cores, Memory: t.Memory, Work: t.Duration,
		Estimate: t.Estimate, Arrival: t.Arrival, Priority: t.Priority, Weight: t.Weight, Tickets: t.Tickets}
}

// mostCount bounds equal tasks.
const mostCount = 1 << 20

// readTasks makes the tasks of the file or of a trace, and reports whether all is right.
func (n *Node) readTasks(fsys files.FS, r *decode.Reading) bool {
	if len(n.Task) > 0 && n.Tasks.From != "" {
		r.Blame("tasks.from", "from is set beside [[task]]; leave out one of them")
		return false
	}
	var err error
	key := "task"
	switch {
	case len(n.Task) > 0:
		n.specs, err = expand(n.Task)
	case n.Tasks.From != "":
		key = "tasks.from"
		if n.specs, err = n.traceTasks(fsys); err != nil {
			err = r.Elsewhere(key, err)
		}
	default:
		return true
	}
	if err == nil {
		s := n.study(n.specs)
		s.EnsureDefaults()
		err = s.Validate()
	}
	if err != nil {
		r.Blame(key, err.Error())
	}
	return err == nil
}

// expand gives tasks their names and the places of those before them.
func expand(tasks []NodeTask) (specs []node.Spec, err error) {
	places := map[string][]int{} // of all tasks of a name, with or without number
	var faults validate.Faults
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
	return specs, errors.Join(faults...)
}

// ExpandedTasks returns the tasks of the file in the order of the specs, with the names of these.
func (n *Node) ExpandedTasks() (all []NodeTask) {
	for _, t := range n.Task {
		for range t.Count {
			t.Name = n.specs[len(all)].Name
			all = append(all, t)
		}
	}
	return all
}

// traceTasks makes tasks of the jobs of a trace that ran on one GPU or a part of one.
func (n *Node) traceTasks(fsys files.FS) ([]node.Spec, error) {
	t, err := trace.ReadAll(fsys, n.Tasks.From, trace.Options{})
	if err != nil {
		return nil, err
	}
	random := seeded(n.Tasks.Seed, traceStream)
	types := node.UsualTypes()
	var specs []node.Spec
	for _, j := range t.Jobs {
		if j.GPUs == 1 && j.Duration > 0 {
			specs = append(specs, traceTask(&j, types, n.Machine.memory(), random))
		}
	}
	if len(specs) == 0 {
		return nil, fmt.Errorf("%s has no job with one GPU; name another trace", n.Tasks.From)
	}
	slices.SortStableFunc(specs, func(a, b node.Spec) int { return cmp.Compare(a.Arrival, b.Arrival) })
	first := specs[0].Arrival
	for k := range specs {
		specs[k].Arrival -= first
		specs[k].Name = fmt.Sprintf("%s-%d", cmp.Or(specs[k].Name, "job"), k+1)
	}
	return specs, nil
}

// traceTask takes what the trace has of a job, and draws the rest.
func traceTask(j *trace.Job, types []node.TaskType, memory float64, random *rand.Rand) node.Spec {
	t := types[random.IntN(len(types))]
	in := func(r [2]int) float64 { return float64(r[0] + random.IntN(r[1]-r[0]+1)) }
	s := node.Spec{Name: j.ID, Kind: cmp.Or(j.Model, t.Name), Flow: j.User, Cores: in(t.Cores),
		Memory: in(t.Memory) / 100 * memory, Work: time.Duration(j.Duration) * time.Second,
		Arrival: time.Duration(j.Submit) * time.Second}
	if j.GPUUtil > 0 {
		s.Cores = min(100, j.GPUUtil)
	}
	if j.Share > 0 {
		s.Cores = float64(j.Share) / 10
	}
	if j.Memory > 0 {
		s.Memory = min(memory, j.Memory)
	}
	return s
}

// memory is that of the smallest GPU, MiB.
func (o *MachineOptions) memory() float64 {
	if len(o.Memories) > 0 {
		return slices.Min(o.Memories)
	}
	return o.Memory
}
