package cluster

import "math/bits"

// Nodes holds the nodes of a pool, in order, with their free devices. Nodes are indexed by their number of free
// devices, so a placement is found without visiting each node.
type Nodes struct {
	list  []*node
	named []*node       // by name, for the nodes with names below Names()
	other map[int]*node // by name, for all other nodes
	sum   int           // devices of all nodes

	index            // of all nodes
	view  *index     // index of the nodes on which the current job may start
	only  uint64     // types of these nodes, one bit per type; zero means all
	types *nodeKinds // nil if all nodes are alike

	lower   *Nodes         // the same nodes for spot jobs; nil if spot jobs are not evicted
	claimed func(nd *node) // called after a change of a node, if lower is set
	lends   bool           // these are nodes for spot jobs
	away    int            // devices of other jobs that no spot job uses
	both    int            // devices of other jobs that a spot job uses until its notice ends
	lasting int            // devices that only spot jobs use, on nodes out of service

	single, several int     // number of nodes with one job, and with more
	parted          []*node // nodes with a partly used device
	room            int64   // free thousandths of such devices

	lost   int   // free devices of nodes that are out of service
	out    int   // number of nodes out of service
	moves  int   // number of changes of the nodes in service
	drains bool  // a drain is planned
	until  int64 // expected end of the current job, if a drain is planned

	limits []int64 // other resources per node, unless nodes have types; empty if not counted
	wants  []int64 // other resources per device of the current job
	share  int     // thousandths of a device for the current job; zero means a whole device
}

// index finds nodes by their number of free devices.
type index struct {
	free  int        // number of wholly free devices
	with  [][]uint64 // with[f] has a bit for each node with f free devices
	some  []uint64   // one bit per node with free devices
	count []int      // count[f] is the number of nodes with f free devices
	each  int        // devices of each node; of the largest node if nodes of several sizes are indexed
}

type node struct {
	name  int
	at    int      // position in the order of nodes
	all   uint64   // one bit per device
	free  uint64   // one bit per wholly free device
	jobs  int      // number of running jobs
	used  []int64  // used other resources
	parts []uint16 // by device in parts: used thousandths; nil if none exist
	own   uint64   // one bit per device that jobs of this pool use
	lent  uint64   // on nodes for spot jobs: one bit per device that other jobs use
	out   uint8    // reasons why it is out of service
	kind  uint8    // position of its type
	drain int64    // beginning of the next planned drain, if a drain is planned

	ending   int     // running jobs when the node last became a spare node after a drain
	lentUsed []int64 // on nodes for spot jobs: other resources that other jobs use
}

// Reasons why a node is out of service.
const (
	outFailed  uint8 = 1 << iota // it has failed
	outDrained                   // it is drained: running jobs can continue
	outSpare                     // it is in reserve: jobs that outlasted a drain can continue
)

// setOut adds or removes a reason why a node is out of service. Unknown nodes are ignored.
func (n *Nodes) setOut(name int, why uint8, set bool) {
	nd := n.find(name)
	if nd == nil {
		return
	}
	n.moves++
	n.leave(nd)
	was := nd.out
	if nd.out &^= why; set {
		nd.out |= why
	}
	if set && why == outSpare {
		nd.ending = nd.jobs
	}
	switch {
	case was == 0 && nd.out != 0:
		n.out++
	case was != 0 && nd.out == 0:
		n.out--
	}
	n.enter(nd)
}

// open reports whether the current job may start on a node: the node is in service, and the job is expected to end
// before the node is drained.
func (n *Nodes) open(nd *node) bool { return nd.out == 0 && (!n.drains || n.until <= nd.drain) }

func newNodes(count, each int, limits []int64) *Nodes {
	n := &Nodes{index: index{each: each}, limits: limits, named: make([]*node, count), other: map[int]*node{}}
	memory, used := make([]node, count), make([]int64, count*len(limits))
	for k := range memory {
		memory[k] = node{name: k, used: used[k*len(limits) : (k+1)*len(limits)], drain: Never}
		memory[k].resize(each)
		n.list, n.named[k] = append(n.list, &memory[k]), &memory[k]
	}
	n.view = &n.index
	n.reindex()
	return n
}

