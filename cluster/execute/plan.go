package execute

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"graft/cluster/node"
)

// Placement is the predicted first start of a task.
type Placement struct {
	Task    int           // position of the job
	Name    string        // name of the task
	Device  int           // position of the device
	At      time.Duration // predicted start of the task
	Until   time.Duration // predicted end of the task
	Starts  int           // predicted number of starts, including starts after stops
	Program string        // path of the program
	Command []string      // arguments, including the program's name
	Folder  string        // working directory; empty means the working directory of this process
	// environment variables of the task, in addition to the variables of this process; if a name occurs twice, the last
	// value counts
	Env []string
}

// unknownWork is the run time of tasks without an estimate in a plan.
const unknownWork = time.Minute

// Plan simulates the jobs with their estimated run times. A job without an estimate is assumed to take one minute. Plan
// returns the placements that Run would make, in order of start times. It starts no process and writes no file. Run
// reacts to actual events, so it may place tasks on other devices.
func Plan(ctx context.Context, o Options, jobs []Job, folder string) ([]Placement, *node.Result, error) {
	o, jobs, err := prepare(o, jobs)
	if err != nil {
		return nil, nil, err
	}
	study := o.study(jobs)
	for k := range study.Tasks {
		t := &study.Tasks[k]
		t.Work = cmp.Or(t.Estimate, unknownWork)
		t.Estimate = t.Work
	}
	result, err := study.Run(ctx, o.Kind, o.Scheduling)
	if err != nil {
		return nil, nil, fmt.Errorf("plan tasks: %w", err)
	}
	first := make([]int, len(jobs))
	for k, s := range slices.Backward(result.Spans) {
		if f := first[s.Task]; f == 0 || result.Spans[f-1].From >= s.From {
			first[s.Task] = k + 1
		}
	}
	var list []Placement
	for k := range jobs {
		j, outcome := &jobs[k], result.Tasks[k]
		p := Placement{Task: k, Name: j.Name, Device: outcome.Device, At: outcome.Began, Until: outcome.Ended,
			Starts: outcome.Starts, Command: j.Command, Folder: j.Folder}
		if f := first[k]; f > 0 {
			p.Device = result.Spans[f-1].Device
		}
		p.Program, _ = j.program() // it was found before
		p.Env = o.environment(j, p.Device, 1, folder)
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b Placement) int { return cmp.Compare(a.At, b.At) })
	return list, result, nil
}
