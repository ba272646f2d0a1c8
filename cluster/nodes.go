package cluster

import "math/bits"

// Nodes are the nodes of a pool, in their order, with the devices that are free. Nodes with as
// many free devices are kept together, so that a place is found without a look at each.
type Nodes struct {
	list  []*node
	named []*node       // by name, those whose names are numbers of the first nodes
	other map[int]*node // by name, all others
	free  int           // wholly free devices
	each  int           // devices of a node
	with  [][]uint64    // with[f] has a bit for each node with f free devices
	some  []uint64      // a bit for each node with free devices
	count []int         // count[f] is the number of nodes with f free devices

	single, several int     // nodes with one job, and with more
	parted          []*node // nodes with a device of which jobs have parts
	room            int64   // thousandths that are left of such devices

	limits []int64 // of other resources on a node; empty counts none
	wants  []int64 // what the job at hand wants of them beside each device
	share  int     // thousandths of a device that it wants; zero is all of it
}

type node struct {
	name  int
	at    int      // in the order of nodes
	free  uint64   // a bit for each wholly free device
	jobs  int      // that run on it
	used  []int64  // of other resources
	parts []uint16 // thousandths that are taken of each device in parts; nil has none
}

func newNodes(count, each int, limits []int64) *Nodes {
	n := &Nodes{each: each, limits: limits, named: make([]*node, count), other: map[int]*node{}}
	memory, used := make([]node, count), make([]int64, count*len(limits))
	for k := range memory {
		memory[k] = node{name: k, free: n.all(), used: used[k*len(limits) : (k+1)*len(limits)]}
		n.list, n.named[k] = append(n.list, &memory[k]), &memory[k]
	}
	n.index()
	return n
}

// all has a bit for each device of a node.
func (n *Nodes) all() uint64 { return uint64(1)<<n.each - 1 }

// Names returns the number of nodes at the beginning, which have the names below it.
func (n *Nodes) Names() int { return len(n.named) }

func (n *Nodes) find(name int) *node {
	if uint(name) < uint(len(n.named)) {
		return n.named[name]
	}
	return n.other[name]
}

// name gives a name to a node; nil takes the name away.
func (n *Nodes) name(name int, nd *node) {
	switch {
	case uint(name) < uint(len(n.named)):
		n.named[name] = nd
	case nd == nil:
		delete(n.other, name)
	default:
		n.other[name] = nd
	}
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

// Free returns the number of wholly free devices.
func (n *Nodes) Free() int { return n.free }

// Each returns the number of devices of a node.
func (n *Nodes) Each() int { return n.each }

// With returns the number of nodes with so many free devices.
func (n *Nodes) With(free int) int { return n.count[free] }

// First returns the first node at or behind a place with so many free devices; -1 if there is
// none.
func (n *Nodes) First(free, from int) int { return firstBit(n.with[free], from) }

// roomy is First for nodes on which the job at hand can have some devices.
func (n *Nodes) roomy(free, gpus, from int) int {
	at := n.First(free, from)
	for at >= 0 && n.Room(at) < gpus {
		at = n.First(free, at+1)
	}
	return at
}

// fullest returns the node with the fewest free devices that has room for all of the job at hand;
// -1 if there is none.
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

// FirstFree returns the first node at or behind a place that has free devices; -1 if there is
// none.
func (n *Nodes) FirstFree(from int) int { return firstBit(n.some, from) }

// FreeOf returns the number of free devices of the node at a place.
func (n *Nodes) FreeOf(at int) int { return bits.OnesCount64(n.list[at].free) }

// Room returns the number of devices that the job at hand can have of the node at a place: those
// that are free and have enough of the other resources beside them.
func (n *Nodes) Room(at int) int {
	room := n.FreeOf(at)
	for k, wanted := range n.wants {
		if wanted > 0 {
			room = min(room, int((n.limits[k]-n.list[at].used[k])/wanted))
		}
	}
	return room
}

func (n *Nodes) at(j *Job) *Nodes {
	if n.wants, n.share = nil, 0; j.beside != nil {
		n.wants, n.share = j.beside.wants, j.beside.share
	}
	return n
}

// Share returns so many free devices of the node at a place, the first ones.
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
		nd := n.find(s.Node)
		n.leave(nd)
		nd.free &^= s.GPUs
		n.enter(nd)
		n.load(nd, s, 1)
		if n.share > 0 {
			n.part(nd, bits.TrailingZeros64(s.GPUs), n.share)
		}
	}
}

func (n *Nodes) release(shares []Share) {
	for _, s := range shares {
		nd := n.find(s.Node)
		n.load(nd, s, -1)
		if n.share > 0 && !n.part(nd, bits.TrailingZeros64(s.GPUs), -n.share) {
			continue // others have parts of the device
		}
		n.leave(nd)
		nd.free |= s.GPUs
		n.enter(nd)
	}
}

// join counts the job at hand, 1 or -1 times, on devices that another one has.
func (n *Nodes) join(shares []Share, jobs int) {
	for _, s := range shares {
		n.load(n.find(s.Node), s, jobs)
	}
}

// load counts the job at hand, 1 or -1 times, on a node.
func (n *Nodes) load(nd *node, s Share, jobs int) {
	n.tally(nd, -1)
	nd.jobs += jobs
	n.tally(nd, 1)
	for k, wanted := range n.wants {
		nd.used[k] += int64(jobs*bits.OnesCount64(s.GPUs)) * wanted
	}
}

// tally counts a node among those with one job or several.
func (n *Nodes) tally(nd *node, by int) {
	switch {
	case nd.jobs == 1:
		n.single += by
	case nd.jobs > 1:
		n.several += by
	}
}

// canJoin reports whether the nodes of a job have the other resources for the job at hand as
// well.
func (n *Nodes) canJoin(shares []Share) bool {
	for _, s := range shares {
		if !Fits(n.find(s.Node).used, n.wants, n.limits, int64(bits.OnesCount64(s.GPUs))) {
			return false
		}
	}
	return true
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
