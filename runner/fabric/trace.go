package fabric

import (
	"encoding/json"
	"io"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
)

// names holds readable names of the parts of a step.
type names struct {
	profile *graph.Profile
	network fabric.Network
	line    *fabric.Timeline
}

func namesOf(p *graph.Profile, s *fabric.Study, line *fabric.Timeline) *names {
	byID := *p
	byID.Nodes = make([]graph.Node, len(p.Nodes))
	for _, n := range p.Nodes {
		byID.Nodes[n.ID-1] = n
	}
	return &names{&byID, s.Network, line}
}

func (n *names) graph() *graph.Graph { return n.line.Placed.Parted.Graph }

// node returns the operation of the network that a part belongs to.
func (n *names) node(op int) *graph.Node {
	g := n.graph()
	number := g.Ops[op].Node
	return &n.profile.Nodes[min(number, g.Twin(number))-1]
}

// direction returns the pass of an operation, to append to its kind.
func (n *names) direction(op int) string {
	if g := n.graph(); g.Backward(&g.Ops[op]) {
		return " backward"
	}
	return " forward"
}

func (n *names) server(op int) string { return n.network.Name(n.line.Placed.Server[op]) }

// leg describes a span.
func (n *names) leg(s fabric.Span) StepLeg {
	g := n.graph()
	leg := StepLeg{What: "wait", From: s.From, Length: s.To - s.From}
	switch {
	case s.Op >= 0:
		leg.What, leg.Name, leg.Where = n.node(s.Op).Kind, g.Ops[s.Op].Name(), n.server(s.Op)
	case s.Dep >= 0:
		d := &g.Deps[s.Dep]
		leg.What, leg.Name, leg.Where = "transfer", g.Ops[d.From].Name()+" to "+g.Ops[d.To].Name(),
			n.server(d.From)+" to "+n.server(d.To)
	}
	return leg
}

// traceEvent is an event of the Trace Event Format, which Perfetto and chrome://tracing read. Times
// are in µs.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"` // X is complete, M names a process or thread
	Begin float64        `json:"ts"`
	Long  float64        `json:"dur"`
	Pid   int            `json:"pid"` // 1 for servers, 2 for the network
	Tid   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// Processes in a trace.
const (
	ofServers = 1 + iota
	ofNetwork
)

// trace writes a step in the Trace Event Format: a thread per server, and one or more per pair of servers with
// transfers.
func (n *names) trace(w io.Writer) error {
	g := n.graph()
	name := func(what, name string, pid, tid int) traceEvent {
		return traceEvent{Name: what, Phase: "M", Pid: pid, Tid: tid, Args: map[string]any{"name": name}}
	}
	all := []traceEvent{name("process_name", "servers", ofServers, 0), name("process_name", "network", ofNetwork, 0)}
	for k, server := range n.line.Placed.Servers {
		all = append(all, name("thread_name", "server "+n.network.Name(server), ofServers, k+1))
	}
	slot := map[int]int{}
	for k, server := range n.line.Placed.Servers {
		slot[server] = k + 1
	}
	track, pairs := n.line.Tracks()
	for k, pair := range pairs {
		all = append(all, name("thread_name", n.network.Name(pair[0])+" to "+n.network.Name(pair[1]), ofNetwork, k+1))
	}
	for k, s := range n.line.Spans {
		leg := n.leg(s)
		e := traceEvent{Name: leg.What + " " + leg.Name, Phase: "X", Begin: 1e6 * s.From, Long: 1e6 * (s.To - s.From)}
		if s.Op >= 0 {
			e.Pid, e.Tid = ofServers, slot[n.line.Placed.Server[s.Op]]
			e.Name = leg.What + n.direction(s.Op) + " " + leg.Name
			e.Args = map[string]any{"detail": n.node(s.Op).Detail}
		} else {
			e.Pid, e.Tid = ofNetwork, track[k]+1
			e.Args = map[string]any{"bytes": g.Deps[s.Dep].Size}
		}
		all = append(all, e)
	}
	return json.NewEncoder(w).Encode(map[string]any{"displayTimeUnit": "ms", "traceEvents": all})
}
