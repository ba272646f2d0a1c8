package cluster

import (
	"fmt"
	"math/bits"
)

// nodeKinds counts the nodes of a pool by type, and finds free devices of sets of types.
type nodeKinds struct {
	per  []kindCount // by type
	sets []kindSet
	gone []uint8 // types of removed nodes that were not added again
}

type kindCount struct {
	size       int     // devices per node
	limits     []int64 // other resources per node
	nodes      int
	free, lost int   // wholly free devices of nodes in service and out of service
	room       int64 // free thousandths of partly used devices
	away       int   // for spot jobs: devices of other jobs that no spot job uses
}

// kindSet is the index of the nodes of a set of types, which have equal numbers of devices.
type kindSet struct {
	types uint64 // one bit per type
	index
}

// divide gives the nodes their types, in order, and their devices.
func (n *Nodes) divide(counts []int, r *Run) {
	t := &nodeKinds{per: make([]kindCount, len(counts))}
	n.each = r.largest()
	for k := range counts {
		t.per[k].size, t.per[k].limits = r.sizeOf(k), r.limits(k)
		t.sets = append(t.sets, kindSet{types: 1 << k})
	}
	for _, set := range r.typed.sets {
		if bits.OnesCount64(set) < len(counts) {
			t.sets = append(t.sets, kindSet{types: set})
		}
	}
	at := 0
	for k, count := range counts {
		for range min(count, len(n.list)-at) {
			n.list[at].kind = uint8(k)
			n.list[at].resize(t.per[k].size)
			at++
		}
	}
	n.types = t
	n.reindex()
}

func (t *nodeKinds) clear(n *Nodes) {
	if t == nil {
		return
	}
	for k := range t.per {
		t.per[k] = kindCount{size: t.per[k].size, limits: t.per[k].limits, room: t.per[k].room}
	}
	for k := range t.sets {
		t.sets[k].clear(len(n.list), t.per[bits.TrailingZeros64(t.sets[k].types)].size)
	}
	for _, nd := range n.list {
		t.per[nd.kind].nodes++
	}
}

// count adds or removes (by = 1 or -1) a node with f free devices.
func (t *nodeKinds) count(nd *node, f, by int) {
	if t == nil {
		return
	}
	t.per[nd.kind].away += by * bits.OnesCount64(nd.lent&^nd.own)
	if nd.out != 0 {
		t.per[nd.kind].lost += by * f
		return
	}
	t.per[nd.kind].free += by * f
	for k := range t.sets {
		switch set := &t.sets[k]; {
		case set.types>>nd.kind&1 == 0:
		case by > 0:
			set.enter(nd.at, f)
		default:
			set.leave(nd.at, f)
		}
	}
}

// part adds free thousandths of a partly used device.
func (t *nodeKinds) part(nd *node, room int64) {
	if t != nil {
		t.per[nd.kind].room += room
	}
}

// removed remembers the type of a node that leaves the pool.
func (t *nodeKinds) removed(nd *node) {
	if t != nil {
		t.gone = append(t.gone, nd.kind)
	}
}

// added returns the type of a node that joins the pool.
func (t *nodeKinds) added() (kind uint8) {
	if t != nil && len(t.gone) > 0 {
		kind, t.gone = t.gone[len(t.gone)-1], t.gone[:len(t.gone)-1]
	}
	return kind
}

// sizeOf returns the number of devices of a node of a type.
func (n *Nodes) sizeOf(kind uint8) int {
	if n.types == nil {
		return n.each
	}
	return n.types.per[kind].size
}

// limitsOf returns the other resources of a node.
func (n *Nodes) limitsOf(nd *node) []int64 {
	if n.types == nil {
		return n.limits
	}
	return n.types.per[nd.kind].limits
}

// see restricts the current job to a set of types. Zero means all types.
func (n *Nodes) see(types uint64) {
	n.view, n.only = &n.index, types
	if n.types == nil || types == 0 {
		return
	}
	for k := range n.types.sets {
		if n.types.sets[k].types == types {
			n.view = &n.types.sets[k].index
		}
	}
}

// sees reports whether a node has a type to which the current job is restricted.
func (n *Nodes) sees(nd *node) bool { return n.only == 0 || n.only>>nd.kind&1 == 1 }

