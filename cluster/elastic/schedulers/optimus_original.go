package schedulers

import (
	"math"

	"graft/cluster/elastic"
	"graft/internal/events"
)

// originalOptimus decides like the Optimus of DL2's simulator. The gain of a task is the time that it saves, regardless
// of its cost. A job without tasks first gets a worker and then a server, lowest ID first. A job that exceeded its
// estimate takes tasks that slow it down.
type originalOptimus struct {
	queue events.Heap[offer]
}

// Schedule implements [elastic.Scheduler].
func (o *originalOptimus) Schedule(w *elastic.World) {
	o.queue.Clear()
	for _, j := range w.Jobs() {
		o.offer(w, j)
	}
	for _, next, ok := o.queue.Pop(); ok; _, next, ok = o.queue.Pop() {
		if next.gain <= 0 {
			return
		}
		if !w.Allowed(next.job, next.action) {
			continue
		}
		if w.Add(next.job, next.action) {
			o.offer(w, next.job)
		} else if w.Keeps(elastic.FirstNode) {
			return
		}
	}
}

func (o *originalOptimus) offer(w *elastic.World, j *elastic.Job) {
	action, gain := o.best(w, j)
	o.queue.Push(events.Key{events.Float(-gain), int64(j.ID)}, offer{j, action, gain})
}

// firstTask is the gain of a job's first worker and first server.
const firstTask = math.MaxInt32

func (o *originalOptimus) best(w *elastic.World, j *elastic.Job) (action elastic.Action, gain float64) {
	switch {
	case len(j.Workers) == 0:
		return elastic.Worker, firstTask
	case len(j.Servers) == 0 && !w.AllReduce():
		return elastic.Server, firstTask
	}
	left := j.Epochs - j.Progress
	now := left / w.Estimate(j, 0, 0)
	worker := now - left/w.Estimate(j, 1, 0)
	if w.AllReduce() {
		return elastic.Worker, worker
	}
	if server := now - left/w.Estimate(j, 0, 1); server >= worker {
		return elastic.Server, server
	}
	return elastic.Worker, worker
}
