package cluster

import "math/bits"

// Nodes are the nodes of a pool, in their order, with the devices that are free. Nodes with as
// many free devices are kept together, so that a place is found without a look at each.
type Nodes struct {
	list   []*node
	byName map[int]*node
	free   int        // devices in all
	each   int        // devices of a node
	with   [][]uint64 // with[f] has a bit for each node with f free devices
	some   []uint64   // a bit for each node with free devices
	count  []int      // count[f] is how many nodes have f free devices

	cpus   int // processors of a node; zero does not count them
	wanted int // processors for each device of the job at hand
}

// node is a machine.
type node struct {
	name int
	at   int    // in the order of nodes
	free uint64 // a bit for each free device
	jobs int    // that run on it
	cpus int    // processors that are taken
}

func newNodes(count, each int) *Nodes {
	n := &Nodes{each: each, byName: map[int]*node{}}
	for k := range count {
		nd := &node{name: k, free: uint64(1)<<each - 1}
		n.list = append(n.list, nd)
		n.byName[k] = nd
	}
	n.index()
	return n
}

// index makes the index anew, after nodes came or went.
func (n *Nodes) index() {
	words := (len(n.list) + 63) / 64
	n.with, n.count = make([][]uint64, n.each+1), make([]int, n.each+1)
	for f := range n.with {
		n.with[f] = make([]uint64, words)
	}
	n.some = make([]uint64, words)
	n.free = 0
	for k, nd := range n.list {
		nd.at = k
		n.enter(nd)
	}
}

func (n *Nodes) enter(nd *node) {
	f := bits.OnesCount64(nd.free)
	n.with[f][nd.at/64] |= 1 << (nd.at % 64)
	n.count[f]++
	n.free += f
	if f > 0 {
		n.some[nd.at/64] |= 1 << (nd.at % 64)
	}
}

func (n *Nodes) leave(nd *node) {
	f := bits.OnesCount64(nd.free)
	n.with[f][nd.at/64] &^= 1 << (nd.at % 64)
	n.count[f]--
	n.free -= f
	n.some[nd.at/64] &^= 1 << (nd.at % 64)
}

// Free is how many devices are free.
func (n *Nodes) Free() int { return n.free }

// Each is how many devices a node has.
func (n *Nodes) Each() int { return n.each }

// With is how many nodes have that many free devices.
func (n *Nodes) With(free int) int { return n.count[free] }

// First is the first node at or behind a place that has that many free devices; -1 is none.
func (n *Nodes) First(free, from int) int { return firstBit(n.with[free], from) }

// roomy is the first node at or behind a place with that many free devices that has room for
// some of the job at hand; -1 is none.
func (n *Nodes) roomy(free, gpus, from int) int {
	at := n.First(free, from)
	for at >= 0 && n.Room(at) < gpus {
		at = n.First(free, at+1)
	}
	return at
}

// fullest is the node with the fewest free devices that has room for all of the job at hand;
// -1 is none.
func (n *Nodes) fullest(gpus int) int {
	for f := gpus; f <= n.each; f++ {
		if n.count[f] == 0 {
			continue
		}
		if at := n.roomy(f, gpus, 0); at >= 0 {
			return at
		}
	}
	return -1
}

// FirstFree is the first node at or behind a place that has free devices; -1 is none.
func (n *Nodes) FirstFree(from int) int { return firstBit(n.some, from) }

// FreeOf is how many devices of the node at a place are free.
func (n *Nodes) FreeOf(at int) int { return bits.OnesCount64(n.list[at].free) }

// Room is how many devices of the node at a place the job at hand can have: those that are
// free, and have enough processors beside them.
func (n *Nodes) Room(at int) int {
	free := n.FreeOf(at)
	if n.cpus == 0 || n.wanted == 0 {
		return free
	}
	return min(free, (n.cpus-n.list[at].cpus)/n.wanted)
}

// at says which job is at hand.
func (n *Nodes) at(j *Job) *Nodes {
	n.wanted = j.cpus
	return n
}

// canJoin reports whether the nodes of a job have processors for the job at hand as well.
func (n *Nodes) canJoin(shares []Share) bool {
	for _, s := range shares {
		if n.cpus > 0 && n.byName[s.Node].cpus+n.wanted*bits.OnesCount64(s.GPUs) > n.cpus {
			return false
		}
	}
	return true
}

// Share is that many free devices of the node at a place, the first ones.
func (n *Nodes) Share(at, gpus int) Share {
	nd := n.list[at]
	left, taken := nd.free, uint64(0)
	for range gpus {
		low := left & -left
		taken |= low
		left &^= low
	}
	return Share{Node: nd.name, GPUs: taken}
}

func (n *Nodes) take(shares []Share) {
	for _, s := range shares {
		nd := n.byName[s.Node]
		n.leave(nd)
		nd.free &^= s.GPUs
		nd.jobs++
		nd.cpus += n.wanted * bits.OnesCount64(s.GPUs)
		n.enter(nd)
	}
}

func (n *Nodes) release(shares []Share) {
	for _, s := range shares {
		nd := n.byName[s.Node]
		n.leave(nd)
		nd.free |= s.GPUs
		nd.jobs--
		nd.cpus -= n.wanted * bits.OnesCount64(s.GPUs)
		n.enter(nd)
	}
}

// join counts the job at hand, more or less, on devices that another has taken.
func (n *Nodes) join(shares []Share, jobs int) {
	for _, s := range shares {
		nd := n.byName[s.Node]
		nd.jobs += jobs
		nd.cpus += jobs * n.wanted * bits.OnesCount64(s.GPUs)
	}
}

func firstBit(words []uint64, from int) int {
	w := from / 64
	if w >= len(words) {
		return -1
	}
	word := words[w] >> (from % 64) << (from % 64)
	for word == 0 {
		if w++; w == len(words) {
			return -1
		}
		word = words[w]
	}
	return w*64 + bits.TrailingZeros64(word)
}
