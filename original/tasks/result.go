package tasks

import "slices"

// Result holds the result of the current episode of an [Env] so far.
type Result struct {
	Makespan int         // makespan in steps, one more than the end of the last task
	Reward   float64     // sum of the rewards of all steps, not discounted
	Tasks    int         // number of tasks in the episode
	Placed   int         // number of tasks that got a GPU
	Lost     []int       // IDs of tasks that did not fit and never ran, in the order of the queue
	Waited   int         // sum of all waiting counters over all steps; lost tasks wait until the end
	Schedule []Placement // ended tasks in the order of their ends, then running tasks
	Usage    [][]int     // compute usage of each GPU after each step, in percent
}

// Result returns a copy of the result so far.
func (e *Env) Result() Result {
	r := Result{
		Makespan: e.steps, Reward: e.reward, Tasks: len(e.tasks), Placed: len(e.ended) + len(e.running),
		Lost: slices.Clone(e.lost), Waited: e.waited, Schedule: slices.Concat(e.ended, e.running),
	}
	for gpu := range e.o.GPUs {
		line := make([]int, 0, e.steps)
		for at := gpu; at < len(e.history); at += e.o.GPUs {
			line = append(line, e.history[at])
		}
		r.Usage = append(r.Usage, line)
	}
	return r
}
