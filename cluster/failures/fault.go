package failures

import (
	"cmp"
	"slices"

	"graft/internal/events"
)

// Never is the end of an outage without an end.
const Never = events.Never

// Fault is a period in which a node has one problem.
type Fault struct {
	From  int64 // second of the beginning
	To    int64 // second of the end
	Level string
	Class string // faulty component, such as GPU
	Text  string // description; may be empty
	Open  bool   // the trace ends before the fault; To is then the end of the trace
}

// Node holds the faults of a node.
type Node struct {
	ID     string
	Faults []Fault // faults in order of their beginnings
}

// Trace is the record of the faults of a cluster.
type Trace struct {
	Nodes  []Node // nodes with at least one fault, in order of their first faults
	Total  int    // number of observed nodes, including nodes without faults
	Period int64  // observed time in seconds
}

// Outage is a period in which a node of a cluster is not available.
type Outage struct {
	Node  int    // number of the node, from 0
	From  int64  // second of the beginning
	To    int64  // second of the end; Never if the node does not recover
	Class string // class of the fault that began the outage
}

// Outages returns the outages of a node: the union of its faults, in order of time. Faults that touch form one outage.
func (n *Node) Outages() (list []Outage) {
	faults := slices.SortedStableFunc(slices.Values(n.Faults), byTime)
	for _, f := range faults {
		if last := len(list) - 1; last >= 0 && f.From <= list[last].To {
			list[last].To = max(list[last].To, f.To)
			continue
		}
		list = append(list, Outage{From: f.From, To: f.To, Class: f.Class})
	}
	return list
}

func byTime(a, b Fault) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

// Faults returns the number of faults of all nodes.
func (t *Trace) Faults() (n int) {
	for k := range t.Nodes {
		n += len(t.Nodes[k].Faults)
	}
	return n
}
