package cluster

import "slices"

// Outcome is the result of a simulation.
type Outcome struct {
	Policy    string         // by which it was scheduled
	Placement string         // how places were chosen
	Quirks    Quirks         // that were kept
	Begin     int64          // second at which it began
	Given     int            // jobs that the study has
	Jobs      []*Job         // that were simulated, in the order of submission
	Refused   []Refusal      // jobs that were not, in that order too
	Pools     []PoolOutcome  // in the order of the virtual clusters
	Changes   []Change       // of the job that was followed, or of all, in order of time
	Counts    map[string]int // what the policy counted of the whole run; nil is nothing
	Events    int64          // arrivals and ends
	Asked     int64          // how often schedulers were asked
}

// Refusal is a job that was not simulated.
type Refusal struct {
	ID  string // of the job
	Why string // it was not
}

// PoolOutcome is the result of a pool.
type PoolOutcome struct {
	Name   string  // of the virtual cluster
	Nodes  int     // that it had
	Jobs   []*Job  // that were simulated, in the order of arrival
	Last   int64   // second up to which it was simulated
	Used   float64 // device-seconds with a job
	All    float64 // device-seconds in all
	Usage  []Usage // over time, a row for each change, if it was asked for
	Events int64   // arrivals and ends
	Asked  int64   // how often its scheduler was asked
}

func (pr *PoolRun) close(e *engine) {
	p := e.pool
	if e.each != nil {
		e.each()
	}
	pr.done = PoolOutcome{Name: pr.Name, Nodes: pr.Nodes, Jobs: pr.Jobs, Last: p.Now(),
		Used: p.busy.taken, All: p.busy.all, Usage: pr.usage, Events: e.handled, Asked: e.asked}
}

func (r *Run) outcome(refused []Refusal) *Outcome {
	o := &Outcome{Policy: r.policy.Name, Placement: r.Placement, Begin: r.Begin, Given: len(r.Study.Jobs),
		Quirks: r.Quirks, Refused: refused, Counts: r.Counts}
	o.Jobs = slices.DeleteFunc(r.Jobs, func(j *Job) bool { return j.run == refusedRun })
	for _, pr := range r.Pools {
		o.Pools = append(o.Pools, pr.done)
		o.Changes = append(o.Changes, pr.followed...)
		o.Events += pr.done.Events
		o.Asked += pr.done.Asked
	}
	slices.SortStableFunc(o.Changes, func(a, b Change) int { return int(a.At - b.At) })
	return o
}

// Completion returns the seconds from a job's submission to its end.
func (j *Job) Completion() int64 { return j.End - j.Trace.Submit }
