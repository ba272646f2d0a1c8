package lucid

import "graft/cluster"

// Temporary is the name of the temporary node in Lucid's simulator. A pool has at most one temporary node.
const Temporary = 9999

// temporary is Temporary, or the first name above all nodes of a larger pool.
func temporary(p *cluster.Pool) int { return max(Temporary, p.Nodes().Names()) }

type scaling struct {
	at    int64 // second
	nodes int   // 1 adds it, -1 removes it
}

// Scale returns planned changes of a pool's nodes. Change k happens at time at[k], in seconds. The change adds the
// temporary node if nodes[k] is 1, and removes an idle node if nodes[k] is -1.
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

// remove takes away the idle node with the highest name and reports whether one exists. From the second removal on, a
// busy temporary node takes over the removed node's name, so that pools end with their original nodes.
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
