package failures

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"graft/cluster/trace"
	"graft/internal/words"
)

// Schedule plans the outages of the nodes of a virtual cluster.
type Schedule struct {
	Failures []Outage // failures in the period; times are relative to Start
	Start    int64    // second at which the period begins
	Period   int64    // seconds after which the failures repeat; zero if they do not repeat
	Listed   []Outage // failures that do not repeat
	Drains   []Outage // planned outages, which are announced
	Sudden   []Outage // planned outages, which schedulers do not know before they begin
}

// Schedules plans the outages of virtual clusters, by name. Fault traces begin at the second begin. They are assigned
// to nodes, or generated, with the seed.
func (s *Source) Schedules(vcs []trace.VC, begin int64, seed uint64) (map[string]Schedule, error) {
	plans := map[string]Schedule{}
	for _, vc := range vcs {
		plans[vc.Name] = Schedule{Start: begin}
	}
	if s.Trace != nil {
		if err := s.assign(plans, vcs, seed); err != nil {
			return nil, err
		}
	}
	p := planner{plans: plans, vcs: vcs, spares: s.SpareNodes}
	if err := s.addRows(&p); err != nil {
		return nil, err
	}
	for _, l := range s.Listed {
		if text, remedy := p.add(entry{Listed: l}); text != "" {
			return nil, fmt.Errorf("outage of node %d at second %d: %s; %s", l.Node, l.From, text, remedy)
		}
	}
	return plans, nil
}

// NodeNames returns the virtual cluster and the number of each node that the file or the options name, as VC/NODE; nil
// without names.
func (s *Source) NodeNames(vcs []trace.VC) map[string]string {
	if len(s.names) == 0 {
		return nil
	}
	p, places := planner{vcs: vcs}, make(map[string]string, len(s.names))
	for name, k := range s.names {
		vc, node := p.position(k)
		places[name] = fmt.Sprintf("%s/%d", vc, node)
	}
	return places
}

// assign gives each node of the cluster the outages of a node of the trace, or of a generated trace.
func (s *Source) assign(plans map[string]Schedule, vcs []trace.VC, seed uint64) error {
	nodes, t := 0, s.Trace
	for _, vc := range vcs {
		nodes += vc.Nodes + s.SpareNodes
	}
	if s.Model != nil {
		var err error
		if t, err = s.Model.Generate(GenerateOptions{Nodes: nodes, Factor: s.RateFactor, Seed: seed}); err != nil {
			return err
		}
	}
	if nodes > t.Total {
		return fmt.Errorf("the cluster has %d nodes with spare nodes, but the fault trace %s has %d; set "+
			"failures.file_nodes to the number of observed nodes, or failures.source = \"fit\" to generate failures",
			nodes,
			s.File, t.Total)
	}
	of := rand.New(rand.NewPCG(seed, 0x6e6f6465)).Perm(t.Total) // a separate stream
	next := 0
	for _, vc := range vcs {
		plan := plans[vc.Name]
		plan.Period = t.Period
		for k := range vc.Nodes + s.SpareNodes {
			if from := of[next]; from < len(t.Nodes) {
				for _, o := range t.Nodes[from].Outages() {
					o.Node = k
					plan.Failures = append(plan.Failures, o)
				}
			}
			next++
		}
		plans[vc.Name] = plan
	}
	return nil
}

// addRows adds the outages of the file.
func (s *Source) addRows(p *planner) error {
	if s.dated && s.Start.IsZero() {
		return fmt.Errorf("%s has dates, but the trace of jobs has none; simulate a trace with dates, or write the "+
			"outages as a CSV table with seconds", s.File)
	}
	if nodes := trace.Nodes(p.vcs); len(s.names) != nodes && (s.dated || len(s.Nodes) > 0) {
		return s.otherNames(nodes)
	}
	kept := s.kept()
	if len(kept) == 0 && s.dated && !s.fitted {
		return fmt.Errorf("%s has no event of this cluster after second 0 of the trace; name another file, or remove "+
			"it", s.File)
	}
	for _, e := range kept {
		if e.name != "" {
			vc, node := p.position(s.names[e.name])
			if e.VC != "" && e.VC != vc {
				return s.fault(e, fmt.Sprintf("vc is %.40q, but node %s is in %.40q", e.VC, e.name, vc), "correct vc")
			}
			e.VC, e.Node = vc, node
		}
		if text, remedy := p.add(e); text != "" {
			return s.fault(e, text, remedy)
		}
	}
	return nil
}

