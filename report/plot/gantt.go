package plot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"graft/report/figure"
	"graft/report/runs"
)

// plotNodeRunGantt draws where and when real tasks ran.
func plotNodeRunGantt(r *runs.Run, o *runs.NodeRunOutcome) ([]drawing, error) {
	spans, err := runs.NodeSpans(r, "")
	if err != nil {
		return nil, err
	}
	return []drawing{{Figure: coloursOf(spans).gantt(fmt.Sprintf("Tasks of %s under %s", r.Base(), o.Scheduler),
		o.Devices, spans)}}, nil
}

// mostGPUs limits the rows of a figure.
const mostGPUs = 1 << 10

// colours assigns colours to tasks: by group if there are few groups, otherwise per task, repeating.
type colours struct {
	names []string       // names of groups; nil if each task has its colour
	kinds map[string]int // by group, or by task
}

func coloursOf(spans []runs.NodeSpan) *colours {
	times, tasks := map[string]float64{}, map[string]int{}
	for _, s := range spans {
		times[s.Group] += s.To - s.From
		if _, has := tasks[s.Task]; !has {
			tasks[s.Task] = len(tasks)
		}
	}
	if _, without := times[""]; without || len(times) > mostGroups && 2*len(times) > len(tasks) {
		return &colours{nil, tasks}
	}
	names, kinds := largest(times)
	return &colours{names, kinds}
}

// gantt draws spans on devices.
func (c *colours) gantt(title string, devices []string, spans []runs.NodeSpan) *figure.Gantt {
	g := &figure.Gantt{Title: title, X: figure.Axis{Name: "time", Unit: "s", Zero: true}, Rows: devices, Kinds: c.names}
	for _, s := range spans {
		of := s.Group
		if c.names == nil {
			of = s.Task
		}
		g.Spans = append(g.Spans, figure.Span{Name: s.Task, Row: s.GPU, Lane: s.Lane, Kind: c.kinds[of], From: s.From,
			To: s.To, End: endOf(s.End)})
	}
	return g
}

func endOf(word string) figure.End {
	switch word {
	case "stopped":
		return figure.Stopped
	case "failed":
		return figure.Failed
	}
	return figure.Completed
}

// mostGroups is the maximum number of groups with separate colours.
const mostGroups = 6

// largest returns the names with the largest values in order, and "others" if there are more than mostGroups.
func largest(values map[string]float64) (names []string, kinds map[string]int) {
	names, kinds = slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b))
	}), map[string]int{}
	if len(names) > mostGroups {
		for _, other := range names[mostGroups-1:] {
			kinds[other] = mostGroups - 1
		}
		names = names[:mostGroups-1]
	}
	slices.Sort(names)
	for k, name := range names {
		kinds[name] = k
	}
	if len(kinds) > len(names) {
		names = append(names, "others")
	}
	return names, kinds
}
