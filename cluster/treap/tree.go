// Package treap keeps jobs sorted with partial sums, so that a scheduler finds the jobs that fit into a number of
// devices without visiting each job.
package treap

import (
	"math"

	"graft/cluster"
	"graft/internal/events"
)

// Key is the sort key of a job in a tree. Keys are unique.
type Key = events.Key

// Tree is a treap (Aragon and Seidel, Randomized search trees, FOCS 1989) that sorts jobs by their keys. A hash of a
// job's number is its heap priority, so trees are deterministic. The demands of jobs, and the room for them, are in
// thousandths of a device.
type Tree struct {
	*Arena
	root int32
}

// Arena holds the nodes of several trees. A job is in at most one tree of an arena. The zero value is empty.
type Arena struct {
	places []int32 // by job number: index of the job's node; 0 for jobs in no tree
	nodes  []node  // nodes[0] is unused
	free   []int32 // unused nodes
}

type node struct {
	key         Key
	job         *cluster.Job
	left, right int32
	rank        uint32 // heap priority
	demand      int32  // demand of the job when it was inserted
	least       int32  // minimum demand in the subtree
	runs        int32  // number of running jobs in the subtree, as of insertion
	waits       int32  // number of waiting jobs in the subtree
	running     bool
	sum         int64 // sum of demands in the subtree
}

const nobody = int32(0)

// NewArena returns an arena with memory for a number of jobs. It grows for more. The nodes of jobs that left are used
// again, so that all nodes stay in the processor's caches.
func NewArena(jobs int) *Arena { return &Arena{places: make([]int32, 0, jobs)} }

// Tree returns an empty tree of the arena.
func (a *Arena) Tree() *Tree { return &Tree{a, nobody} }

// place returns an unused node for a job.
func (a *Arena) place(j *cluster.Job) (at int32) {
	for len(a.places) <= int(j.Number) {
		a.places = append(a.places, nobody)
	}
	if len(a.nodes) == 0 {
		a.nodes = append(a.nodes, node{}) // of nobody
	}
	if last := len(a.free) - 1; last >= 0 {
		at, a.free = a.free[last], a.free[:last]
	} else {
		at, a.nodes = int32(len(a.nodes)), append(a.nodes, node{})
	}
	a.places[j.Number] = at
	return at
}

// Empty reports whether the tree has no jobs.
func (o *Tree) Empty() bool { return o.root == nobody }

// Put inserts a job, and records its current demand and whether it is running.
func (o *Tree) Put(j *cluster.Job, k Key) {
	at := o.place(j)
	o.nodes[at] = node{key: k, job: j, rank: hash(uint32(j.Number)), demand: int32(j.Demand()), running: j.Running()}
	o.root = o.with(o.root, at)
}

// with inserts a node into a subtree, above the nodes with a lower priority.
func (o *Tree) with(at, added int32) int32 {
	n, a := &o.nodes[at], &o.nodes[added]
	switch {
	case at == nobody || a.rank > n.rank:
		a.left, a.right = o.split(at, &a.key)
		at = added
	case n.key.Before(&a.key):
		n.right = o.with(n.right, added)
	default:
		n.left = o.with(n.left, added)
	}
	o.update(at)
	return at
}

// Take removes a job, if it is in the tree.
func (o *Tree) Take(j *cluster.Job) {
	if o.has(j) {
		at := o.places[j.Number]
		o.root = o.without(o.root, at)
		o.nodes[at].job, o.places[j.Number], o.free = nil, nobody, append(o.free, at)
	}
}

// KeyOf returns the key of a job. The job must be in a tree of the arena.
func (a *Arena) KeyOf(j *cluster.Job) *Key { return &a.nodes[a.places[j.Number]].key }

func (o *Tree) has(j *cluster.Job) bool {
	return int(j.Number) < len(o.places) && o.places[j.Number] != nobody
}

// hash maps numbers to priorities (the finalizer of MurmurHash3).
func hash(x uint32) uint32 {
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}

// update computes the sums of a node from its children.
func (o *Tree) update(at int32) {
	n := &o.nodes[at]
	n.sum, n.least, n.runs, n.waits = int64(n.demand), n.demand, 0, 1
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

// split divides a subtree at a key: jobs before it, and jobs at or after it.
func (o *Tree) split(at int32, k *Key) (int32, int32) {
	if at == nobody {
		return nobody, nobody
	}
	n := &o.nodes[at]
	if n.key.Before(k) {
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

// merge joins two subtrees; all keys of the first precede the second.
func (o *Tree) merge(left, right int32) int32 {
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

func (o *Tree) without(at, gone int32) int32 {
	n := &o.nodes[at]
	if at == gone {
		return o.merge(n.left, n.right)
	}
	if o.nodes[gone].key.Before(&n.key) {
		n.left = o.without(n.left, gone)
	} else {
		n.right = o.without(n.right, gone)
	}
	o.update(at)
	return at
}

// Fill traverses the tree in order and admits each job that fits into the remaining room. It appends admitted waiting
// jobs to the list start and rejected running jobs to the list stop, both in order. It returns the remaining room. In a
// subtree that fits as a whole, it visits only waiting jobs. In a subtree in which no job fits, it visits only running
// jobs. The cost of Fill is therefore proportional to the number of changes.
func (o *Tree) Fill(room int64, start, stop []*cluster.Job) (int64, []*cluster.Job, []*cluster.Job) {
	f := filling{o.Arena, room, start, stop}
	f.part(o.root)
	return f.room, f.start, f.stop
}

// Drain removes all jobs and returns them as a tree.
func (o *Tree) Drain() Tree {
	all := *o
	o.root = nobody
	return all
}

// Cut removes the jobs before a key and returns them as a tree.
func (o *Tree) Cut(k *Key) Tree {
	front, rest := o.split(o.root, k)
	o.root = rest
	return Tree{o.Arena, front}
}

// Append adds the jobs of another tree of the arena. All keys of these jobs must be greater than the keys of this
// tree.
func (o *Tree) Append(behind Tree) { o.root = o.merge(o.root, behind.root) }

// Next returns the first job that comes after a key and fits into the given room, or nil if no such job exists. A nil
// key means the start of the tree.
func (o *Tree) Next(behind *Key, room int64) *cluster.Job {
	if at := o.nextIn(o.root, behind, int32(min(room, math.MaxInt32))); at != nobody {
		return o.nodes[at].job
	}
	return nil
}

func (o *Tree) nextIn(at int32, behind *Key, room int32) int32 {
	if at == nobody || o.nodes[at].least > room {
		return nobody
	}
	n := &o.nodes[at]
	if behind != nil && !behind.Before(&n.key) {
		return o.nextIn(n.right, behind, room)
	}
	if found := o.nextIn(n.left, behind, room); found != nobody {
		return found
	}
	if n.demand <= room {
		return at
	}
	return o.nextIn(n.right, nil, room)
}

type filling struct {
	*Arena
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
	case int64(n.demand) <= f.room:
		f.room -= int64(n.demand)
		if !n.running {
			f.start = append(f.start, n.job)
		}
	case n.running:
		f.stop = append(f.stop, n.job)
	}
	f.part(n.right)
}

// each appends the running or the waiting jobs of a subtree to a list.
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
		*list = append(*list, n.job)
	}
	f.each(n.right, running, list)
}
