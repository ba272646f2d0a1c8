package node

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"graft/internal/validate"
)

// Spec describes a task.
type Spec struct {
	Name string // unique name; empty means "task" and the task's position
	Kind string // row in tables of interference, which tasks may share; may be empty
	// user or queue whose tasks share one weight under fair schedulers; empty gives the task its own flow
	Flow string
	// percentage of a GPU's cores that the task keeps busy when it runs alone, above 0 and at most 100
	Cores    float64
	Memory   float64       // GPU memory in MiB
	Work     time.Duration // run time alone on a GPU of speed 1
	Estimate time.Duration // estimated Work that schedulers use; zero means Work
	Arrival  time.Duration // time of arrival since the beginning
	Priority int           // scheduling priority; tasks with larger values run first
	Weight   float64       // weight of the task's flow under fair schedulers; zero means 1
	Tickets  int           // number of tickets in lottery and stride scheduling; zero means 1
	After    []int         // positions of the tasks that must complete first
}

// Largest values of a task.
const (
	maxTasks  = 1 << 20
	maxTime   = 100 * 365 * 24 * time.Hour
	maxMemory = 1 << 30 // MiB
	maxWeight = 1e9
)

// EnsureDefaults replaces zero values with defaults. The default name contains the task's position in the list of
// tasks.
func (s *Spec) EnsureDefaults(place int) {
	s.Name = cmp.Or(s.Name, fmt.Sprintf("task%d", place))
	s.Flow = cmp.Or(s.Flow, s.Name)
	s.Estimate = cmp.Or(s.Estimate, s.Work)
	s.Weight, s.Tickets = cmp.Or(s.Weight, 1), cmp.Or(s.Tickets, 1)
}

// Validate returns an error that lists every invalid value.
func (s *Spec) Validate() error {
	var faults validate.Faults
	faults.Unless(s.Cores > 0 && s.Cores <= whole, "cores is %v; expected more than 0 and at most 100 percent of a GPU",
		s.Cores)
	faults.Unless(s.Memory >= 0 && s.Memory <= maxMemory, "memory is %v; expected at least 0 and at most %d MiB",
		s.Memory, maxMemory)
	for _, t := range []struct {
		name  string
		value time.Duration
	}{{"work", s.Work}, {"estimate", s.Estimate}, {"arrival", s.Arrival}} {
		faults.Unless(t.value >= 0 && t.value <= maxTime, "%s is %v; expected at least 0s and at most %v", t.name,
			t.value, maxTime)
	}
	faults.Unless(s.Weight > 0 && s.Weight <= maxWeight && !math.IsNaN(s.Weight),
		"weight is %v; expected a positive number of at most %g", s.Weight, maxWeight)
	faults.Unless(s.Tickets > 0 && s.Tickets <= math.MaxInt32, "tickets is %v; expected a positive number of at most "+
		"%d", s.Tickets, math.MaxInt32)
	return errors.Join(faults.Prefixed("task " + s.Name + ": ")...)
}

// whole is the capacity of a GPU's cores, percent.
const whole = 100.0

// cycle returns the positions of tasks in a dependency cycle, in order; nil if none exists.
func cycle(specs []Spec) []int {
	const new, open, done = 0, 1, 2
	state := make([]int, len(specs))
	var path []int
	var visit func(k int) []int
	visit = func(k int) []int {
		state[k], path = open, append(path, k)
		for _, before := range specs[k].After {
			switch state[before] {
			case open:
				for path[0] != before {
					path = path[1:]
				}
				return path
			case new:
				if found := visit(before); found != nil {
					return found
				}
			}
		}
		state[k], path = done, path[:len(path)-1]
		return nil
	}
	for k := range specs {
		if state[k] == new {
			if found := visit(k); found != nil {
				return found
			}
		}
	}
	return nil
}
