package plot

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"graft/cluster/study"
	"graft/internal/failure"
	"graft/report/figure"
	"graft/report/runs"
	"graft/results"
)

// plotStudyCompletions draws the distribution of job completion times under each scheduler, over the jobs of all
// workloads and seeds of a point.
func plotStudyCompletions(r *runs.Run, o *study.Outcome) (all []drawing, err error) {
	for _, point := range o.Points {
		panel := figure.Panel{Y: figure.Axis{Name: "jobs that took no longer", Unit: "%", Low: 0, High: 100}}
		unit, names := "", []string{}
		times := map[string][]float64{}
		for _, c := range o.Cells {
			if c.Point != point.Name {
				continue
			}
			list, in, err := jobTimes(r, c.Folder)
			if err != nil {
				return nil, err
			}
			unit = in
			if _, has := times[c.Scheduler]; !has {
				names = append(names, c.Scheduler)
			}
			times[c.Scheduler] = append(times[c.Scheduler], list...)
		}
		few, remark := fewNames(o, names)
		for _, name := range few {
			panel.Curves = append(panel.Curves, distribution(name, times[name]))
		}
		all = append(all, drawing{pointName(o, point.Name), &figure.Chart{
			Title: titled("Completion times of "+r.Base(), point.Name),
			X:     figure.Axis{Name: "completion time", Unit: unit}, Panels: []figure.Panel{panel},
			Note: strings.TrimSpace("From arrival to completion of a job. " + remark),
		}})
	}
	return all, nil
}

// titled returns a title with the name of a point.
func titled(title, point string) string {
	if point == "" {
		return title
	}
	return title + ", " + point
}

// pointName returns the suffix of the files of a point.
func pointName(o *study.Outcome, point string) string {
	if len(o.Points) == 1 {
		return ""
	}
	return strings.NewReplacer(" ", "-", "/", "-", ",", "").Replace(point)
}

// mostStudyCurves is the maximum number of schedulers with distinct curves.
const mostStudyCurves = 7 // the number of colours

// fewNames returns the best schedulers and the baseline, and a remark that names the others.
func fewNames(o *study.Outcome, names []string) (few []string, remark string) {
	if len(names) <= mostStudyCurves {
		return names, ""
	}
	var others []string
	for k, s := range o.SummariesAt(o.Points[0].Name) {
		if k < mostStudyCurves-1 || s.Scheduler == o.Against {
			few = append(few, s.Scheduler)
		} else {
			others = append(others, s.Scheduler)
		}
	}
	return few, "Not drawn: " + strings.Join(others, ", ") + "."
}

// distribution returns the cumulative distribution of times, in percent.
func distribution(name string, times []float64) figure.Curve {
	curve := figure.Curve{Name: name, Steps: true, X: []float64{0}, Y: []float64{0}}
	for k, t := range slices.Sorted(slices.Values(times)) {
		curve.X, curve.Y = append(curve.X, t), append(curve.Y, 100*float64(k+1)/float64(len(times)))
	}
	return curve
}

// jobTimes reads the completion times of a cell, and their unit.
func jobTimes(r *runs.Run, folder string) (times []float64, unit string, err error) {
	columns, err := headOf(r, folder, study.JobsTable)
	if err != nil {
		return nil, "", err
	}
	k := slices.IndexFunc(columns, func(name string) bool { return strings.HasPrefix(name, "jct [") })
	if k < 0 {
		return nil, "", nil
	}
	found, err := runs.KnownNumbers(r, folder, study.JobsTable+".csv", columns[k])
	return found[columns[k]], unitOf(columns[k]), err
}

// headOf reads the column names of a table.
func headOf(r *runs.Run, folder, table string) (columns []string, err error) {
	path := filepath.Join(r.Path, folder, table+".csv")
	err = results.ReadTable(r.Files, path, func(in io.Reader) error {
		columns, err = csv.NewReader(in).Read()
		return err
	})
	if err != nil && !runs.NotThere(err) {
		err = failure.AsDamage(err)
	}
	return columns, err
}

// unitOf returns the unit in a column name such as "jct [s]".
func unitOf(column string) string {
	_, unit, _ := strings.Cut(column, " [")
	return strings.TrimSuffix(unit, "]")
}

// nameOf returns a column name without its unit.
func nameOf(column string) string {
	name, _, _ := strings.Cut(column, " [")
	return strings.ReplaceAll(name, "_", " ")
}

