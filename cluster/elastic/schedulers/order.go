package schedulers

import (
	"cmp"
	"slices"

	"graft/cluster/elastic"
)

// ordered gives jobs the maximum number of worker-server pairs, in the order of a key, then of arrival and ID.
type ordered struct {
	key  func(j *elastic.Job) float64
	jobs []*elastic.Job // in order; reused to save allocations
	keys map[*elastic.Job]float64
}

func newOrdered(key func(j *elastic.Job) float64) *ordered {
	return &ordered{key: key, keys: map[*elastic.Job]float64{}}
}

// Schedule implements [elastic.Scheduler]. A job that gets less than its maximum does not block later jobs. Every slot
// starts without tasks, so a later job that starts now cannot delay an earlier one in the next slot.
func (o *ordered) Schedule(w *elastic.World) {
	o.sort(w.Jobs())
	for _, j := range o.jobs {
		for w.AddPair(j) {
		}
		if w.Keeps(elastic.FirstNode) && w.Allowed(j, elastic.Bundle) {
			return
		}
	}
}

func (o *ordered) sort(jobs []*elastic.Job) {
	o.jobs = append(o.jobs[:0], jobs...)
	clear(o.keys)
	for _, j := range jobs {
		o.keys[j] = o.key(j)
	}
	slices.SortFunc(o.jobs, func(a, b *elastic.Job) int {
		return cmp.Or(cmp.Compare(o.keys[a], o.keys[b]), cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
}
