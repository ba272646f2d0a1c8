package cluster

import "slices"

// Outcome is the result of a simulation.
type Outcome struct {
	Policy    string         // name of the policy
	Placement string         // name of the placement rule
	Quirks    Quirks         // quirks that were kept
	Begin     int64          // first simulated second
	Given     int            // number of jobs of the study
	Jobs      []*Job         // simulated jobs, in order of submission
	Refused   []Refusal      // refused jobs, in order of submission
	Pools     []PoolOutcome  // outcomes in the order of the virtual clusters
	Reserved  []PoolOutcome  // use of nodes that belong to no pool, such as the nodes of a profiler
	Changes   []Change       // changes of the followed jobs, or of all jobs, in order of time
	Counts    map[string]int // counts that the policy reports for the whole run; may be nil
	Events    int64          // number of arrivals and ends
	Asked     int64          // number of scheduler calls
	Failing   bool           // nodes can fail
	Limited   bool           // jobs end at their time limits
	Evicting  bool           // spot jobs can be evicted
	Types     []NodeType     // types of the nodes; nil if all nodes are alike
	last      []uint8        // type of the last nodes of each job of the study, from one; nil without types
}

// Refusal holds a job that cannot be simulated, and the reason.
type Refusal struct {
	ID  string // ID of the job
	Why string // reason
}

// PoolOutcome is the result of the simulation of one pool.
type PoolOutcome struct {
	Name  string  // name of the virtual cluster
	Nodes int     // number of nodes
	Jobs  []*Job  // simulated jobs, in order of arrival
	Last  int64   // last second that counts, the same for all pools
	Ended int64   // last simulated second: outages are known until then
	Used  float64 // device-seconds in which a device had a job
	All   float64 // device-seconds of all devices
	// device-seconds with a job, and of all devices in service, until Last
	UsedEver, AllEver float64
	InService         int     // number of devices in service in the last second
	Usage             []Usage // usage over time, one row per change; empty unless requested
	Events            int64   // number of arrivals and ends
	Asked             int64   // number of scheduler calls
	Spares            int     // number of spare nodes, in addition to Nodes
	// learner of the pool's jobs; nil if no job adapts
	Learner Learner
	// outages of nodes in order of their beginnings, without outages that repeat after the last second
	Outages []NodeOutage
}

func (pr *PoolRun) close(e *engine) {
	p := e.pool
	if e.each != nil {
		e.each()
	}
	pr.done = PoolOutcome{Name: pr.Name, Nodes: pr.Nodes, Jobs: pr.Jobs, Last: p.Now(), Ended: p.Now(),
		Used: p.busy.taken, All: p.busy.all, UsedEver: p.busy.takenEver, AllEver: p.busy.allEver,
		InService: p.GPUs(), Usage: pr.usage, Events: e.handled, Asked: e.asked, Spares: pr.Spares,
		Learner: p.learner}
	if e.outages != nil {
		e.outages.foresee(e.outages.Pools[pr.Name], p.Now())
		pr.done.Outages = e.outages.records
	}
	if e.spot != nil {
		pr.done.addSpot(e.spot.engine)
	}
}

// extend counts the devices of a pool without jobs until a second; utilization counts them until the horizon.
func (d *PoolOutcome) extend(last, horizon int64) {
	d.All += float64(max(0, min(last, horizon)-d.Last)) * float64(d.InService)
	d.AllEver += float64(max(0, last-d.Last)) * float64(d.InService)
	d.Last = max(d.Last, last)
}

// addSpot adds the spot jobs of a pool, which used devices of the same nodes and had the same outages.
func (d *PoolOutcome) addSpot(e *engine) {
	b := &e.pool.busy
	d.Used, d.UsedEver = d.Used+b.taken, d.UsedEver+b.takenEver
	d.All, d.AllEver = d.All+b.all, d.AllEver+b.allEver
	d.Events += e.handled
	d.Asked += e.asked
	if e.outages != nil {
		for k := range d.Outages {
			d.Outages[k].Jobs += e.outages.records[k].Jobs
		}
	}
}

func (r *Run) outcome(refused []Refusal) *Outcome {
	o := &Outcome{Policy: r.policy.Name, Placement: r.Placement, Begin: r.Begin, Given: len(r.Study.Jobs),
		Quirks: r.Quirks, Refused: refused, Counts: r.Counts, Failing: r.Failures != nil, Types: r.Types,
		Evicting: r.Spot != nil, Limited: r.Limits, Reserved: r.reserved, last: r.typed.last}
	o.Jobs = slices.DeleteFunc(r.Jobs, func(j *Job) bool { return j.Number == refusedNumber })
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