// plotStudySchedulers draws the ranked metrics of each scheduler with their intervals.
func plotStudySchedulers(r *runs.Run, o *study.Outcome) (all []drawing, err error) {
	for _, point := range o.Points {
		for _, key := range o.Ranked {
			m := o.Metric(key)
			b := &figure.Bars{
				Title: titled(m.Title+" of "+r.Base(), point.Name), X: axisOf(m), Values: len(o.Schedulers) <= 12,
			}
			rank := o.Ranking(point.Name, key)
			b.Lines = "Lines: 95% intervals over " + drawnOver(o, key) + "."
			for _, s := range o.SummariesAt(point.Name) {
				b.Groups = append(b.Groups, figure.Group{Name: s.Scheduler,
					Bars: []figure.Bar{studyBar(o, rank, &s, m)}})
			}
			for _, ref := range o.References {
				if ref.Point == point.Name && ref.Metric == key && ref.Mean.Known() {
					b.Levels = append(b.Levels, figure.Level{Name: ref.Name, At: scaled(m, float64(ref.Mean))})
				}
			}
			name := strings.TrimPrefix(pointName(o, point.Name)+"-"+m.Name, "-")
			all = append(all, drawing{name, b})
		}
	}
	return all, nil
}

// drawnOver names what the intervals of a ranked metric are over: a single workload has no ranking.
func drawnOver(o *study.Outcome, metric string) string {
	switch {
	case o.Ranking(o.Points[0].Name, metric) != nil:
		return "workloads and seeds"
	case slices.ContainsFunc(o.Summaries, func(s study.Summary) bool { return s.Cells > 1 }):
		return "jobs and seeds"
	}
	return "jobs"
}

// axisOf returns the axis of a metric; shares are in percent.
func axisOf(m *study.Metric) figure.Axis {
	unit := m.Unit
	if unit == "share" {
		unit = "%"
	}
	return figure.Axis{Name: m.Title, Unit: unit, Zero: true}
}

func scaled(m *study.Metric, v float64) float64 {
	if m.Unit == "share" {
		return 100 * v
	}
	return v
}

// studyBar returns the mean of a scheduler with its interval.
func studyBar(o *study.Outcome, rank *study.Ranking, s *study.Summary, m *study.Metric) figure.Bar {
	v, has := s.Values[m.Key()]
	if !has {
		return figure.Bar{Value: math.NaN()}
	}
	bar := figure.Bar{Value: scaled(m, float64(v))}
	if rank != nil {
		for _, st := range rank.Standings {
			if st.Scheduler == s.Scheduler && st.Interval != nil {
				bar.Low, bar.High = scaled(m, st.Interval.Low), scaled(m, st.Interval.High)
			}
		}
		return bar
	}
	if s.Interval.Whole() && m.Key() == o.Ranked[0] {
		bar.Low, bar.High = scaled(m, float64(s.Interval.Low)), scaled(m, float64(s.Interval.High))
	}
	return bar
}

// plotStudyPoints draws the ranked metrics over the single quantity that varies between points.
func plotStudyPoints(r *runs.Run, o *study.Outcome) (all []drawing, err error) {
	key := variedKey(o)
	if key == "" || key == "live_adapts" { // yes or no, not a quantity
		return nil, nil
	}
	for _, metric := range o.Ranked {
		m := o.Metric(metric)
		panel := figure.Panel{Y: axisOf(m)}
		var names []string
		for _, s := range o.Schedulers {
			names = append(names, s.Name)
		}
		few, remark := fewNames(o, names)
		for _, name := range few {
			panel.Curves = append(panel.Curves, pointCurve(o, key, name, m))
		}
		all = append(all, drawing{m.Name, &figure.Chart{
			Title: m.Title + " of " + r.Base(), X: figure.Axis{Name: strings.ReplaceAll(key, "_", " ")},
			Panels: []figure.Panel{panel},
			Note:   strings.TrimSpace("Bands: 95% intervals over " + drawnOver(o, metric) + ". " + remark),
		}})
	}
	return all, nil
}

