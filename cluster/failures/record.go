package failures

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"graft/cluster/trace"
	"graft/internal/files"
	"graft/internal/words"
)

// Record holds the outages in a file of any format.
type Record struct {
	Format string    // format of the file, such as [SlurmEvents]
	*Trace           // failures
	Drains *Trace    // drains; nil for a fault trace
	Start  time.Time // date of second zero; the zero time if the file has no dates
	Others int       // number of Slurm events of the cluster, which are not events of nodes
	// number of Slurm events with an end up to an hour before the start, as at the end of daylight saving time; an hour
	// was added to their ends
	Shifted int
}

// ReadRecord reads a fault trace, a list of outages or Slurm events. The period of a list begins at second zero, and
// the period of Slurm events at midnight before the first event. Errors name the file, the line and a remedy.
func ReadRecord(fsys files.FS, path string, o ReadOptions) (*Record, error) {
	text, err := readAll(fsys, path)
	if err != nil {
		return nil, err
	}
	return ParseRecord(text, path, o)
}

// ParseRecord reads text like ReadRecord. The argument path names the file in errors.
func ParseRecord(text []byte, path string, o ReadOptions) (r *Record, err error) {
	r = &Record{}
	if r.Format, err = formatOf(text, path); err != nil {
		return nil, err
	}
	switch r.Format {
	case FaultTrace:
		r.Trace, err = Parse(text, path, o)
	case SlurmEvents:
		err = r.parseSlurm(text, path, o)
	default:
		var rows []entry
		isName := func(cell string) bool { _, err := strconv.Atoi(cell); return err != nil && cell != "" }
		if rows, err = parseList(text, path, isName, false); err == nil {
			err = r.fill(rows, path, o)
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// parseSlurm reads Slurm events from the start of the observed period.
func (r *Record) parseSlurm(text []byte, path string, o ReadOptions) error {
	file, err := parseSlurm(text, path)
	if err != nil {
		return err
	}
	if r.Start = o.Start; r.Start.IsZero() {
		first := slices.MinFunc(file.rows, func(a, b entry) int { return cmp.Compare(a.From, b.From) })
		r.Start = time.Unix(first.From-first.From%secondsOfDay, 0).UTC()
	}
	r.Others, r.Shifted = file.others, file.shifted
	return r.fill(since(file.rows, r.Start.Unix()), path, o)
}

// fill sorts outages by kind and by node.
func (r *Record) fill(rows []entry, path string, o ReadOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	label, nodes := labelsOf(rows)
	last := int64(0)
	for _, e := range rows {
		last = max(last, e.From, e.To)
	}
	var err error
	if r.Trace, err = listTrace(nodes, last, path, o); err != nil {
		return err
	}
	drains := *r.Trace
	r.Drains = &drains
	for k, t := range []*Trace{r.Trace, r.Drains} {
		at := map[string]int{}
		for _, e := range rows {
			if e.isDrain() == (k == 1) {
				t.addFault(at, label(e), e)
			}
		}
	}
	return nil
}

func (l *Listed) isDrain() bool { return l.Kind == Drain || l.Kind == UnannouncedDrain }

// addFault adds an outage of a node. The map at holds the positions of nodes.
func (t *Trace) addFault(at map[string]int, node string, e entry) {
	k, known := at[node]
	if !known {
		k = len(t.Nodes)
		at[node] = k
		t.Nodes = append(t.Nodes, Node{ID: node})
	}
	f := Fault{From: e.From, To: e.end(t.Period), Class: e.Class, Open: e.To == 0 && !e.zero}
	t.Nodes[k].Faults = append(t.Nodes[k].Faults, f)
}

// labelsOf returns a function that names the nodes of outages, and the number of nodes. Numbered nodes begin with 0, so
// the highest number of a virtual cluster determines its number of nodes.
func labelsOf(rows []entry) (label func(e entry) string, nodes int) {
	numbers, names := map[string]int{}, map[string]bool{}
	for _, e := range rows {
		if e.name != "" {
			names[e.name] = true
			continue
		}
		numbers[e.VC] = max(numbers[e.VC], e.Node+1)
	}
	nodes = len(names)
	for _, n := range numbers {
		nodes += n
	}
	several := len(numbers) > 1
	return func(e entry) string {
		text := cmp.Or(e.name, strconv.Itoa(e.Node))
		if several && e.name == "" && e.VC != "" {
			text = e.VC + "/" + text
		}
		return text
	}, nodes
}

// listTrace returns a trace without faults for a list of outages with a number of nodes and a last second.
func listTrace(nodes int, last int64, path string, o ReadOptions) (*Trace, error) {
	t := &Trace{Total: cmp.Or(o.Nodes, nodes), Period: cmp.Or(seconds(o.Days), wholeDays(last))}
	switch {
	case nodes == 0:
		return nil, &trace.Error{Path: path, Text: "the file has no outages in the observed period",
			Remedy: "name another file or an earlier start"}
	case t.Total < nodes:
		return nil, &trace.Error{Path: path, Text: fmt.Sprintf("the file has outages of %s, but the number of "+
			"observed nodes is %d", words.Plural(nodes, "node"), o.Nodes),
			Remedy: "correct the number of observed nodes"}
	case t.Period < last || t.Period == 0:
		return nil, lateError(path, float64(last)/secondsOfDay, t.Period)
	}
	return t, nil
}

// NodeOutages counts the outages of a node.
type NodeOutages struct {
	Node       string  `json:"node"`        // name of the node, or its virtual cluster and number
	Failures   int     `json:"failures"`    // number of periods in which the node had a failure
	Hours      float64 `json:"hours"`       // hours with a failure
	Drains     int     `json:"drains"`      // number of periods in which the node was drained
	DrainHours float64 `json:"drain_hours"` // hours in which the node was drained
}

// Worst returns the nodes with most failures, at most a number of them. Nodes with equally many failures are in the
// order of their hours.
func (r *Record) Worst(most int) (list []NodeOutages) {
	for k := range r.Nodes {
		n := &r.Nodes[k]
		list = append(list, NodeOutages{Node: n.ID, Failures: len(n.Outages()), Hours: hoursOf(n)})
	}
	slices.SortStableFunc(list, func(a, b NodeOutages) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(b.Hours, a.Hours))
	})
	list = list[:min(most, len(list))]
	for k := range list {
		at := slices.IndexFunc(r.Drains.Nodes, func(n Node) bool { return n.ID == list[k].Node })
		if at >= 0 {
			n := &r.Drains.Nodes[at]
			list[k].Drains, list[k].DrainHours = len(n.Outages()), hoursOf(n)
		}
	}
	return list
}

// secondsOut returns the seconds in which a node has a fault.
func secondsOut(n *Node) (sum int64) {
	for _, o := range n.Outages() {
		sum += o.To - o.From
	}
	return sum
}

func hoursOf(n *Node) float64 { return float64(secondsOut(n)) / secondsOfHour }

// InService returns the share of node time without a failure and without a drain.
func (r *Record) InService() float64 {
	faults := map[string][]Fault{}
	for _, n := range slices.Concat(r.Nodes, r.Drains.Nodes) {
		faults[n.ID] = append(faults[n.ID], n.Faults...)
	}
	out := int64(0)
	for _, list := range faults {
		out += secondsOut(&Node{Faults: list})
	}
	all := int64(r.Total) * r.Period
	return float64(all-out) / float64(all)
}
