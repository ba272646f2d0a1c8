package failures

import (
	"cmp"
	"slices"

	"graft/internal/stat"
)

// Statistics summarizes a trace.
type Statistics struct {
	Nodes         int          `json:"nodes"`               // number of observed nodes
	Never         int          `json:"never_failed"`        // number of nodes without a fault
	Days          float64      `json:"days"`                // observed time
	NodeDays      float64      `json:"node_days"`           // observed time of all nodes
	Faults        int          `json:"faults"`              // number of faults
	Overlapping   int          `json:"overlapping_faults"`  // faults that begin during another fault of their node
	Open          int          `json:"open_faults"`         // number of faults that last beyond the observed time
	PerNodeDay    float64      `json:"faults_per_node_day"` // faults divided by node-days
	Availability  float64      `json:"availability_share"`  // share of node time without a fault
	Outages       int          `json:"outages"`             // number of periods in which a node has at least one fault
	Duration      Spread       `json:"outage"`              // durations of outages
	FaultDuration Spread       `json:"fault"`               // durations of faults
	Classes       []ClassCount `json:"classes"`             // faults by class, the most frequent first
	NodesByFaults []NodeCount  `json:"nodes_by_faults"`     // nodes by their number of faults, in ascending order
}

// Spread summarizes durations. Quantiles are interpolated between neighbouring values.
type Spread struct {
	Mean   float64 `json:"mean_s"` // mean in seconds
	Median float64 `json:"p50_s"`  // median in seconds
	P90    float64 `json:"p90_s"`  // 90th percentile in seconds
	Max    float64 `json:"max_s"`  // maximum in seconds
}

// ClassCount counts the faults of a class.
type ClassCount struct {
	Level  string  `json:"level"`  // level of the fault, such as Hardware Failure; may be empty
	Class  string  `json:"class"`  // faulty component, such as GPU; may be empty
	Faults int     `json:"faults"` // number of faults
	Hours  float64 `json:"hours"`  // sum of the faults' durations
}

// NodeCount counts the nodes with a number of faults.
type NodeCount struct {
	Faults int `json:"faults"` // number of faults of a node
	Nodes  int `json:"nodes"`  // number of such nodes
}

// Statistics computes the statistics of a trace.
func (t *Trace) Statistics() *Statistics {
	s := &Statistics{Nodes: t.Total, Never: t.Total - len(t.Nodes), Days: float64(t.Period) / secondsOfDay}
	s.NodeDays = s.Days * float64(t.Total)
	var outages, faults []int64
	down := int64(0)
	for k := range t.Nodes {
		n := &t.Nodes[k]
		for _, o := range n.Outages() {
			outages = append(outages, o.To-o.From)
			down += o.To - o.From
		}
		for _, f := range n.Faults {
			faults = append(faults, f.To-f.From)
		}
		s.countOverlaps(n)
	}
	all := int64(t.Total) * t.Period
	s.Faults, s.Outages = len(faults), len(outages)
	s.Availability = float64(all-down) / float64(all)
	s.PerNodeDay = float64(s.Faults) / s.NodeDays
	s.Duration, s.FaultDuration = spreadOf(outages), spreadOf(faults)
	s.Classes, s.NodesByFaults = classesOf(t), nodesByFaults(t)
	return s
}

func (s *Statistics) countOverlaps(n *Node) {
	end := int64(-1)
	for _, f := range slices.SortedStableFunc(slices.Values(n.Faults), byTime) {
		if f.From < end {
			s.Overlapping++
		}
		if f.Open {
			s.Open++
		}
		end = max(end, f.To)
	}
}

func spreadOf(values []int64) (s Spread) {
	if len(values) == 0 {
		return s
	}
	slices.Sort(values)
	sum := int64(0)
	for _, v := range values {
		sum += v
	}
	return Spread{Mean: float64(sum) / float64(len(values)), Median: stat.Quantile(values, 0.5),
		P90: stat.Quantile(values, 0.9), Max: float64(values[len(values)-1])}
}

func classesOf(t *Trace) (list []ClassCount) {
	at := map[[2]string]int{}
	seconds := map[[2]string]int64{}
	for _, n := range t.Nodes {
		for _, f := range n.Faults {
			id := [2]string{f.Level, f.Class}
			if _, known := at[id]; !known {
				at[id] = len(list)
				list = append(list, ClassCount{Level: f.Level, Class: f.Class})
			}
			list[at[id]].Faults++
			seconds[id] += f.To - f.From
		}
	}
	for id, k := range at {
		list[k].Hours = float64(seconds[id]) / secondsOfHour
	}
	slices.SortFunc(list, func(a, b ClassCount) int {
		return cmp.Or(b.Faults-a.Faults, cmp.Compare(a.Level, b.Level), cmp.Compare(a.Class, b.Class))
	})
	return list
}

const secondsOfHour = 3600

func nodesByFaults(t *Trace) (list []NodeCount) {
	counts := map[int]int{}
	if never := t.Total - len(t.Nodes); never > 0 {
		counts[0] = never
	}
	for _, n := range t.Nodes {
		counts[len(n.Faults)]++
	}
	for faults, nodes := range counts {
		list = append(list, NodeCount{faults, nodes})
	}
	slices.SortFunc(list, func(a, b NodeCount) int { return a.Faults - b.Faults })
	return list
}
