package world

import (
	"fmt"
	"slices"

	"graft/cluster/node"
	"graft/cluster/node/agent"
	"graft/internal/words"
)

// Warnings lists probable mistakes in a valid file, one sentence each.
func (f *File) Warnings() []string {
	list := f.unusedTasks()
	if f.clipped > 0 {
		list = append(list, fmt.Sprintf("In %s, %s requested more GPU memory than the machine's GPUs have; this "+
			"memory counts as %g MiB.", f.trace(), words.Plural(f.clipped, "task"), f.Machine.largest()))
	}
	pairs, measured := f.speed.(node.Pairs)
	if !measured || len(f.specs) == 0 {
		return list // kinds and cores of generated tasks are drawn
	}
	if why := f.unused(pairs); why != "" {
		list = append(list, "machine.profiles has no effect: "+why+".")
	}
	return list
}

// unusedTasks names the keys of generated tasks that are set and do not apply to the tasks of the file.
func (f *File) unusedTasks() (list []string) {
	unused := func(key string, isSet bool, remedy string) {
		if isSet {
			list = append(list, "tasks."+key+" has no effect on these tasks; "+remedy+".")
		}
	}
	usual := Tasks{}
	usual.EnsureDefaults()
	switch {
	case len(f.Task) > 0:
		unused("estimate_error", f.Tasks.EstimateError > 0, "set the key estimate of each task")
		unused("arrival_interval", f.Tasks.Interval > 0, "set the key arrival of each task")
		unused("unit", f.Tasks.Unit != usual.Unit, "set the key duration of each task")
	case f.trace() != "":
		unused("arrival_interval", f.Tasks.Interval > 0, "they arrive as in the trace")
		unused("unit", f.Tasks.Unit != usual.Unit, "they last as long as in the trace")
	}
	return list
}

// allCores is the capacity of a GPU's cores in percent.
const allCores = 100.0

// unused returns the reason why measured pairs slow no task down, with a remedy; empty if they can.
func (f *File) unused(pairs node.Pairs) string {
	if f.Machine.Together == 1 {
		return "machine.max_tasks_per_gpu is 1; raise it, or remove machine.profiles"
	}
	limit, remedy := allCores, ", or compare a learned scheduler with machine.cores = \"shared\""
	if learned := func(s Scheduler) bool { return s.IsLearned() }; f.Machine.Cores == coresShared &&
		slices.ContainsFunc(f.baselines, learned) {
		limit, remedy = agent.MostCores, ""
	}
	least, known := leastCores(f.specs), false
	for pair := range pairs.Measured {
		a, b := least[pair[0]], least[pair[1]]
		second := 0 // position of the second task in b
		if pair[0] == pair[1] {
			second = 1
		}
		if len(a) == 0 || len(b) <= second {
			continue
		}
		if known = true; a[0]+b[second] <= limit {
			return ""
		}
	}
	if !known {
		return f.Machine.Profiles + " has no pair of the tasks' kinds; set the key \"kind\" of the tasks, or name " +
			"another file"
	}
	return fmt.Sprintf("each measured pair of tasks requests more than %g%% of a GPU's cores, and no scheduler of the "+
		"file starts such tasks together; lower the key \"cores\" of the tasks%s", limit, remedy)
}

// leastCores returns the two smallest requests for cores of each kind of tasks, in ascending order.
func leastCores(specs []node.Spec) map[string][]float64 {
	least := map[string][]float64{}
	for k := range specs {
		kind := specs[k].Kind
		list := append(least[kind], specs[k].Cores)
		slices.Sort(list)
		least[kind] = list[:min(2, len(list))]
	}
	return least
}
