package schedulers

import (
	"math"

	"graft/cluster"
)

// rooms holds the thousandths of devices that a preemptive scheduler has not given to a job, in total and by type of
// nodes. The type of a job is known if it runs, or if it accepts only one type. Other jobs count only in the total.
type rooms struct {
	total int64
	of    []int64
}

// anyRoom is larger than the demand of any job.
const anyRoom = math.MaxInt32

func roomsOf(p *cluster.Pool) *rooms {
	r := &rooms{total: int64(p.GPUs()) * cluster.Whole}
	for k := range p.Types() {
		r.of = append(r.of, int64(p.GPUsOf(k))*cluster.Whole)
	}
	return r
}

// admit gives a job its devices if there is room for it. It appends an admitted waiting job to the list start, and a
// running job without room to the list stop.
func (r *rooms) admit(j *cluster.Job, start, stop []*cluster.Job) (started, stopped []*cluster.Job) {
	kind := r.kindOf(j)
	fits := j.Demand() <= r.total && (kind < 0 || j.Demand() <= r.of[kind])
	if fits {
		r.total -= j.Demand()
		if kind >= 0 {
			r.of[kind] -= j.Demand()
		}
	}
	switch {
	case fits && !j.Running():
		start = append(start, j)
	case !fits && j.Running():
		stop = append(stop, j)
	}
	return start, stop
}

// kindOf returns the type of a job's nodes, or -1 if several are possible.
func (r *rooms) kindOf(j *cluster.Job) int {
	if j.Running() {
		return j.Type()
	}
	kind := -1
	for k := range r.of {
		switch {
		case !j.Accepts(k):
		case kind >= 0:
			return -1
		default:
			kind = k
		}
	}
	return kind
}
