// Package worlds lists the kinds of cluster simulations.
package worlds

import (
	adaptive "graft/cluster/adaptive/world"
	elastic "graft/cluster/elastic/world"
	fabric "graft/cluster/fabric/world"
	node "graft/cluster/node/world"
	"graft/cluster/rigid"
	"graft/cluster/study"
)

// All returns every kind of cluster simulation, in the order in which help texts list them. Register new kinds of
// simulation here.
func All() []*study.World {
	return []*study.World{
		rigid.World(),
		elastic.World(),
		adaptive.World(),
		fabric.World(),
		node.World(),
	}
}

// Named returns the kind of cluster simulation with the given name, or nil if there is none.
func Named(name string) *study.World {
	for _, w := range All() {
		if w.Name == name {
			return w
		}
	}
	return nil
}
