package schedulers

import (
	"graft/cluster"
	"graft/events"
)

// order is jobs by keys, with sums over parts of it, so that those which
// fit into a number of devices are found without a look at each. It is a treap (Aragon and
// Seidel, Randomized search trees, FOCS 1989); jobs are known by their numbers, and their
// priorities in the heap's sense are a hash of them, so that nothing is left to chance.
type order struct {
	*shelf
	root int32
}

// shelf is where jobs of several orders stand, each in one of them at a time.
type shelf struct {
	jobs  []*cluster.Job // by number
	nodes []orderNode    // by number
}

// key is the place of a job in an order: by its first number, then by the next. No two jobs
// have the same.
type key [3]int64

func (k *key) before(other *key) bool { return (*events.Key)(k).Before((*events.Key)(other)) }

type orderNode struct {
	key         key
	left, right int32
	rank        uint32 // in the heap's sense
	gpus        int32  // of the job, as it was entered
	least       int32  // devices of the smallest job below
	runs        int32  // jobs below that run, as they were entered
	waits       int32  // jobs below that wait
	in          bool
	running     bool
	sum         int64 // devices of all jobs below
}

const nobody = int32(-1)

func (s *shelf) order() *order { return &order{s, nobody} }

// put enters a job as it is now.
func (o *order) put(j *cluster.Job, k key) {
	for len(o.nodes) <= j.Number {
		o.nodes = append(o.nodes, orderNode{})
		o.jobs = append(o.jobs, nil)
	}
	at := int32(j.Number)
	o.jobs[at] = j
	o.nodes[at] = orderNode{key: k, left: nobody, right: nobody, rank: hash(uint32(at)), gpus: int32(j.GPUs), in: true, running: j.Running()}
	o.update(at)
	left, right := o.split(o.root, &k)
	o.root = o.merge(o.merge(left, at), right)
}

// take takes a job out.
func (o *order) take(j *cluster.Job) {
	if o.has(j) {
		o.root = o.without(o.root, int32(j.Number))
		o.nodes[j.Number].in = false
		o.jobs[j.Number] = nil
	}
}

// keyOf is the place of a job.
func (s *shelf) keyOf(j *cluster.Job) *key { return &s.nodes[j.Number].key }

// has reports whether a job is in the order.
func (o *order) has(j *cluster.Job) bool { return j.Number < len(o.nodes) && o.nodes[j.Number].in }

// hash spreads numbers over all ranks (the finalizer of MurmurHash3).
func hash(x uint32) uint32 {
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}

// update computes the sums of a node from those below.
func (o *order) update(at int32) {
	n := &o.nodes[at]
	n.sum, n.least, n.runs, n.waits = int64(n.gpus), n.gpus, 0, 1
	if n.running {
		n.runs, n.waits = 1, 0
	}
	for _, below := range [2]int32{n.left, n.right} {
		if below == nobody {
			continue
		}
		b := &o.nodes[below]
		n.sum += b.sum
		n.runs += b.runs
		n.waits += b.waits
		n.least = min(n.least, b.least)
	}
}

// split divides a part at a place: what comes before it and what comes behind.
func (o *order) split(at int32, k *key) (int32, int32) {
	if at == nobody {
		return nobody, nobody
	}
	n := &o.nodes[at]
	if n.key.before(k) {
		left, right := o.split(n.right, k)
		n.right = left
		o.update(at)
		return at, right
	}
	left, right := o.split(n.left, k)
	n.left = right
	o.update(at)
	return left, at
}

// merge joins two parts, of which the first comes before the second.
func (o *order) merge(left, right int32) int32 {
	switch {
	case left == nobody:
		return right
	case right == nobody:
		return left
	case o.nodes[left].rank > o.nodes[right].rank:
		o.nodes[left].right = o.merge(o.nodes[left].right, right)
		o.update(left)
		return left
	}
	o.nodes[right].left = o.merge(left, o.nodes[right].left)
	o.update(right)
	return right
}

func (o *order) without(at, gone int32) int32 {
	n := &o.nodes[at]
	if at == gone {
		return o.merge(n.left, n.right)
	}
	if o.nodes[gone].key.before(&n.key) {
		n.left = o.without(n.left, gone)
	} else {
		n.right = o.without(n.right, gone)
	}
	o.update(at)
	return at
}

// fill goes through the order and lets each job in that fits into what is left of room. It
// adds those that wait and are let in to start, those that run and are not to stop, both in
// order. A part that fits as a whole is looked at only for jobs that wait, one in which no
// job fits only for jobs that run, so the cost is that of the changes.
func (o *order) fill(room int, start, stop []*cluster.Job) (int, []*cluster.Job, []*cluster.Job) {
	return o.fillPart(o.root, room, start, stop)
}

// fillPart is fill for a part.
func (o *order) fillPart(at int32, room int, start, stop []*cluster.Job) (int, []*cluster.Job, []*cluster.Job) {
	f := filling{o.shelf, int64(room), start, stop}
	f.part(at)
	return int(f.room), f.start, f.stop
}

// next is the first job behind a place, or of all, that has no more devices than room; nil
// is none.
func (o *order) next(behind *key, room int) *cluster.Job {
	if at := o.nextIn(o.root, behind, int32(room)); at != nobody {
		return o.jobs[at]
	}
	return nil
}

func (o *order) nextIn(at int32, behind *key, room int32) int32 {
	if at == nobody || o.nodes[at].least > room {
		return nobody
	}
	n := &o.nodes[at]
	if behind != nil && !behind.before(&n.key) {
		return o.nextIn(n.right, behind, room)
	}
	if found := o.nextIn(n.left, behind, room); found != nobody {
		return found
	}
	if n.gpus <= room {
		return at
	}
	return o.nextIn(n.right, nil, room)
}

type filling struct {
	*shelf
	room        int64
	start, stop []*cluster.Job
}

func (f *filling) part(at int32) {
	if at == nobody {
		return
	}
	n := &f.nodes[at]
	switch {
	case n.sum <= f.room:
		f.room -= n.sum
		if n.waits > 0 {
			f.each(at, false, &f.start)
		}
		return
	case int64(n.least) > f.room:
		if n.runs > 0 {
			f.each(at, true, &f.stop)
		}
		return
	}
	f.part(n.left)
	switch {
	case int64(n.gpus) <= f.room:
		f.room -= int64(n.gpus)
		if !n.running {
			f.start = append(f.start, f.jobs[at])
		}
	case n.running:
		f.stop = append(f.stop, f.jobs[at])
	}
	f.part(n.right)
}

// each adds the jobs of a part that run, or that wait, to a list.
func (f *filling) each(at int32, running bool, list *[]*cluster.Job) {
	if at == nobody {
		return
	}
	n := &f.nodes[at]
	if running && n.runs == 0 || !running && n.waits == 0 {
		return
	}
	f.each(n.left, running, list)
	if n.running == running {
		*list = append(*list, f.jobs[at])
	}
	f.each(n.right, running, list)
}
