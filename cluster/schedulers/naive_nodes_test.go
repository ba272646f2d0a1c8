package schedulers

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/lucid"
)

type tshare struct {
	node int
	gpus []int
}

type tnode struct {
	name  int
	kind  int       // type of the node
	users [][]*tjob // jobs by device
	jobs  []tentry  // in order of arrival
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

// hasTypes reports whether nodes have types. Nodes of the profiler have none.
func (s *ticker) hasTypes() bool { return len(s.study.Types) > 0 && s.kind != "profiler" }

// divide gives the nodes of a virtual cluster their types.
func (s *ticker) divide(vc string) {
	at := 0
	for kind, t := range s.study.Types {
		for k := 0; k < t.Nodes[vc] && at < len(s.nodes); k++ {
			s.nodes[at].kind, s.nodes[at].users = kind, make([][]*tjob, s.size(kind))
			at++
		}
	}
}

// size returns the number of devices of a node of a type.
func (s *ticker) size(kind int) int {
	if s.hasTypes() && s.study.Types[kind].GPUs > 0 {
		return s.study.Types[kind].GPUs
	}
	return s.each
}

// widest returns the number of devices of the largest node of all virtual clusters.
func (s *ticker) widest() int {
	most := s.size(0)
	for kind := range s.study.Types {
		most = max(most, s.size(kind))
	}
	return most
}

// devices returns the number of devices of all nodes.
func (s *ticker) devices() (sum int) {
	for _, n := range s.nodes {
		sum += len(n.users)
	}
	return sum
}

// speed returns the speed of a job on a type.
func (s *ticker) speed(j *tjob, kind int) float64 {
	t := s.study.Types[kind]
	if own, has := t.Speeds[j.Trains().Model]; has {
		return own
	}
	return t.Speed
}

// named returns the types that a job names, in the order of the trace.
func (s *ticker) named(j *tjob) (kinds []int) {
	for _, name := range strings.Split(j.GPUType, "|") {
		for kind, t := range s.study.Types {
			if t.Name == name {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// kinds returns the types that a job can run on, the fastest first.
func (s *ticker) kinds(j *tjob) (kinds []int) {
	if !s.hasTypes() {
		return []int{0}
	}
	for kind := range s.study.Types {
		if !j.NeedsType || j.GPUType == "" || slices.Contains(s.named(j), kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.SortStableFunc(kinds, func(a, b int) int { return cmp.Compare(s.speed(j, b), s.speed(j, a)) })
	return kinds
}

// factor returns the rate of a job on a type.
func (s *ticker) factor(j *tjob, kind int) float64 {
	if !s.hasTypes() {
		return 1
	}
	from := 0
	if named := s.named(j); len(named) > 0 {
		from = named[0]
	}
	return s.speed(j, kind) / s.speed(j, from)
}

// place finds devices of one type, or returns nil. It treats types of equal speed and size as one type, unless the job
// would get devices of several of them.
func (s *ticker) place(j *tjob) []tshare {
	if !s.hasTypes() {
		return s.among(s.nodes, j.GPUs)
	}
	kinds := s.kinds(j)
	of := func(some []int) []*tnode {
		return slices.DeleteFunc(slices.Clone(s.nodes), func(n *tnode) bool { return !slices.Contains(some, n.kind) })
	}
	for len(kinds) > 0 {
		var equal, other []int
		for _, kind := range kinds {
			list := &other
			if s.speed(j, kind) == s.speed(j, kinds[0]) && s.size(kind) == s.size(kinds[0]) {
				list = &equal
			}
			*list = append(*list, kind)
		}
		shares := s.among(of(equal), j.GPUs)
		if shares != nil && !s.mixed(shares) {
			return shares
		}
		for _, kind := range equal {
			if shares := s.among(of([]int{kind}), j.GPUs); shares != nil {
				return shares
			}
		}
		kinds = other
	}
	return nil
}

func (s *ticker) mixed(shares []tshare) bool {
	return slices.ContainsFunc(shares, func(share tshare) bool {
		return s.node(share.node).kind != s.node(shares[0].node).kind
	})
}

// among finds devices on some nodes, or returns nil.
func (s *ticker) among(nodes []*tnode, gpus int) []tshare {
	free := 0
	for _, n := range nodes {
		free += len(n.free())
	}
	if free < gpus {
		return nil
	}
	emptiest := slices.Clone(nodes)
	slices.SortStableFunc(emptiest, func(a, b *tnode) int { return len(b.free()) - len(a.free()) })
	switch s.placement {
	case "random":
		return spread(nodes, gpus)
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
	each := len(emptiest[0].users)
	if gpus <= each {
		fullest := slices.Clone(emptiest)
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
		if gpus >= each && len(free) < each || len(free) < gpus && gpus < each {
			return nil
		}
		take := min(gpus, each)
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
		n := &tnode{name: name}
		if last := len(s.gone) - 1; last >= 0 {
			n.kind, s.gone = s.gone[last], s.gone[:last]
		}
		n.users = make([][]*tjob, s.size(n.kind))
		s.nodes = append(s.nodes, n)
	}
}

// scale adds the temporary node, or removes the idle node with the highest name. If a node was removed before, the
// temporary node keeps the removed node's name.
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
	s.gone = append(s.gone, idle.kind)
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

// window holds the future values of a forecast.
type window struct {
	at     []int64
	values []float64
}

func newWindow(f *cluster.Forecast, values []float64) *window {
	return &window{slices.Clone(f.At), slices.Clone(values)}
}

// future drops past values. It returns the mean of the next five, NaN if none is left, or none without a forecast.
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
