package tasks

import "slices"

// Result is the result of an episode of an [Env] so far.
type Result struct {
	Makespan int         // steps, one more than the last end
	Reward   float64     // sum over steps, not discounted
	Tasks    int         // tasks in the episode
	Placed   int         // tasks that got a GPU
	Lost     []int       // IDs of tasks that did not fit and never run, in the order of the queue
	Waited   int         // sum, over steps, of all waiting counters; lost tasks count to the end
	Schedule []Placement // ended tasks in order of their ends, then running ones
	Usage    [][]int     // compute usage in percent, of each GPU after each step
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