// variedKey returns the quantity that varies between points, if there is exactly one.
func variedKey(o *study.Outcome) string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(o.Points[0].Values)) {
		if slices.ContainsFunc(o.Points, func(p study.Point) bool { return p.Values[key] != o.Points[0].Values[key] }) {
			keys = append(keys, key)
		}
	}
	if len(keys) != 1 {
		return ""
	}
	seen := map[float64]bool{}
	for _, p := range o.Points {
		if v := p.Values[keys[0]]; seen[v] {
			return "" // they also differ in a setting that is not a quantity
		} else {
			seen[v] = true
		}
	}
	return keys[0]
}

func pointCurve(o *study.Outcome, key, scheduler string, m *study.Metric) figure.Curve {
	points := slices.Clone(o.Points)
	slices.SortFunc(points, func(a, b study.Point) int { return cmp.Compare(a.Values[key], b.Values[key]) })
	curve := figure.Curve{Name: scheduler}
	for _, p := range points {
		for _, s := range o.SummariesAt(p.Name) {
			if s.Scheduler != scheduler {
				continue
			}
			bar := studyBar(o, o.Ranking(p.Name, m.Key()), &s, m)
			if bar.Low == 0 && bar.High == 0 {
				bar.Low, bar.High = math.NaN(), math.NaN()
			}
			curve.X, curve.Y = append(curve.X, p.Values[key]), append(curve.Y, bar.Value)
			curve.Low, curve.High = append(curve.Low, bar.Low), append(curve.High, bar.High)
		}
	}
	return curve
}

// plotStudySeries draws the quantities of the table of a cell over time, on the first workload of each point.
func plotStudySeries(r *runs.Run, o *study.Outcome) (all []drawing, err error) {
	var names []string
	for _, s := range o.Schedulers {
		names = append(names, s.Name)
	}
	few, remark := fewNames(o, names)
	for _, point := range o.Points {
		chart := &figure.Chart{Title: titled("Use of "+r.Base()+" over time", point.Name), Note: remark}
		if len(o.Workloads) > 1 {
			chart.Note = strings.TrimSpace("Jobs of " + o.Workloads[0] + ". " + remark)
		}
		for _, c := range o.Cells {
			if c.Point != point.Name || c.Workload != o.Workloads[0] || !slices.Contains(few, c.Scheduler) {
				continue
			}
			if err := addSeries(chart, r, c.Folder); err != nil {
				return nil, err
			}
		}
		if len(chart.Panels) > 0 {
			all = append(all, drawing{pointName(o, point.Name), chart})
		}
	}
	return all, nil
}

// addSeries adds the curves of a simulation's folder to a chart with a panel per quantity.
func addSeries(chart *figure.Chart, r *runs.Run, folder string) error {
	columns, err := headOf(r, folder, study.SeriesTable)
	if runs.NotThere(err) {
		return nil
	}
	if err != nil {
		return err
	}
	found, err := runs.Numbers(r, folder, study.SeriesTable+".csv", columns...)
	if err != nil {
		return err
	}
	chart.X = figure.Axis{Name: nameOf(columns[0]), Unit: unitOf(columns[0])}
	times := found[columns[0]]
	width := stepWidth(times)
	if width > 0 && !strings.Contains(chart.Note, stepsNote) {
		chart.Note = strings.TrimSpace(chart.Note + " " + stepsNote)
	}
	for k, column := range columns[1:] {
		if k >= len(chart.Panels) {
			chart.Panels = append(chart.Panels, seriesPanel(column))
		}
		at, values := stepMeans(times, found[column], width)
		if unitOf(column) == "share" {
			values = inPercent(values)
		}
		curve := figure.Curve{Name: filepath.Base(filepath.Join(r.Base(), folder)), Steps: true, X: at, Y: values}
		chart.Panels[k].Curves = append(chart.Panels[k].Curves, curve)
	}
	return nil
}

func seriesPanel(column string) figure.Panel {
	if unitOf(column) == "share" {
		return figure.Panel{Y: figure.Axis{Name: nameOf(column), Unit: "%", Low: 0, High: 100}, Height: 80}
	}
	return figure.Panel{Y: figure.Axis{Name: nameOf(column), Unit: unitOf(column), Zero: true}, Height: 80}
}

// plotStudyParts draws the first metric of each group of jobs, one figure per group and point.
func plotStudyParts(r *runs.Run, o *study.Outcome) (all []drawing, err error) {
	for _, point := range o.Points {
		all = append(all, plotPartsAt(r, o, point.Name)...)
	}
	return all, nil
}