// FitRows replaces the failures of the file by a model fitted to them, if the options say so and the file is a list.
// The model observes the nodes of the virtual clusters from the second begin to the last submission.
func (s *Source) FitRows(vcs []trace.VC, begin int64) error {
	if s.Options.Source != FromFit || s.Trace != nil || s.dated && s.Start.IsZero() {
		return nil
	}
	t, at := &Trace{Total: trace.Nodes(vcs), Period: s.Last - begin}, map[string]int{}
	var drains []entry
	for _, e := range s.kept() {
		if e.isDrain() {
			drains = append(drains, e)
			continue
		}
		from, to := max(e.From, begin)-begin, min(e.end(s.Last), s.Last)-begin
		if from <= to && from < t.Period && (to > 0 || e.From == begin) {
			e.From, e.To, e.zero = from, to, to == 0
			t.addFault(at, cmp.Or(e.name, e.VC+"/"+strconv.Itoa(e.Node)), e)
		}
	}
	if len(t.Nodes) == 0 || len(t.Nodes) > t.Total {
		return fmt.Errorf("source is %q, but %s has failures of %d of %d nodes in the simulated period; a model needs "+
			"failures of this cluster; remove source", FromFit, s.File, len(t.Nodes), t.Total)
	}
	s.Trace, s.Model, s.rows, s.fitted = t, Fit(t), drains, true
	return nil
}

func (s *Source) fault(e entry, text, remedy string) error {
	return &trace.Error{Path: s.File, Line: e.line, Text: text, Remedy: remedy}
}

// otherNames returns the error for names of more or fewer nodes than the cluster has. Their events would belong to the
// wrong nodes.
func (s *Source) otherNames(nodes int) error {
	if len(s.Nodes) > 0 {
		return fmt.Errorf("failures.nodes has %d names, but the cluster has %d nodes without spare nodes; list each "+
			"node of the cluster in failures.nodes, or correct the number of nodes", len(s.names), nodes)
	}
	return fmt.Errorf("%s names %d nodes, but the cluster has %d without spare nodes; list all nodes of the cluster "+
		"in failures.nodes in their order, such as [\"ga[01-12]\"], which leaves out the events of other nodes, or "+
		"correct the number of nodes", s.File, len(s.names), nodes)
}

// kept returns the outages of the file that apply to the simulation: of known nodes, after second zero.
func (s *Source) kept() []entry {
	if !s.dated {
		return s.rows
	}
	return slices.DeleteFunc(since(s.rows, s.Start.Unix()), func(e entry) bool { return !has(s.names, e.name) })
}

// planner adds outages to the nodes of virtual clusters.
type planner struct {
	plans  map[string]Schedule
	vcs    []trace.VC
	spares int // spare nodes of each virtual cluster
}

// position returns the virtual cluster and the number of a node of the cluster, without spare nodes.
func (p *planner) position(node int) (vc string, number int) {
	for _, one := range p.vcs {
		if node < one.Nodes {
			return one.Name, node
		}
		node -= one.Nodes
	}
	return "", 0
}

// add adds an outage. It returns a fault and its remedy if the cluster does not have the node.
func (p *planner) add(e entry) (fault, remedy string) {
	if e.VC == "" && len(p.vcs) == 1 {
		e.VC = p.vcs[0].Name
	}
	k := slices.IndexFunc(p.vcs, func(vc trace.VC) bool { return vc.Name == e.VC })
	if k < 0 {
		return fmt.Sprintf("unknown virtual cluster %.40q", e.VC), "set vc to one of " + p.names()
	}
	if size := p.vcs[k].Nodes + p.spares; e.Node >= size {
		return fmt.Sprintf("virtual cluster %q has no node %d", e.VC, e.Node), fmt.Sprintf("use the numbers 0 to %d",
			size-1)
	}
	plan := p.plans[e.VC]
	plan.add(e)
	p.plans[e.VC] = plan
	return "", ""
}

// names lists the virtual clusters.
func (p *planner) names() string {
	const most = 50 // names in an error
	var names []string
	for _, vc := range p.vcs {
		names = append(names, vc.Name)
	}
	return words.Some(names, most)
}

