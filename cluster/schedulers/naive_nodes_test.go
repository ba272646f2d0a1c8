package schedulers

import (
	"math"
	"slices"

	"graft/cluster"
	"graft/cluster/lucid"
)

type tshare struct {
	node int
	gpus []int
}

type tnode struct {
	name  int
	users [][]*tjob // of each device
	jobs  []tentry  // in the order in which they came
}

type tentry struct {
	job  *tjob
	gpus []int
}

func (n *tnode) free() (list []int) {
	for g, users := range n.users {
		if len(users) == 0 {
			list = append(list, g)
		}
	}
	return list
}

// place finds devices; nil is that there are none.
func (s *ticker) place(gpus int) []tshare {
	free := 0
	for _, n := range s.nodes {
		free += len(n.free())
	}
	if free < gpus {
		return nil
	}
	emptiest := slices.Clone(s.nodes)
	slices.SortStableFunc(emptiest, func(a, b *tnode) int { return len(b.free()) - len(a.free()) })
	switch s.placement {
	case "random":
		return spread(s.nodes, gpus)
	case "consolidate-first":
		if shares := s.consolidate(emptiest, gpus); shares != nil {
			return shares
		}
		return spread(emptiest, gpus)
	}
	return s.consolidate(emptiest, gpus)
}

func spread(nodes []*tnode, gpus int) (shares []tshare) {
	for _, n := range nodes {
		if free := n.free(); gpus > 0 && len(free) > 0 {
			take := min(len(free), gpus)
			shares = append(shares, tshare{n.name, free[:take]})
			gpus -= take
		}
	}
	return shares
}

func (s *ticker) consolidate(emptiest []*tnode, gpus int) (shares []tshare) {
	if gpus <= s.each {
		fullest := slices.Clone(s.nodes)
		slices.SortStableFunc(fullest, func(a, b *tnode) int { return len(a.free()) - len(b.free()) })
		for _, n := range fullest {
			if free := n.free(); len(free) >= gpus {
				return []tshare{{n.name, free[:gpus]}}
			}
		}
		return nil
	}
	for _, n := range emptiest {
		free := n.free()
		if gpus >= s.each && len(free) < s.each || len(free) < gpus && gpus < s.each {
			return nil
		}
		take := min(gpus, s.each)
		shares = append(shares, tshare{n.name, free[:take]})
		if gpus -= take; gpus == 0 {
			return shares
		}
	}
	return nil
}

func (s *ticker) node(name int) *tnode {
	for _, n := range s.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

func (s *ticker) add(name int) {
	if s.node(name) == nil {
		s.nodes = append(s.nodes, &tnode{name: name, users: make([][]*tjob, s.each)})
	}
}

// scale adds the temporary node, or takes the idle one with the highest name away. Where a node
// went before, the temporary one stays under that name.
func (s *ticker) scale(nodes int) {
	if nodes > 0 {
		s.add(lucid.Temporary)
		return
	}
	var idle *tnode
	for _, n := range s.nodes {
		if len(n.jobs) == 0 && (idle == nil || n.name > idle.name) {
			idle = n
		}
	}
	if idle == nil {
		return
	}
	s.nodes = slices.DeleteFunc(s.nodes, func(n *tnode) bool { return n == idle })
	if temporary := s.node(lucid.Temporary); idle.name < lucid.Temporary && s.removed && temporary != nil {
		temporary.name, s.renamed = idle.name, true
		for _, j := range s.run {
			at := slices.IndexFunc(j.nodes, func(share tshare) bool { return share.node == lucid.Temporary })
			if at >= 0 {
				moved := tshare{idle.name, j.nodes[at].gpus}
				j.nodes = append(slices.Delete(slices.Clone(j.nodes), at, at+1), moved)
			}
		}
	}
	s.removed = true
}

// window is the rest of a forecast.
type window struct {
	at     []int64
	values []float64
}

func newWindow(f *cluster.Forecast, values []float64) *window {
	return &window{slices.Clone(f.At), slices.Clone(values)}
}

// future drops what has passed, and is the mean of the next five; none if nothing was left
// before.
func (w *window) future(now int64, none float64) float64 {
	if w == nil || len(w.at) == 0 {
		return none
	}
	for len(w.at) > 0 && w.at[0] <= now {
		w.at, w.values = w.at[1:], w.values[1:]
	}
	sum, count := 0.0, 0
	for k := 0; k < len(w.at) && k < 5; k++ {
		sum, count = sum+w.values[k], count+1
	}
	if count == 0 {
		return math.NaN()
	}
	return sum / float64(count)
}
