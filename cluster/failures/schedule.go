package failures

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"graft/cluster/trace"
)

// Schedule plans the outages of the nodes of a virtual cluster.
type Schedule struct {
	Failures []Outage // failures in the period; times are relative to Start
	Start    int64    // second at which the period begins
	Period   int64    // seconds after which the failures repeat; zero if they do not repeat
	Listed   []Outage // failures that do not repeat
	Drains   []Outage // planned outages
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
	return plans, s.list(plans, vcs)
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

// list adds the listed outages.
func (s *Source) list(plans map[string]Schedule, vcs []trace.VC) error {
	sizes := map[string]int{}
	for _, vc := range vcs {
		sizes[vc.Name] = vc.Nodes + s.SpareNodes
	}
	for _, l := range s.Listed {
		if l.VC == "" && len(vcs) == 1 {
			l.VC = vcs[0].Name
		}
		size, known := sizes[l.VC]
		switch {
		case !known:
			return fmt.Errorf("outage of node %d at second %d: unknown virtual cluster %q; correct vc", l.Node, l.From,
				l.VC)
		case l.Node >= size:
			return fmt.Errorf("outage at second %d: virtual cluster %q has no node %d; its nodes have the numbers 0 "+
				"to %d",
				l.From, l.VC, l.Node, size-1)
		}
		plan, o := plans[l.VC], Outage{Node: l.Node, From: l.From, To: cmp.Or(l.To, Never), Class: l.Class}
		if l.Kind == Drain {
			plan.Drains = append(plan.Drains, o)
		} else {
			plan.Listed = append(plan.Listed, o)
		}
		plans[l.VC] = plan
	}
	return nil
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
	At    int64 // second
	Node  int
	What  What
	Class string // class of a failure
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
// same kind, are merged; failures that overlap listed failures are not, so count the failures of each node.
func NewFeed(s Schedule) *Feed {
	f := &Feed{}
	for _, t := range []track{{changesOf(s.Failures, Fails, Recovers, s.Period), 0, s.Start, s.Period},
		{changesOf(s.Listed, Fails, Recovers, Never), 0, 0, 0}, {changesOf(s.Drains, Drains, Drained, Never), 0, 0,
			0}} {
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
			list = append(list, Change{o.From, o.Node, Blinks, o.Class})
			continue
		}
		list = append(list, Change{o.From, o.Node, begins, o.Class})
		if o.To < Never {
			list = append(list, Change{o.To, o.Node, ends, o.Class})
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
