package cluster

import "slices"

// NodeChange is a planned change of a pool's nodes.
type NodeChange struct {
	At    int64         // second of the change, which is applied after all other events of that second
	Apply func(p *Pool) // change, which calls [Pool.AddNode] and similar methods
}

// AddNode adds an idle node. It returns false if the name is taken. The node has the type of the node that was removed
// last, or the first type.
func (p *Pool) AddNode(name int) bool {
	if p.nodes.find(name) != nil {
		return false
	}
	nd := &node{name: name, used: make([]int64, len(p.nodes.limits)), drain: Never, kind: p.nodes.types.added()}
	nd.resize(p.nodes.sizeOf(nd.kind))
	p.nodes.list = append(p.nodes.list, nd)
	p.nodes.name(name, nd)
	p.nodes.reindex()
	if p.spots != nil {
		below := p.spots.engine.pool
		below.AddNode(name)
		below.nodes.find(name).lentUsed = make([]int64, len(below.nodes.limits))
	}
	return true
}

// HasNode reports whether a node with the given name exists, and whether it is idle.
func (p *Pool) HasNode(name int) (there, idle bool) {
	nd := p.nodes.find(name)
	return nd != nil, nd != nil && nd.jobs == 0
}

// LastIdle returns the name of the idle node in service with the highest number; ok is false if no such node exists.
func (p *Pool) LastIdle() (name int, ok bool) {
	for _, nd := range p.nodes.list {
		if nd.jobs == 0 && nd.out == 0 && (!ok || nd.name > name) {
			name, ok = nd.name, true
		}
	}
	return name, ok
}

// RemoveNode removes a node. It returns false if no node has the given name, or if the node still runs jobs.
func (p *Pool) RemoveNode(name int) bool {
	gone := p.nodes.find(name)
	if gone == nil || gone.jobs > 0 {
		return false
	}
	if p.spots != nil {
		below := p.spots.engine.pool
		for _, j := range below.on(name) {
			p.spots.evict(j)
		}
		below.RemoveNode(name)
	}
	p.nodes.list = slices.DeleteFunc(p.nodes.list, func(nd *node) bool { return nd == gone })
	p.nodes.name(name, nil)
	p.nodes.types.removed(gone)
	p.nodes.reindex()
	return true
}

// RenameNode gives a node an unused name. The node moves to the end of the node lists of its jobs. RenameNode returns
// false if the node does not exist or the name is taken.
func (p *Pool) RenameNode(from, to int) bool {
	nd := p.nodes.find(from)
	if nd == nil || p.nodes.find(to) != nil {
		return false
	}
	for j := range p.Running() {
		at := slices.IndexFunc(j.Nodes, func(s Share) bool { return s.Node == from })
		if at >= 0 {
			moved := Share{Node: to, GPUs: j.Nodes[at].GPUs}
			j.Nodes = append(slices.Delete(slices.Clone(j.Nodes), at, at+1), moved)
		}
	}
	if p.spots != nil {
		p.spots.engine.pool.RenameNode(from, to)
	}
	p.nodes.name(from, nil)
	nd.name = to
	p.nodes.name(to, nd)
	return true
}
