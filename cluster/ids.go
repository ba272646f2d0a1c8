package cluster

import (
	"hash/maphash"

	"graft/cluster/trace"
)

// ids finds jobs with equal ids, using only a table of indexes: a map of a million texts would need more memory and
// time than their simulation.
type ids struct {
	jobs  []trace.Job
	seed  maphash.Seed
	table []uint64 // half of an id's hash, and the job's index plus one; zero if empty
}

func newIDs(jobs []trace.Job) *ids {
	size := 1
	for size < 2*len(jobs) {
		size *= 2
	}
	return &ids{jobs, maphash.MakeSeed(), make([]uint64, size)}
}

// isNew adds a job, unless another has its id. Jobs without ids all differ.
func (d *ids) isNew(k int) bool {
	id := d.jobs[k].ID
	if id == "" {
		return true
	}
	const half = 1<<32 - 1
	hash, mask := maphash.String(d.seed, id), uint64(len(d.table)-1)
	for at := hash & mask; ; at = (at + 1) & mask {
		switch other := d.table[at]; {
		case other == 0:
			d.table[at] = hash&^half | uint64(k+1)
			return true
		case other&^half == hash&^half && d.jobs[other&half-1].ID == id:
			return false
		}
	}
}
