package plot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/report/figure"
	"graft/report/runs"
)

// mostCurves is the number of schedulers whose curves can be told apart.
const mostCurves = 6

// fewCells are the best schedulers and the one that others are compared with, and a remark on the rest.
func fewCells(o *runs.NodeOutcome) (few []runs.NodeCell, remark string) {
	var others []string
	for k, c := range o.Cells {
		if k < mostCurves || c.Scheduler == o.Turnaround.Against {
			few = append(few, c)
		} else {
			others = append(others, c.Scheduler)
		}
	}
	if len(others) > 0 {
		remark = "Not drawn: " + strings.Join(others, ", ") + "."
	}
	return few, remark
}

// plotNodeCompletions draws the distribution of turnarounds under each scheduler.
func plotNodeCompletions(r *runs.Run, o *runs.NodeOutcome) ([]drawing, error) {
	few, remark := fewCells(o)
	panel := figure.Panel{Y: figure.Axis{Name: "tasks that took no longer", Unit: "%", Low: 0, High: 100}}
	for _, c := range few {
		tasks, err := runs.NodeTasks(r, c.Scheduler)
		if err != nil {
			return nil, err
		}
		var times []float64
		for _, t := range tasks {
			if t.Completed {
				times = append(times, t.Ended-t.Arrival)
			}
		}
		slices.Sort(times)
		curve := figure.Curve{Name: c.Scheduler, Steps: true, X: []float64{0}, Y: []float64{0}}
		for k, t := range times {
			curve.X, curve.Y = append(curve.X, t), append(curve.Y, 100*float64(k+1)/float64(len(tasks)))
		}
		panel.Curves = append(panel.Curves, curve)
	}
	if len(few) == 0 {
		return nil, nil
	}
	return []drawing{{Figure: &figure.Chart{Title: "Turnaround of tasks of " + r.Base(),
		X: figure.Axis{Name: "turnaround", Unit: "s"}, Panels: []figure.Panel{panel},
		Note: strings.TrimSpace("From arrival to completion, in all workloads. " + remark)}}}, nil
}

// plotNodeSchedulers draws the mean turnaround, and its product with energy, under each scheduler.
func plotNodeSchedulers(r *runs.Run, o *runs.NodeOutcome) ([]drawing, error) {
	if len(o.Cells) == 0 {
		return nil, nil
	}
	times := rankingBars(&o.Turnaround, "Mean turnaround of "+r.Base(),
		figure.Axis{Name: "mean turnaround", Unit: "s", Zero: true})
	if o.Exact != nil {
		times.Levels = append(times.Levels, figure.Level{Name: "best without stops", At: *o.Exact})
	}
	products := rankingBars(&o.EnergyDelay, "Energy times turnaround of "+r.Base(),
		figure.Axis{Name: "energy times mean turnaround", Unit: "kJ s", Zero: true})
	return []drawing{{"turnaround", times}, {"energy-delay", products}}, nil
}

// plotNodeGantt draws where and when the tasks of the first workload ran, a figure for each scheduler. All
// have the same colours and times.
func plotNodeGantt(r *runs.Run, o *runs.NodeOutcome) (all []drawing, err error) {
	last := 0.0
	var c *colours
	for _, cell := range o.Cells {
		spans, err := runs.NodeSpans(r, cell.Scheduler)
		if err != nil {
			return nil, err
		}
		if c == nil {
			c = coloursOf(spans)
		}
		g := c.gantt(fmt.Sprintf("Tasks of %s under %s", r.Base(), cell.Scheduler), gpuNames(o.GPUs), spans)
		for _, s := range spans {
			last = max(last, s.To)
		}
		if o.Workloads > 1 {
			g.Note = strings.TrimSpace("The first workload. " + g.Note)
		}
		all = append(all, drawing{cell.Scheduler, g})
	}
	for _, d := range all {
		d.Figure.(*figure.Gantt).X.High = last
	}
	return all, nil
}

// plotNodeRunGantt draws where and when real tasks ran.
func plotNodeRunGantt(r *runs.Run, o *runs.NodeRunOutcome) ([]drawing, error) {
	spans, err := runs.NodeSpans(r, "")
	if err != nil {
		return nil, err
	}
	return []drawing{{Figure: coloursOf(spans).gantt(fmt.Sprintf("Tasks of %s under %s", r.Base(), o.Scheduler),
		o.Devices, spans)}}, nil
}

// mostGPUs bounds the names of rows.
const mostGPUs = 1 << 10

func gpuNames(count int) (names []string) {
	for k := range min(count, mostGPUs) {
		names = append(names, fmt.Sprintf("GPU %d", k))
	}
	return names
}

// colours assigns colours to tasks: by group where there are few groups, otherwise to each task, repeating.
type colours struct {
	names []string       // of groups; nil where tasks have their own
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

// mostGroups is the number of groups with colours of their own.
const mostGroups = 6

// largest are the names with the largest values in their order, and "others" where there are more than mostGroups.
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
