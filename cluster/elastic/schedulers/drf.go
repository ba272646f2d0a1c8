package schedulers

import (
	"graft/cluster/elastic"
	"graft/internal/events"
)

// drf is dominant resource fairness (Ghodsi et al., "Dominant Resource Fairness", NSDI 2011). A task is a pair of a
// worker and a server.
type drf struct {
	queue events.Heap[*elastic.Job]
}

func newDRF(*elastic.World) elastic.Scheduler { return &drf{} }

// Schedule implements [elastic.Scheduler].
func (d *drf) Schedule(w *elastic.World) {
	d.queue.Clear()
	for _, j := range w.Jobs() {
		d.push(j, 0)
	}
	for _, j, ok := d.queue.Pop(); ok; _, j, ok = d.queue.Pop() {
		if !w.AddPair(j) {
			if w.Keeps(elastic.FirstNode) {
				return
			}
			continue
		}
		if w.Allowed(j, elastic.Bundle) {
			d.push(j, j.Share)
		}
	}
}

func (d *drf) push(j *elastic.Job, share float64) {
	d.queue.Push(events.Key{events.Float(share), int64(j.Arrival), int64(j.ID)}, j)
}