// add adds an outage. A drain without a duration has no effect.
func (s *Schedule) add(e entry) {
	o := Outage{Node: e.Node, From: e.From, To: e.end(Never), Class: e.Class}
	switch {
	case !e.isDrain():
		s.Listed = append(s.Listed, o)
	case o.From == o.To:
	case e.Kind == Drain:
		s.Drains = append(s.Drains, o)
	default:
		s.Sudden = append(s.Sudden, o)
	}
}

// What is a change of a node.
type What uint8

// Changes of a node, in their order within a second.
const (
	Recovers What = iota // a failure ends
	Drained              // a drain ends
	Drains               // a drain begins
	Fails                // a failure begins
	Blinks               // a failure begins and ends
)

// Change is a change of a node.
type Change struct {
	At     int64 // second
	Node   int
	What   What
	Class  string // class of a failure
	Sudden bool   // a drain that was not announced to schedulers
}

// Feed yields the changes of a schedule in order of time.
type Feed struct {
	tracks []track
}

// track is a sorted list of changes that may repeat.
type track struct {
	changes []Change
	at      int
	from    int64 // second at which the current repetition begins
	period  int64 // zero if the list does not repeat
}

// NewFeed returns the changes of a schedule after the second begin. Overlapping outages of a node, if they have the
// same kind, are merged; failures that overlap listed failures, and drains that overlap drains of another kind, are
// not, so count the failures and drains of each node.
func NewFeed(s Schedule) *Feed {
	f := &Feed{}
	sudden := changesOf(s.Sudden, Drains, Drained, Never)
	for k := range sudden {
		sudden[k].Sudden = true
	}
	for _, t := range []track{{changesOf(s.Failures, Fails, Recovers, s.Period), 0, s.Start, s.Period},
		{changesOf(s.Listed, Fails, Recovers, Never), 0, 0, 0},
		{changesOf(s.Drains, Drains, Drained, Never), 0, 0, 0}, {sudden, 0, 0, 0}} {
		if len(t.changes) > 0 {
			f.tracks = append(f.tracks, t)
		}
	}
	return f
}

// changesOf lists the beginnings and ends of outages. Outages end at the second last at the latest.
func changesOf(outages []Outage, begins, ends What, last int64) (list []Change) {
	for _, o := range merged(outages) {
		if last != Never {
			o.To = min(o.To, last)
		}
		if o.From == o.To && begins == Fails {
			list = append(list, Change{At: o.From, Node: o.Node, What: Blinks, Class: o.Class})
			continue
		}
		list = append(list, Change{At: o.From, Node: o.Node, What: begins, Class: o.Class})
		if o.To < Never {
			list = append(list, Change{At: o.To, Node: o.Node, What: ends, Class: o.Class})
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return before(&a, &b) })
	return list
}

func before(a, b *Change) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.What, b.What), cmp.Compare(a.Node, b.Node))
}

// merged returns the union of the outages of each node.
func merged(outages []Outage) (list []Outage) {
	sorted := slices.SortedStableFunc(slices.Values(outages), func(a, b Outage) int {
		return cmp.Or(a.Node-b.Node, cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	for _, o := range sorted {
		if last := len(list) - 1; last >= 0 && list[last].Node == o.Node && o.From <= list[last].To {
			list[last].To = max(list[last].To, o.To)
			continue
		}
		list = append(list, o)
	}
	return list
}

// Next returns the second of the next change, or Never.
func (f *Feed) Next() int64 {
	if t := f.first(); t != nil {
		return t.next().At
	}
	return Never
}

// Take removes and returns the next change. There must be one.
func (f *Feed) Take() Change {
	t := f.first()
	c := t.next()
	if t.at++; t.at == len(t.changes) && t.period > 0 {
		t.at, t.from = 0, t.from+t.period
	}
	return c
}

func (t *track) next() Change {
	c := t.changes[t.at]
	c.At += t.from
	return c
}

// first returns the track with the next change; nil if there is none.
func (f *Feed) first() (best *track) {
	var least Change
	for k := range f.tracks {
		t := &f.tracks[k]
		if t.at == len(t.changes) {
			continue
		}
		if c := t.next(); best == nil || before(&c, &least) < 0 {
			best, least = t, c
		}
	}
	return best
}
