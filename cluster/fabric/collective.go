package fabric

import "slices"

// group is a set of transfers that may be one collective, or that run separately.
type group struct {
	deps  []int
	lone  bool // not a collective under any placement
	kind  collective
	bytes float64 // of the message; 0 means the sum of the transfers
}

// collective is a kind of collective.
type collective uint8

const (
	reduce collective = iota // all-reduce: all servers get a sum
	gather                   // all-gather: all servers get every server's data
)

// reductions returns the exchanges of each operation as one all-reduce, and every other transfer as its own group.
func (p *Parted) reductions() (groups []group) {
	of := map[int]int{} // operation number to its group, plus 1
	for k := range p.Graph.Deps {
		d := &p.Graph.Deps[k]
		if !d.Sync {
			groups = append(groups, group{deps: []int{k}, lone: true})
			continue
		}
		op := &p.Graph.Ops[d.From]
		if of[op.Node] == 0 {
			groups = append(groups, group{bytes: op.Parameters})
			of[op.Node] = len(groups)
		}
		g := &groups[of[op.Node]-1]
		g.deps = append(g.deps, k)
	}
	return groups
}

// gathers returns the transfers between the parts of each pair of operations as one all-gather.
func (p *Parted) gathers() (groups []group) {
	of := map[[2]int]int{}
	for k := range p.Graph.Deps {
		from, to := &p.Graph.Ops[p.Graph.Deps[k].From], &p.Graph.Ops[p.Graph.Deps[k].To]
		pair := [2]int{from.Node, to.Node}
		if of[pair] == 0 {
			groups = append(groups, group{kind: gather, lone: from.Part < 0 || to.Part < 0,
				bytes: p.Graph.Deps[k].Size * float64(p.Split[min(from.Node, p.Source.Twin(from.Node))-1])})
			of[pair] = len(groups)
		}
		g := &groups[of[pair]-1]
		g.deps = append(g.deps, k)
	}
	return groups
}

// group lists the transfers of each forward operation and of its twin. The transfers of a split operation may form
// collectives: all that leave its parts, all that reach the parts of its twin, and each exchange between two of its
// parts. A transfer may be in two groups.
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
		groups = append(groups, group{deps: forward, lone: lone}, group{deps: backward, lone: lone})
		groups = append(groups, p.exchanges(from, to)...)
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.deps) == 0 })
}

// exchanges lists the exchanges between each pair of parts.
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

// together reports whether the transfers of a group leave and reach the same servers, each equally often. Only then are
// they one collective.
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
