package clock

import (
	"time"

	"graft/model"
	"graft/model/graph"
)

// recentCosts remembers the costs of the last different pieces of work, because a job asks for the same few costs many
// times and a fingerprint of its network takes far longer than a step of a small network. Surgery never changes a
// network's tree or graph in place, so the pointers identify the architecture. A Virtual clock belongs to one job,
// which uses it from one goroutine.
type recentCosts struct {
	list [8]recentCost
	next int
}

// recentCost is the cost of one piece of work on a tree or a graph, according to a profile.
type recentCost struct {
	profile *Profile
	work    Work // with a count of zero
	root    *model.Container
	graph   *graph.Graph
	cost    time.Duration
}

// of returns the cost of one piece of work.
func (r *recentCosts) of(p *Profile, w Work) time.Duration {
	if w.Network == nil {
		return p.Cost(w)
	}
	w.Count = 0
	for k := range r.list {
		if c := &r.list[k]; c.profile == p && c.work == w && c.root == w.Network.Root && c.graph == w.Network.Graph {
			return c.cost
		}
	}
	made := recentCost{p, w, w.Network.Root, w.Network.Graph, p.Cost(w)}
	r.list[r.next], r.next = made, (r.next+1)%len(r.list)
	return made.cost
}
