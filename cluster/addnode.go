package cluster

import "slices"

// Temporary is the name of a node that comes and goes.
const Temporary = 9999

// AddNode brings a node in for a time. There is at most one: a second does nothing.
func (p *Pool) AddNode() {
	if p.nodes.byName[Temporary] != nil {
		return
	}
	nd := &node{name: Temporary, free: uint64(1)<<p.nodes.each - 1}
	p.nodes.list = append(p.nodes.list, nd)
	p.nodes.byName[Temporary] = nd
	p.nodes.index()
}

// HasNode reports whether there is a node of that name, and whether it is idle.
func (p *Pool) HasNode(name int) (there, idle bool) {
	nd := p.nodes.byName[name]
	return nd != nil, nd != nil && nd.jobs == 0
}

// RemoveNode takes an idle node away, the one with the highest name; false if none is idle.
// From the second time on the one that goes is called [Temporary]: the temporary node, if it
// is busy, stays under the other's name, so that pools end with the nodes that they had.
func (p *Pool) RemoveNode() bool {
	var idle *node
	for _, nd := range p.nodes.list {
		if nd.jobs == 0 && (idle == nil || nd.name > idle.name) {
			idle = nd
		}
	}
	if idle == nil {
		return false
	}
	if temp := p.nodes.byName[Temporary]; idle.name < Temporary && p.temporary && temp != nil {
		p.rename(temp, idle.name)
	}
	p.nodes.list = slices.DeleteFunc(p.nodes.list, func(nd *node) bool { return nd == idle })
	if p.nodes.byName[idle.name] == idle {
		delete(p.nodes.byName, idle.name)
	}
	p.temporary = true
	p.nodes.index()
	return true
}

// rename gives a busy node another name, in the list of its jobs' nodes as well, where it
// moves to the end.
func (p *Pool) rename(nd *node, name int) {
	delete(p.nodes.byName, nd.name)
	for j := range p.Running() {
		at := slices.IndexFunc(j.Nodes, func(s Share) bool { return s.Node == nd.name })
		if at < 0 {
			continue
		}
		moved := Share{Node: name, GPUs: j.Nodes[at].GPUs}
		j.Nodes = append(slices.Delete(slices.Clone(j.Nodes), at, at+1), moved)
	}
	nd.name = name
	p.nodes.byName[name] = nd
}