func plotPartsAt(r *runs.Run, o *study.Outcome, point string) (all []drawing) {
	summaries := o.SummariesAt(point)
	var groups []string
	for _, s := range summaries {
		for _, p := range s.Parts {
			if !slices.Contains(groups, p.Group) {
				groups = append(groups, p.Group)
			}
		}
	}
	for _, group := range groups {
		if b := partBars(o, summaries, group); b != nil {
			b.Title = titled(b.X.Name+" by "+group+", "+r.Base(), point)
			all = append(all, drawing{strings.TrimPrefix(pointName(o, point)+"-"+group, "-"), b})
		}
	}
	return all
}

// partBars has a group of bars per part, with a bar per scheduler.
func partBars(o *study.Outcome, summaries []study.Summary, group string) *figure.Bars {
	var m *study.Metric
	b := &figure.Bars{}
	at := map[string]int{}
	for k, s := range summaries {
		if k == mostStudyCurves {
			b.Note = "Only the highest-ranked schedulers are shown."
			break
		}
		b.Names = append(b.Names, s.Scheduler)
		for _, p := range s.Parts {
			if p.Group != group {
				continue
			}
			if m == nil {
				m = firstOf(o, p.Values)
			}
			if m == nil || !has(p.Values, m) {
				continue
			}
			n, known := at[p.Name]
			if !known {
				n = len(b.Groups)
				at[p.Name] = n
				b.Groups = append(b.Groups, figure.Group{Name: p.Name,
					Bars: make([]figure.Bar, min(len(summaries), mostStudyCurves))})
			}
			b.Groups[n].Bars[k].Value = scaled(m, float64(p.Values[m.Key()]))
		}
	}
	if m == nil || group == "virtual cluster" && len(b.Groups) < 2 { // a single virtual cluster is the whole
		return nil
	}
	b.X = axisOf(m)
	return b
}

func has(values study.Values, m *study.Metric) bool {
	_, known := values[m.Key()]
	return known
}

// firstOf returns the first metric with a value.
func firstOf(o *study.Outcome, values study.Values) *study.Metric {
	for k := range o.Metrics {
		if has(values, &o.Metrics[k]) {
			return &o.Metrics[k]
		}
	}
	return nil
}

// plotStudyGantt draws the jobs on the devices over time, on the first workload of the first point, one figure per
// scheduler. All share colours and times.
func plotStudyGantt(r *runs.Run, o *study.Outcome) (all []drawing, err error) {
	last := 0.0
	var colours *colours
	drawn := map[string]bool{}
	for _, c := range o.Cells {
		if c.Point != o.Points[0].Name || c.Workload != o.Workloads[0] || drawn[c.Scheduler] {
			continue
		}
		spans, err := runs.Spans(r, c.Folder)
		if runs.NotThere(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if drawn[c.Scheduler] = true; colours == nil {
			colours = coloursOf(spans)
		}
		g := ganttOf(colours, "Jobs of "+r.Base()+" under "+c.Scheduler, spans)
		for _, s := range spans {
			last = max(last, s.To)
		}
		if len(o.Workloads) > 1 {
			g.Note = strings.TrimSpace("Workload " + o.Workloads[0] + ". " + g.Note)
		}
		all = append(all, drawing{c.Scheduler, g})
	}
	for _, d := range all {
		d.Figure.(*figure.Gantt).X.High = last
	}
	return all, nil
}

// ganttOf draws spans with a row per device.
func ganttOf(c *colours, title string, spans []runs.NodeSpan) *figure.Gantt {
	devices := 0
	for _, s := range spans {
		devices = max(devices, s.GPU+1)
	}
	var rows []string
	for k := range min(devices, mostGPUs) {
		rows = append(rows, fmt.Sprintf("device %d", k))
	}
	return c.gantt(title, rows, slices.DeleteFunc(spans, func(s runs.NodeSpan) bool { return s.GPU >= len(rows) }))
}

// withOutcome draws a figure of each completed run.
func withOutcome[T any](draw func(r *runs.Run, outcome *T) ([]drawing, error)) func([]*runs.Run) ([]drawing, error) {
	return single(func(r *runs.Run) ([]drawing, error) {
		o, err := runs.OutcomeOf[T](r)
		if o == nil || err != nil {
			return nil, err
		}
		return draw(r, o)
	})
}
