package schedulers

import (
	"cmp"
	"slices"

	"graft/cluster/elastic"
)

// ordered gives jobs pairs of a worker and a server, as many as allowed, in the order of a key,
// then of arrival and ID.
type ordered struct {
	key  func(j *elastic.Job) float64
	jobs []*elastic.Job // in order; kept for its memory
	keys map[*elastic.Job]float64
}

func newOrdered(key func(j *elastic.Job) float64) *ordered {
	return &ordered{key: key, keys: map[*elastic.Job]float64{}}
}

// Schedule implements [elastic.Scheduler]. A job that gets less than it could does not hold up
// those behind it: the next slot starts from none, so what they get delays nobody.
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