// typeOf returns the type of a job's nodes, from one; zero without types.
func (n *Nodes) typeOf(shares []Share) uint8 {
	if n.types == nil || len(shares) == 0 {
		return 0
	}
	return n.find(shares[0].Node).kind + 1
}

// mixes reports whether the nodes of a job have different types.
func (n *Nodes) mixes(shares []Share) bool {
	for _, s := range shares[min(1, len(shares)):] {
		if n.find(s.Node).kind != n.find(shares[0].Node).kind {
			return true
		}
	}
	return false
}

// findTyped looks for devices of one type for a job, on its fastest types first. Types on which it is equally fast,
// with nodes of equal size, count as one type unless the job would mix them.
func (p *Pool) findTyped(j *Job, gpus int) (shares []Share, ok bool) {
	defer p.nodes.see(0)
	for _, set := range j.types().sets {
		p.nodes.see(set.types)
		if shares, ok = p.among(j, gpus, set.rate); !ok {
			continue
		}
		if !p.nodes.mixes(shares) {
			return shares, true
		}
		for left := set.types; left != 0; left &= left - 1 {
			p.nodes.see(left & -left)
			if shares, ok = p.among(j, gpus, set.rate); ok {
				return shares, true
			}
		}
	}
	return nil, false
}

// Types returns the number of types of nodes; zero if all nodes are alike.
func (p *Pool) Types() int {
	if p.nodes.types == nil {
		return 0
	}
	return len(p.nodes.types.per)
}

// GPUsOf returns the number of devices of a type, numbered from zero, as [Pool.GPUs] counts them.
func (p *Pool) GPUsOf(kind int) int {
	t := &p.nodes.types.per[kind]
	return t.nodes*t.size - t.lost - t.away
}

// RoomOf returns the free capacity of the devices of a type, numbered from zero, in thousandths of a device.
func (p *Pool) RoomOf(kind int) int64 {
	t := &p.nodes.types.per[kind]
	return int64(t.free)*Whole + t.room
}

// TypeFor returns the type, numbered from zero, on which a waiting job would start now. It returns false if the job has
// no placement.
func (p *Pool) TypeFor(j *Job) (kind int, ok bool) {
	shares, ok := p.find(j, j.GPUs)
	return int(p.nodes.typeOf(shares)) - 1, ok
}

// onType notes the type of a job's nodes.
func (p *Pool) onType(j *Job) {
	if j.running.on = p.nodes.typeOf(j.Nodes); p.lastTypes != nil {
		p.lastTypes[j.Index] = j.running.on
	}
}

// Type returns the type, numbered from zero, of the nodes on which a job runs; -1 if it does not run or nodes have no
// types.
func (j *Job) Type() int {
	if j.running == nil {
		return -1
	}
	return int(j.running.on) - 1
}

// Accepts reports whether a job can run on a type, numbered from zero.
func (j *Job) Accepts(kind int) bool { return j.types().accepts(uint8(kind + 1)) }

// RateOn returns the speed of a job on a type, numbered from zero, relative to the type on which it ran in the trace.
func (j *Job) RateOn(kind int) float64 { return j.types().rate(uint8(kind + 1)) }

// checkType checks that a job runs on nodes of one type that it accepts.
func (p *Pool) checkType(j *Job) error {
	on := p.nodes.typeOf(j.Nodes)
	if p.nodes.mixes(j.Nodes) || on != j.running.on || !j.types().accepts(on) {
		return fmt.Errorf("job %s runs on nodes of several types, or of type %d, which it does not accept",
			j.Trace.ID, on)
	}
	return nil
}

// checkTypes compares the counts and indexes of types with the nodes.
func (n *Nodes) checkTypes() error {
	if n.types == nil {
		return nil
	}
	free := make([]int, len(n.types.per))
	for _, nd := range n.list {
		if nd.out == 0 {
			free[nd.kind] += bits.OnesCount64(nd.free)
		}
	}
	for k, f := range free {
		if f != n.types.per[k].free {
			return fmt.Errorf("type %d has %d free devices, but the counter is %d", k, f, n.types.per[k].free)
		}
	}
	for _, set := range n.types.sets {
		sum := 0
		for k, f := range free {
			sum += int(set.types>>k&1) * f
		}
		if sum != set.free {
			return fmt.Errorf("types %b have %d free devices, but the index has %d", set.types, sum, set.free)
		}
	}
	return nil
}
