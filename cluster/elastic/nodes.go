package elastic

import (
	"graft/cluster"
	"graft/internal/events"
)

// nodes are equal nodes with their used resources. The queue orders nodes by load: fewest used slots over all kinds
// first, then lowest ID.
type nodes struct {
	capacity Resources
	used     []Resources
	sum      Resources // sum over used
	queue    events.Heap[int]
	handles  []events.Handle
	refused  []Resources // demands that no node had room for since the last clear
}

func newNodes(count int, capacity Resources) *nodes {
	n := &nodes{capacity: capacity, used: make([]Resources, count), handles: make([]events.Handle, count)}
	n.clear()
	return n
}

// clear removes all tasks.
func (n *nodes) clear() {
	clear(n.used)
	n.sum = Resources{}
	n.queue.Clear()
	n.refused = n.refused[:0]
	for id := range n.used {
		n.handles[id] = n.queue.Push(events.Key{0, int64(id)}, id)
	}
}

// least returns the least loaded node.
func (n *nodes) least() int {
	_, id, _ := n.queue.Head()
	return id
}

func (n *nodes) fits(id int, demand Resources) bool {
	return cluster.Fits(n.used[id][:], demand[:], n.capacity[:], 1)
}

// room returns the least loaded node with room for a demand.
func (n *nodes) room(demand Resources) (id int, ok bool) {
	if id := n.least(); n.fits(id, demand) {
		return id, true
	}
	for _, refused := range n.refused { // nodes only fill up until the next clear
		if refused.Within(demand) {
			return 0, false
		}
	}
	best := -1
	for id := range n.used {
		if n.fits(id, demand) && (best < 0 || n.used[id].Sum() < n.used[best].Sum()) {
			best = id
		}
	}
	if best < 0 {
		n.refused = append(n.refused, demand)
		return 0, false
	}
	return best, true
}

// take reserves resources of a node, if they suffice.
func (n *nodes) take(id int, demand Resources) bool {
	if !n.fits(id, demand) {
		return false
	}
	n.used[id], n.sum = n.used[id].Plus(demand), n.sum.Plus(demand)
	n.queue.Move(n.handles[id], events.Key{int64(n.used[id].Sum()), int64(id)})
	return true
}
