package lucid

import "graft/cluster"

// Temporary is the name of the node that comes and goes, as Lucid's simulator has it. A pool has
// at most one.
const Temporary = 9999

// temporary is Temporary, or in a pool that has so many nodes the first name above theirs.
func temporary(p *cluster.Pool) int { return max(Temporary, p.Nodes().Names()) }

type scaling struct {
	at    int64 // second
	nodes int   // 1 comes, -1 leaves
}

// Scale returns changes of a pool's nodes: 1 brings the temporary node in, -1 takes an idle node
// away. The lists are seconds and numbers of nodes.
func Scale(at []int64, nodes []int) []cluster.NodeChange {
	var changes []cluster.NodeChange
	removed := false
	for k := range at {
		apply := func(p *cluster.Pool) { p.AddNode(temporary(p)) }
		if nodes[k] < 0 {
			apply = func(p *cluster.Pool) { removed = remove(p, removed) || removed }
		}
		changes = append(changes, cluster.NodeChange{At: at[k], Apply: apply})
	}
	return changes
}

// remove takes the idle node with the highest name away and reports whether there is one. From
// the second time on the temporary node, if it is busy, takes over the other's name, so that
// pools end with the nodes that they had.
func remove(p *cluster.Pool, before bool) bool {
	idle, ok := p.LastIdle()
	if !ok {
		return false
	}
	p.RemoveNode(idle)
	if name := temporary(p); before && idle < name {
		p.RenameNode(name, idle)
	}
	return true
}
