package execute

import "graft/cluster/node"

// Result is the outcome of jobs under a scheduler.
type Result struct {
	// result in the form of a simulation, with times since the beginning; Work is estimated
	node.Result
	Jobs        []JobResult // state of each job, in the order of the jobs
	Retries     int         // number of failures after which a job was retried
	Confinement string      // confinement of tasks, as described in Account.Confinement
}

// result returns the outcome so far.
func (x *executor) result() *Result {
	r := &Result{Jobs: x.account.Jobs, Confinement: x.account.Confinement}
	r.Scheduler, r.Spans = x.o.Kind.Name, x.account.Spans
	busy := 0.0
	for k := range r.Jobs {
		j, t := &r.Jobs[k], x.m.All[k]
		r.Tasks = append(r.Tasks, node.Outcome{
			Name: t.Name, Device: j.Device, Arrival: t.Arrival, Began: j.Began, Ended: j.Ended, Run: j.Ran,
			Starts: j.Starts, Joules: j.Joules, Failed: j.Over() && j.End != Done,
		})
		busy += j.Ran.Seconds() * t.Cores / 100
	}
	r.Summary = node.Summarize(r.Tasks, x.m.All)
	r.Summary.Stops = 0 // a task also restarts after a failure or an interruption
	for k := range r.Jobs {
		j := &r.Jobs[k]
		r.Summary.Joules += j.Joules
		r.Summary.Stops += j.Stops
		r.Retries += j.Retries()
	}
	if r.Summary.Makespan > 0 {
		r.Summary.Busy = busy / r.Summary.Makespan / float64(len(x.m.Devices))
	}
	return r
}
