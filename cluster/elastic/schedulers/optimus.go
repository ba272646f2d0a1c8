package schedulers

import (
	"math"

	"graft/cluster/elastic"
	"graft/internal/events"
)

// optimus gives the next worker or server to the job whose remaining time it reduces most per dominant resource cost
// (Peng et al., "Optimus: An Efficient Dynamic Resource Scheduler for Deep Learning Clusters", EuroSys 2018). It takes
// speeds from the speed model; the original system fits them while jobs run.
type optimus struct {
	queue events.Heap[offer]
}

// offer is the best next action of a job.
type offer struct {
	job    *elastic.Job
	action elastic.Action
	gain   float64 // slots saved per dominant share of the action
}

func newOptimus(w *elastic.World) elastic.Scheduler {
	if w.Keeps(elastic.NoCost) {
		return &originalOptimus{}
	}
	return &optimus{}
}

// Schedule implements [elastic.Scheduler]. It offers every job a bundle (a worker and a server) before any job gets
// more tasks.
func (o *optimus) Schedule(w *elastic.World) {
	o.queue.Clear()
	for _, j := range w.Jobs() {
		o.push(offer{j, elastic.Bundle, math.Inf(1)})
	}
	for _, next, ok := o.queue.Pop(); ok; _, next, ok = o.queue.Pop() {
		if !w.Add(next.job, next.action) {
			if w.Keeps(elastic.FirstNode) {
				return
			}
			continue
		}
		o.offer(w, next.job)
	}
}

func (o *optimus) push(next offer) {
	o.queue.Push(events.Key{events.Float(-next.gain), int64(next.job.ID)}, next)
}

// offer queues the better of the next worker and the next server, if one shortens the job.
func (o *optimus) offer(w *elastic.World, j *elastic.Job) {
	now := slots(j, w.Estimate(j, 0, 0))
	best := offer{job: j}
	for _, a := range []elastic.Action{elastic.Worker, elastic.Server} {
		if !w.Allowed(j, a) {
			continue
		}
		saved := now - slots(j, w.Estimate(j, tasks(a, elastic.Worker), tasks(a, elastic.Server)))
		if math.IsNaN(saved) { // the job makes no progress with or without the task
			saved = math.SmallestNonzeroFloat64 // it gets only leftover resources
		}
		if gain := saved / max(w.Demand(j, a).DominantShare(w.Total()), leastShare); gain > best.gain {
			best.action, best.gain = a, gain
		}
	}
	if best.gain > 0 {
		o.push(best)
	}
}

// leastShare replaces the share of a task that needs no resources.
const leastShare = 1e-12

// slots returns the remaining time of a job at a speed; infinity for a job without progress.
func slots(j *elastic.Job, speed float64) float64 {
	if speed <= 0 {
		return math.Inf(1)
	}
	return j.EpochsLeft() / speed
}

// tasks returns the number of tasks of a kind (worker or server) that an action adds.
func tasks(a, kind elastic.Action) int {
	if a == kind {
		return 1
	}
	return 0
}
