package fabric

import "math"

// rates sums the work of running jobs per second.
type rates struct {
	servers, channels                          float64
	memory, dep, flow, demandMemory, demandDep float64 // bytes per second
	compute, wire, busy                        float64 // shares of a job's time, summed over jobs
}

func (r *rates) add(o *rates, sign float64) {
	r.servers += sign * o.servers
	r.channels += sign * o.channels
	r.memory += sign * o.memory
	r.dep += sign * o.dep
	r.flow += sign * o.flow
	r.demandMemory += sign * o.demandMemory
	r.demandDep += sign * o.demandDep
	r.compute += sign * o.compute
	r.wire += sign * o.wire
	r.busy += sign * o.busy
}

// rates returns the work of a job per second.
func (w *World) rates(job *Job) rates {
	run := job.Run
	whole := &w.study.Models[job.Model].Details
	return rates{
		servers: float64(len(run.Placed.Servers)), channels: float64(run.Placed.Lanes),
		memory: run.Parted.Details.Memory / job.Time, dep: run.Parted.Details.Transfer / job.Time,
		flow: run.Placed.Flow / job.Time, demandMemory: whole.Memory / job.Time, demandDep: whole.Transfer / job.Time,
		compute: run.Compute / job.Time, wire: run.Wire / job.Time, busy: run.Busy,
	}
}

// change adds a job to the sum, or removes it. Sums are recomputed after as many changes as jobs run, so that rounding
// errors do not grow.
func (w *World) change(r rates, sign float64) {
	w.sum.add(&r, sign)
	if w.changes++; w.changes <= w.running {
		return
	}
	w.changes, w.sum = 0, rates{}
	for w.first < w.arrived && w.Jobs[w.first].Status != Running && w.Jobs[w.first].Status != Queued {
		w.first++
	}
	for k := w.first; k < w.arrived; k++ {
		if w.Jobs[k].Status == Running {
			w.sum.add(&w.Jobs[k].Run.rates, 1)
		}
	}
}

// Event describes an event in an episode, and the period from the previous event to this event.
type Event struct {
	From, To float64 // start and end of the period in seconds
	Jobs     int     // number of running jobs
	Servers  float64 // number of servers that running jobs hold
	Channels float64
	// Memory is a sum over the running jobs, in bytes: for each job, the memory of its operations multiplied by the
	// fraction of the job that is done in this period.
	Memory float64
	// Dep is a sum over the running jobs, in bytes: for each job, the size of its transfers multiplied by the fraction
	// of the job that is done in this period.
	Dep float64
	// Flow is a sum over the running jobs, in bytes: for each job, the size of its transfers between servers multiplied
	// by the fraction of the job that is done in this period.
	Flow         float64
	DemandMemory float64 // value of Memory for the jobs before they were split
	DemandDep    float64
	Compute      float64 // fraction of a job's time in which a server computes, averaged over jobs
	Wire         float64 // fraction of a job's time in which a transfer runs, averaged over jobs
	Busy         float64 // fraction of a job's servers that compute, averaged over jobs
	ClusterBusy  float64 // Busy multiplied by the fraction of servers that jobs hold
	Arrived      int     // number of jobs that arrive at the end of the period
	Completed    int
	// number of jobs blocked at the start of the period, including arrivals at a full queue
	Blocked int
	Waiting int // number of jobs in the queue at the end of the period
}

// Record holds the totals of an episode over all its periods.
type Record struct {
	Completed int
	Blocked   int
	Events    int
	// totals over all periods; From is the start of the first period, and To is the end of the last period
	Sum  Event
	Load float64 // sum over arrivals of the job's bytes per second until the next arrival
}

// begin records the running jobs until the next event.
func (w *World) begin(tick float64) {
	e, s := &w.event, &w.sum
	e.From, e.To, e.Jobs, e.Servers, e.Channels = w.Now, w.Now+tick, w.running, s.servers, s.channels
	if w.running == 0 {
		return
	}
	jobs := float64(w.running)
	e.Memory, e.Dep, e.Flow = s.memory*tick, s.dep*tick, s.flow*tick
	e.DemandMemory, e.DemandDep = s.demandMemory*tick, s.demandDep*tick
	e.Compute, e.Wire, e.Busy = s.compute/jobs, s.wire/jobs, s.busy/jobs
	e.ClusterBusy = s.servers / float64(len(w.owner)) * e.Busy
}

// end adds an event to the record.
func (w *World) end() {
	if w.waiting >= 0 {
		w.event.Waiting = 1
	}
	w.Record.add(&w.event)
	if w.Each != nil {
		w.Each(&w.event)
	}
	w.event = Event{}
}

func (r *Record) add(e *Event) {
	s := &r.Sum
	if r.Events == 0 {
		s.From = e.From
	}
	r.Events++
	s.To = e.To
	s.Jobs += e.Jobs
	s.Servers += e.Servers
	s.Channels += e.Channels
	s.Memory += e.Memory
	s.Dep += e.Dep
	s.Flow += e.Flow
	s.DemandMemory += e.DemandMemory
	s.DemandDep += e.DemandDep
	s.Compute += e.Compute
	s.Wire += e.Wire
	s.Busy += e.Busy
	s.ClusterBusy += e.ClusterBusy
	s.Arrived += e.Arrived
	s.Completed += e.Completed
	s.Blocked += e.Blocked
}

// load records the demand of an arrival until the next one.
func (w *World) load(job *Job) {
	next := w.next()
	if w.arrived == len(w.Jobs) && w.study.Options.More {
		next = w.study.Options.Next
	}
	if until := next - w.Now; !math.IsInf(until, 1) && until > 0 {
		d := &w.study.Models[job.Model].Details
		w.Record.Load += (d.Memory + d.Transfer) / until
	}
}
