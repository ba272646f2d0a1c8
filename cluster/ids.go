package cluster

import (
	"hash/maphash"

	"graft/cluster/trace"
)

// ids finds jobs of the same id, in a table of places and nothing else: a map of a million
// texts would need more memory and time than their simulation.
type ids struct {
	jobs  []trace.Job
	seed  maphash.Seed
	table []int32 // a job's place plus one; zero is nothing
}

func newIDs(jobs []trace.Job) *ids {
	size := 1
	for size < 2*len(jobs) {
		size *= 2
	}
	return &ids{jobs, maphash.MakeSeed(), make([]int32, size)}
}

// isNew takes a job in, unless another has its id. Jobs without one are all different.
func (d *ids) isNew(k int) bool {
	id := d.jobs[k].ID
	if id == "" {
		return true
	}
	mask := uint64(len(d.table) - 1)
	for at := maphash.String(d.seed, id) & mask; ; at = (at + 1) & mask {
		switch other := d.table[at]; {
		case other == 0:
			d.table[at] = int32(k + 1)
			return true
		case d.jobs[other-1].ID == id:
			return false
		}
	}
}
