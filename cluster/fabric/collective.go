package fabric

import "slices"

// group is transfers that may be one collective, or that each go by themselves.
type group struct {
	deps []int
	lone bool // not a collective on any placement
}

// group lists the transfers of each operation forward and of its twin. Those of an operation that
// was split may be a collective: all that leave its parts, all that reach the parts of its twin, and
// each exchange between two of these. A transfer may be in two groups.
func (p *Parted) group() (groups []group) {
	for k := range p.Source.Ops {
		op := &p.Source.Ops[k]
		if p.Source.Backward(op) {
			continue
		}
		lone := p.Split[op.Node-1] == 1
		var forward, backward []int
		from, to := p.Parts(op.Node)
		for at := from; at < to; at++ {
			forward = append(forward, p.Graph.Out[at]...)
		}
		from, to = p.Parts(p.Source.Twin(op.Node))
		for at := from; at < to; at++ {
			for _, dep := range p.Graph.In[at] {
				if !p.Graph.Deps[dep].Sync {
					backward = append(backward, dep)
				}
			}
		}
		groups = append(groups, group{forward, lone}, group{backward, lone})
		groups = append(groups, p.exchanges(from, to)...)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.deps) == 0 })
}

// exchanges lists the exchanges between each two parts.
func (p *Parted) exchanges(from, to int) (groups []group) {
	pairs := map[[2]int]int{}
	for at := from; at < to; at++ {
		for _, dep := range p.Graph.Out[at] {
			d := &p.Graph.Deps[dep]
			if !d.Sync {
				continue
			}
			pair := [2]int{min(d.From, d.To), max(d.From, d.To)}
			if _, ok := pairs[pair]; !ok {
				pairs[pair] = len(groups)
				groups = append(groups, group{})
			}
			g := &groups[pairs[pair]]
			g.deps = append(g.deps, dep)
		}
	}
	return groups
}

// together reports whether the transfers of a group leave the same servers that they reach, each as
// often: only then are they one collective.
func (g *group) together(p *Placed) bool {
	if g.lone {
		return false
	}
	for _, dep := range g.deps {
		d := &p.Parted.Graph.Deps[dep]
		p.balance[p.slot[d.From]]++
		p.balance[p.slot[d.To]]--
	}
	even := true
	for _, dep := range g.deps {
		d := &p.Parted.Graph.Deps[dep]
		even = even && p.balance[p.slot[d.From]] == 0 && p.balance[p.slot[d.To]] == 0
	}
	for _, dep := range g.deps {
		d := &p.Parted.Graph.Deps[dep]
		p.balance[p.slot[d.From]], p.balance[p.slot[d.To]] = 0, 0
	}
	return even
}
