package plot

import (
	"cmp"
	"slices"
	"strings"

	"graft/internal/stat"
	"graft/report/figure"
	"graft/report/runs"
)

// plotCellSeries draws the load of one simulated cluster over time: the recorded use of its devices or, without a
// record, the jobs before their starts and before their ends.
func plotCellSeries(r *runs.Run) ([]drawing, error) {
	if r.Selected != (runs.Selection{}) {
		return nil, nil
	}
	chart := &figure.Chart{Title: "Load of " + r.Base() + " over time"}
	if err := addSeries(chart, r, ""); err != nil {
		return nil, err
	}
	if len(chart.Panels) == 0 {
		if err := addJobCounts(chart, r); err != nil {
			return nil, err
		}
	}
	if len(chart.Panels) == 0 {
		return nil, nil
	}
	return []drawing{{Figure: chart}}, nil
}

// addJobCounts adds panels with numbers of jobs over time, from the table of jobs.
func addJobCounts(chart *figure.Chart, r *runs.Run) error {
	columns, err := headOf(r, "", "jobs")
	if err != nil {
		return err
	}
	at := map[string]string{}
	for _, column := range columns {
		at[nameOf(column)] = column
	}
	arrival, start, end := at["arrival"], at["start"], at["end"]
	if arrival == "" || start == "" || end == "" {
		return nil
	}
	found, err := runs.KnownNumbers(r, "", "jobs.csv", arrival, start, end)
	if err != nil {
		return err
	}
	for column, values := range found {
		found[column] = slices.DeleteFunc(values, func(v float64) bool { return !stat.Finite(v) || v < 0 })
	}
	if len(found[arrival]) == 0 {
		return nil
	}
	first := slices.Min(found[arrival])
	chart.X = figure.Axis{Name: "time", Unit: unitOf(arrival)}
	chart.Note = "Counted from the arrivals, first starts and ends of jobs. Preempted jobs count as running."
	for _, p := range []struct{ name, from, to string }{{"jobs before their start", arrival, start},
		{"running jobs", start, end}} {
		x, y := counts(found[p.from], found[p.to], first, slices.Max(append(found[end], first)))
		shift(x, -first)
		if width := stepWidth(x); width > 0 {
			x, y = stepMeans(x, y, width)
			shift(x, first)
			if !strings.Contains(chart.Note, stepsNote) {
				chart.Note += " " + stepsNote
			}
		} else {
			shift(x, first)
		}
		chart.Panels = append(chart.Panels, figure.Panel{Y: figure.Axis{Name: p.name, Zero: true}, Height: 80,
			Curves: []figure.Curve{{Name: r.Base(), Steps: true, X: x, Y: y}}})
	}
	return nil
}

// shift adds a number to times.
func shift(times []float64, by float64) {
	for k := range times {
		times[k] += by
	}
}

// counts returns the number of periods that contain a time, from the first time to the last one, at each time at which
// the number changes.
func counts(from, to []float64, first, last float64) (at, number []float64) {
	type change struct{ at, by float64 }
	var list []change
	for _, v := range from {
		list = append(list, change{v, 1})
	}
	for _, v := range to {
		list = append(list, change{v, -1})
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	at, number = []float64{first}, []float64{0}
	for _, c := range list {
		end := len(at) - 1
		if at[end] == c.at {
			number[end] += c.by
			continue
		}
		at, number = append(at, c.at), append(number, number[end]+c.by)
	}
	if end := len(at) - 1; at[end] < last {
		at, number = append(at, last), append(number, number[end])
	}
	return at, number
}

// plotCellOutages draws the outages of the nodes of one simulated cluster over time.
func plotCellOutages(r *runs.Run) ([]drawing, error) {
	list, err := r.Outages()
	if s := r.Selected; s.Node != "" && err == nil {
		list, err = r.OutagesOf(s.Node)
	}
	if len(list) == 0 || err != nil || r.Selected.Job != "" {
		return nil, err
	}
	g := &figure.Gantt{Title: "Outages of nodes of " + r.Base(), X: figure.Axis{Name: "time", Unit: "s", Zero: true}}
	last, err := lastSecond(r)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		last = max(last, o.From)
		if o.To != nil {
			last = max(last, *o.To)
		}
	}
	g.X.High = last
	rows, many := map[string]int{}, several(list)
	for _, o := range list {
		name := "node " + o.Node
		if many {
			name = o.VC + "/" + o.Node
		}
		if _, has := rows[name]; !has {
			rows[name] = len(g.Rows)
			g.Rows = append(g.Rows, name)
		}
		g.Spans = append(g.Spans, outageSpan(g, o, rows[name], last))
	}
	return []drawing{{Figure: g}}, nil
}

// lastSecond returns the end of the last job; zero if the table of jobs has no ends.
func lastSecond(r *runs.Run) (last float64, err error) {
	const end = "end [s]"
	columns, err := headOf(r, "", "jobs")
	if err != nil || !slices.Contains(columns, end) {
		return 0, err
	}
	found, err := runs.KnownNumbers(r, "", "jobs.csv", end)
	for _, v := range found[end] {
		last = max(last, v)
	}
	return last, err
}

// several reports whether the nodes belong to several virtual clusters.
func several(list []runs.Outage) bool {
	return slices.ContainsFunc(list, func(o runs.Outage) bool { return o.VC != list[0].VC })
}

// outageSpan returns the span of an outage in a row, in the colour of its kind.
func outageSpan(g *figure.Gantt, o runs.Outage, row int, last float64) figure.Span {
	kind := slices.Index(g.Kinds, o.Kind)
	if kind < 0 {
		kind = len(g.Kinds)
		g.Kinds = append(g.Kinds, o.Kind)
	}
	s := figure.Span{Name: cmp.Or(o.Class, o.Kind), Row: row, Kind: kind, From: o.From, To: last}
	if o.To != nil {
		s.To = *o.To
	}
	return s
}

// plotCellGantt draws the jobs of one simulated cluster on their devices, if the simulation records them.
func plotCellGantt(r *runs.Run) ([]drawing, error) {
	if r.Selected != (runs.Selection{}) {
		return nil, nil
	}
	spans, err := runs.Spans(r, "")
	if runs.NotThere(err) {
		return nil, nil
	}
	if err != nil || len(spans) == 0 {
		return nil, err
	}
	return []drawing{{Figure: ganttOf(coloursOf(spans), "Jobs of "+r.Base(), spans)}}, nil
}