// resize gives an idle node its devices.
func (nd *node) resize(devices int) {
	nd.all = uint64(1)<<devices - 1
	nd.free = nd.all
}

// Names returns the number of nodes at the start. Nodes have numbers as names: 0 to Names()-1 at the start, and
// possibly larger numbers for nodes that are added later.
func (n *Nodes) Names() int { return len(n.named) }

func (n *Nodes) find(name int) *node {
	if uint(name) < uint(len(n.named)) {
		return n.named[name]
	}
	return n.other[name]
}

// name assigns a name to a node; nil removes the name.
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

// reindex rebuilds the indexes after nodes were added or removed.
func (n *Nodes) reindex() {
	n.moves++
	n.sum, n.lost, n.away, n.both, n.lasting = 0, 0, 0, 0, 0
	n.index.clear(len(n.list), n.each)
	n.types.clear(n)
	for k, nd := range n.list {
		nd.at = k
		n.sum += bits.OnesCount64(nd.all)
		n.enter(nd)
	}
}

func (x *index) clear(nodes, each int) {
	words := (nodes + 63) / 64
	x.with, x.count, x.free, x.each = make([][]uint64, each+1), make([]int, each+1), 0, each
	for f := range x.with {
		x.with[f] = make([]uint64, words)
	}
	x.some = make([]uint64, words)
}

func (n *Nodes) enter(nd *node) {
	f := bits.OnesCount64(nd.free)
	n.lend(nd, 1)
	n.types.count(nd, f, 1)
	if nd.out != 0 {
		n.lost += f
		return
	}
	n.index.enter(nd.at, f)
}

// lend counts (by = 1 or -1) the devices of a node for spot jobs that other jobs use.
func (n *Nodes) lend(nd *node, by int) {
	if n.lends {
		n.away += by * bits.OnesCount64(nd.lent&^nd.own)
		n.both += by * bits.OnesCount64(nd.lent&nd.own)
		if nd.out != 0 {
			n.lasting += by * bits.OnesCount64(nd.own&^nd.lent)
		}
	}
}

func (n *Nodes) leave(nd *node) {
	f := bits.OnesCount64(nd.free)
	n.lend(nd, -1)
	n.types.count(nd, f, -1)
	if nd.out != 0 {
		n.lost -= f
		return
	}
	n.index.leave(nd.at, f)
}

// enter adds the node at a position with f free devices.
func (x *index) enter(at, f int) {
	x.with[f][at/64] |= 1 << (at % 64)
	x.count[f]++
	x.free += f
	if f > 0 {
		x.some[at/64] |= 1 << (at % 64)
	}
}

// leave removes the node at a position with f free devices.
func (x *index) leave(at, f int) {
	x.with[f][at/64] &^= 1 << (at % 64)
	x.count[f]--
	x.free -= f
	x.some[at/64] &^= 1 << (at % 64)
}

// Free returns the number of devices that are completely free.
func (n *Nodes) Free() int { return n.free }

// Each returns the number of devices per node. If nodes have several sizes, it returns the size of the nodes on which
// the job to be placed may start.
func (n *Nodes) Each() int { return n.view.each }

// With returns the number of nodes with the given number of free devices, of the types on which the job to be placed
// may start.
func (n *Nodes) With(free int) int { return n.view.count[free] }

// First returns the position of the first node with exactly the given number of free devices, of the types on which the
// job to be placed may start. The search starts at position from. First returns -1 if there is no such node.
func (n *Nodes) First(free, from int) int { return firstBit(n.view.with[free], from) }

// roomy is First restricted to nodes with room for some devices of the current job.
func (n *Nodes) roomy(free, gpus, from int) int {
	at := n.First(free, from)
	for at >= 0 && n.Room(at) < gpus {
		at = n.First(free, at+1)
	}
	return at
}

