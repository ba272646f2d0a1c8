package schedulers

import (
	"cmp"
	"math"
	"slices"

	"graft/cluster/elastic"
	"graft/internal/events"
)

// frontier minimises the sum of remaining times over the counts of all jobs, assuming divisible resources. For each
// type it makes the epoch time convex in the dominant cluster share: it uses only the numbers of tasks on the lower
// hull. It then takes steps along the hulls by time saved per share, which solves a separable convex allocation
// (Ibaraki and Katoh, "Resource Allocation Problems", 1988, chapter 4). Unlike Optimus, it does not stop if a single
// further task saves nothing.
type frontier struct {
	hulls   map[*elastic.JobType][]point
	queue   events.Heap[*plan]
	used    elastic.Resources
	placing *ordered
}

// point holds numbers of tasks, their cost, and the time of an epoch with them.
type point struct {
	workers, servers int
	demand           elastic.Resources
	share            float64 // dominant share of the cluster
	slots            float64 // per epoch
}

// plan is the target point of a job; zero means none.
type plan struct {
	job   *elastic.Job
	hull  []point
	steps int // number of points of the hull already passed
}

func newFrontier(w *elastic.World) elastic.Scheduler {
	return &frontier{hulls: map[*elastic.JobType][]point{}, placing: newOrdered(newPeaks(w).left)}
}

// Schedule implements [elastic.Scheduler]. It places jobs in order of remaining time, shortest first, so that the
// shortest jobs get their tasks if the nodes cannot hold the tasks of all jobs.
func (f *frontier) Schedule(w *elastic.World) {
	targets := f.decide(w)
	f.placing.sort(w.Jobs())
	for _, j := range f.placing.jobs {
		target := targets[j]
		if target.workers > 0 && w.Add(j, elastic.Bundle) {
			grow(w, j, target.workers, target.servers)
		}
	}
}

// decide chooses numbers of tasks that fit into the cluster's total resources.
func (f *frontier) decide(w *elastic.World) map[*elastic.Job]point {
	targets := map[*elastic.Job]point{}
	f.queue.Clear()
	f.used = elastic.Resources{}
	for _, j := range w.Jobs() {
		f.push(&plan{job: j, hull: f.hull(w, j.Model)}, math.Inf(1))
	}
	for _, p, ok := f.queue.Pop(); ok; _, p, ok = f.queue.Pop() {
		next := p.hull[p.steps]
		used := f.used.Plus(next.demand).Plus(targets[p.job].demand.Times(-1))
		if !used.Within(w.Total()) {
			continue
		}
		f.used, targets[p.job] = used, next
		if p.steps++; p.steps < len(p.hull) {
			further := p.hull[p.steps]
			f.push(p, p.job.EpochsLeft()*(next.slots-further.slots)/(further.share-next.share))
		}
	}
	return targets
}

// push queues the next step of a plan by saved slots per share. The first steps of all jobs come first, shortest job
// first.
func (f *frontier) push(p *plan, gain float64) {
	if len(p.hull) == 0 {
		return // no numbers of tasks have a positive speed
	}
	left := p.job.EpochsLeft() * p.hull[len(p.hull)-1].slots
	f.queue.Push(events.Key{events.Float(-gain), events.Float(left), int64(p.job.ID)}, p)
}

func (f *frontier) hull(w *elastic.World, t *elastic.JobType) []point {
	hull, known := f.hulls[t]
	if !known {
		hull = lowerHull(points(w, t))
		f.hulls[t] = hull
	}
	return hull
}

// points returns all numbers of tasks with positive speed, sorted by share and time.
func points(w *elastic.World, t *elastic.JobType) (list []point) {
	for workers, servers := range w.Counts() {
		epochs := w.Limit(t, workers, servers)
		if epochs <= 0 {
			continue
		}
		demand := t.Worker.Times(workers).Plus(t.Server.Times(servers))
		list = append(list, point{workers, servers, demand, demand.DominantShare(w.Total()), 1 / epochs})
	}
	slices.SortStableFunc(list, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.slots, b.slots))
	})
	return list
}

// lowerHull returns the part of the lower convex hull along which time falls. Points must be sorted by share (Andrew,
// "Another efficient algorithm for convex hulls in two dimensions", 1979).
func lowerHull(list []point) (hull []point) {
	for _, p := range list {
		if n := len(hull); n > 0 && (p.slots >= hull[n-1].slots || p.share == hull[n-1].share) {
			continue // it costs no less and saves nothing
		}
		for len(hull) > 1 && slope(hull[len(hull)-2], hull[len(hull)-1]) >= slope(hull[len(hull)-2], p) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	return hull
}

// slope is negative if time falls.
func slope(a, b point) float64 { return (b.slots - a.slots) / (b.share - a.share) }