// fullest returns the node with the fewest free devices that has room for the whole current job; -1 if none exists.
func (n *Nodes) fullest(gpus int) int {
	for f := gpus; f <= n.view.each; f++ {
		if n.view.count[f] == 0 {
			continue
		}
		if at := n.roomy(f, gpus, 0); at >= 0 {
			return at
		}
	}
	return -1
}

// FirstFree returns the position of the first node with free devices, of the types on which the job to be placed may
// start. The search starts at position from. FirstFree returns -1 if there is no such node.
func (n *Nodes) FirstFree(from int) int { return firstBit(n.view.some, from) }

// FreeOf returns the number of free devices of the node at the given position in the list of nodes.
func (n *Nodes) FreeOf(at int) int { return bits.OnesCount64(n.list[at].free) }

// Room returns the number of free devices that the job to be placed can use on the node at the given position in the
// list of nodes. A shortage of other resources on the node reduces this number.
func (n *Nodes) Room(at int) int {
	room := n.FreeOf(at)
	if n.drains && !n.open(n.list[at]) {
		return 0
	}
	for k, wanted := range n.wants {
		if wanted > 0 {
			room = min(room, int((n.limitsOf(n.list[at])[k]-n.list[at].used[k])/wanted))
		}
	}
	return room
}

func (n *Nodes) at(j *Job) *Nodes {
	n.see(0)
	if n.wants, n.share = nil, 0; j.beside != nil {
		n.wants, n.share = j.beside.wants, j.beside.share
	}
	return n
}

// Share selects free devices of the node at the given position in the list of nodes. The argument gpus is the number of
// devices to select; devices with the lowest numbers are selected first.
func (n *Nodes) Share(at, gpus int) Share {
	nd := n.list[at]
	left, taken := nd.free, uint64(0)
	var used uint64 // by spot jobs, which lose as few devices as possible
	if n.lower != nil {
		used = n.lower.find(nd.name).own
	}
	for range gpus {
		low := left & -left
		if unused := left &^ used; unused != 0 {
			low = unused & -unused
		}
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
		nd.own |= s.GPUs
		n.enter(nd)
		n.load(nd, s, 1)
		if n.share > 0 {
			n.part(nd, bits.TrailingZeros64(s.GPUs), n.share)
		}
	}
	n.changed(shares)
}

// changed informs the nodes for spot jobs of a change.
func (n *Nodes) changed(shares []Share) {
	if n.lower == nil {
		return
	}
	for _, s := range shares {
		n.claimed(n.find(s.Node))
	}
}

func (n *Nodes) release(shares []Share) {
	for _, s := range shares {
		nd := n.find(s.Node)
		n.load(nd, s, -1)
		if n.share > 0 && !n.part(nd, bits.TrailingZeros64(s.GPUs), -n.share) {
			continue // other jobs have parts of the device
		}
		n.leave(nd)
		nd.own &^= s.GPUs
		nd.free |= s.GPUs &^ nd.lent
		n.enter(nd)
	}
	n.changed(shares)
}

// join adds or removes (jobs = 1 or -1) the current job on another job's devices.
func (n *Nodes) join(shares []Share, jobs int) {
	for _, s := range shares {
		n.load(n.find(s.Node), s, jobs)
	}
	n.changed(shares)
}

// load adds or removes (jobs = 1 or -1) the current job on a node.
func (n *Nodes) load(nd *node, s Share, jobs int) {
	n.tally(nd, -1)
	nd.jobs += jobs
	n.tally(nd, 1)
	for k, wanted := range n.wants {
		nd.used[k] += int64(jobs*bits.OnesCount64(s.GPUs)) * wanted
	}
}

// tally counts a node with one job or several.
func (n *Nodes) tally(nd *node, by int) {
	switch {
	case nd.jobs == 1:
		n.single += by
	case nd.jobs > 1:
		n.several += by
	}
}

// canJoin reports whether the nodes of a job have enough other resources for the current job too.
func (n *Nodes) canJoin(shares []Share) bool {
	for _, s := range shares {
		nd := n.find(s.Node)
		if !n.open(nd) || !Fits(nd.used, n.wants, n.limitsOf(nd), int64(bits.OnesCount64(s.GPUs))) {
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
