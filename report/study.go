package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"graft/cluster/study"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// PrintStudy writes the outcome of a cluster simulation as text.
func PrintStudy(o *study.Outcome, w io.Writer) error {
	d := &document.Document{}
	writeStudy(o, d, false)
	if o.Folder != "" {
		d.Say("results in " + o.Folder)
	}
	return d.Print(w)
}

// excludedText describes jobs that cannot be simulated. A scheduler that takes nodes from the cluster, such as lucid
// for its profiler, can exclude jobs that other schedulers simulate.
func excludedText(o *study.Outcome, l study.LeftOut) string {
	var under []string
	for _, s := range o.Schedulers {
		if slices.ContainsFunc(o.Cells, func(c study.CellOutcome) bool {
			return c.Scheduler == s.Name && slices.Contains(c.Left, l)
		}) {
			under = append(under, s.Name)
		}
	}
	text := fmt.Sprintf(": %s: %s, such as job %s", words.Plural(l.Jobs, "job"), l.Why, l.Example)
	if len(under) == 0 || len(under) == len(o.Schedulers) {
		return "excluded" + text
	}
	return "excluded under " + strings.Join(under, ", ") + text +
		"; the means of the other schedulers include such jobs"
}

// writeStudy adds an outcome to a document; with all, also each workload and each group of jobs.
func writeStudy(o *study.Outcome, d *document.Document, all bool) {
	d.Say(o.Title)
	d.Say(o.Remarks...)
	for _, l := range o.Left {
		d.Say(excludedText(o, l))
	}
	for _, p := range o.Points {
		writePoint(o, d, p.Name)
	}
	d.Know(metricsLegend(o)...)
	d.Say(differencesLegend(o, all))
	for _, r := range o.References {
		m := o.Metric(r.Metric)
		d.Say(fmt.Sprintf("%sThe %s of %s is %s: %s.", pointed(r.Point), r.Name, m.Title, cellOf(m, r.Mean), r.About))
	}
	writeChanges(o, d)
	writeLive(o, d, all)
	writeEffects(o, d)
	if all {
		writeWorkloads(o, d)
		writeParts(o, d)
	}
}

func pointed(point string) string {
	if point == "" {
		return ""
	}
	return point + ": "
}

// writePoint adds the means of each scheduler at a point, and the rankings.
func writePoint(o *study.Outcome, d *document.Document, point string) {
	if point != "" {
		d.Head("%s", point)
	}
	if !manyCells(o) {
		d.Show(cellTable(o, point, o.Workloads[0]))
		return
	}
	d.Show(summaryTable(o, point))
	for k := range o.Rankings {
		if r := &o.Rankings[k]; r.Point == point {
			d.Head("%s", pointed(point)+titleOf(o.Metric(r.Metric)))
			d.Show(rankingOf(r, o.Metric(r.Metric)))
		}
	}
}

// rowsPerSeed is the number of seeds up to which a table has a row for each.
const rowsPerSeed = 3

// manyCells reports whether tables have means over workloads and seeds instead of a row per simulation.
func manyCells(o *study.Outcome) bool {
	return len(o.Workloads) > 1 ||
		slices.ContainsFunc(o.Summaries, func(s study.Summary) bool { return s.Cells > rowsPerSeed })
}

// titleOf returns a metric with its unit.
func titleOf(m *study.Metric) string {
	if m.Unit == "" || m.Unit == document.UnitShare {
		return m.Title
	}
	return m.Title + ", " + m.Unit
}

// shown returns the metrics with columns.
func shown(o *study.Outcome) (list []study.Metric) {
	for _, m := range o.Metrics {
		if !m.Hidden {
			list = append(list, m)
		}
	}
	return list
}

func addMetrics(t *document.Table, metrics []study.Metric) *document.Table {
	for _, m := range metrics {
		t.Numbers(m.Unit, formatOf(&m), m.Title)
	}
	return t
}

func formatOf(m *study.Metric) string {
	switch {
	case m.Format != "":
		return m.Format
	case m.Unit == document.UnitShare:
		return "%.1f%%"
	}
	return "%.4g"
}

// cellOf formats a value of a metric.
func cellOf(m *study.Metric, v study.Number) document.Cell {
	if !v.Known() {
		return document.Missing()
	}
	return document.Value(float64(v), m.Unit).As(formatOf(m))
}

func metricCells(metrics []study.Metric, values study.Values) (cells []any) {
	for k := range metrics {
		v, has := values[metrics[k].Key()]
		if !has {
			cells = append(cells, document.Missing())
			continue
		}
		cells = append(cells, cellOf(&metrics[k], v))
	}
	return cells
}

// cellTable has a row per simulation of a workload, with its difference from the baseline, job by job.
func cellTable(o *study.Outcome, point, workload string) *document.Table {
	metrics := shown(o)
	t := addMetrics(document.NewTable("scheduler"), metrics)
	first := o.Metric(firstRanked(o))
	paired := slices.ContainsFunc(o.Cells, func(c study.CellOutcome) bool { return c.Difference != nil })
	if paired {
		t.Numbers(first.Unit, "", "difference").Numbers("", "", "p (holm)")
	}
	for _, c := range o.Cells {
		if c.Point != point || c.Workload != workload {
			continue
		}
		row := append([]any{document.Cell{Text: nameOfCell(o, &c), Link: c.Folder}}, metricCells(metrics, c.Values)...)
		if paired && c.Difference != nil {
			row = append(row, differenceOf(c.Difference, first), chanceOf(c.P))
		} else if paired {
			row = append(row, document.Missing(), document.Missing())
		}
		t.Add(row...)
	}
	return t
}

// differenceOf formats a difference with its interval, if it has ends.
func differenceOf(i *study.Interval, m *study.Metric) document.Cell {
	if i == nil || math.IsNaN(float64(i.Mean)) {
		return document.Missing()
	}
	c := document.Value(float64(i.Mean), m.Unit).As("%+" + strings.TrimPrefix(formatOf(m), "%"))
	if i.Whole() {
		low, high := float64(i.Low), float64(i.High)
		c.Low, c.High = &low, &high
	}
	return c
}

// firstRanked returns the key of the metric that schedulers are compared by.
func firstRanked(o *study.Outcome) string {
	if len(o.Ranked) == 0 {
		return o.Metrics[0].Key()
	}
	return o.Ranked[0]
}

// nameOfCell returns the scheduler of a simulation with its mark, and its seed if there are several.
func nameOfCell(o *study.Outcome, c *study.CellOutcome) string {
	name := c.Scheduler
	same := func(other study.CellOutcome) bool {
		return other.Point == c.Point && other.Workload == c.Workload && other.Scheduler == c.Scheduler &&
			other.Seed != c.Seed
	}
	if slices.ContainsFunc(o.Cells, same) {
		name = fmt.Sprintf("%s, seed %d", name, c.Seed)
	}
	return name + markOf(o, c.Scheduler)
}

func markOf(o *study.Outcome, scheduler string) string {
	for _, s := range o.Schedulers {
		if s.Name == scheduler && s.Mark != "" {
			return " " + s.Mark
		}
	}
	return ""
}

// summaryTable has a row per scheduler at a point: means over workloads and seeds.
func summaryTable(o *study.Outcome, point string) *document.Table {
	metrics := shown(o)
	t := addMetrics(document.NewTable("scheduler").Numbers("", "", "seeds"), metrics)
	for _, s := range o.SummariesAt(point) {
		seeds := document.Missing()
		if n := s.Cells / len(o.Workloads); n > 1 {
			seeds = document.Value(float64(n), "")
		}
		t.Add(append([]any{s.Scheduler + markOf(o, s.Scheduler), seeds}, metricCells(metrics, s.Values)...)...)
	}
	return t
}

// rankingOf has a row per scheduler of a ranking.
func rankingOf(r *study.Ranking, m *study.Metric) *document.Table {
	t := document.NewTable("scheduler").Numbers("", "", "rank").Numbers(m.Unit, formatOf(m), "mean").Numbers(m.Unit,
		formatOf(m), "95%")
	if len(r.Bounds) > 0 {
		t.Numbers("", "%.3f", "over bound")
	}
	t.Numbers(m.Unit, "", "difference").Numbers("", "", "p (holm)").Numbers("", "", "better", "ties")
	for _, s := range r.Standings {
		t.Add(standingRow(r, &s, m)...)
	}
	return t
}

func standingRow(r *study.Ranking, s *study.Standing, m *study.Metric) []any {
	if s.Mean == nil {
		return append([]any{s.Scheduler}, slices.Repeat([]any{document.Missing()}, 8)...)
	}
	interval := document.Missing()
	if s.Interval != nil {
		interval = document.Between(&s.Interval.Low, &s.Interval.High, m.Unit).As(formatOf(m))
	}
	row := []any{s.Scheduler, s.Rank, *s.Mean, interval}
	if len(r.Bounds) > 0 {
		row = append(row, s.OverBound)
	}
	difference, better, ties := document.Missing(), document.Missing(), document.Missing()
	if s.Difference != nil {
		difference = document.Value(s.Difference.Mean, m.Unit).As("%+" + strings.TrimPrefix(formatOf(m), "%"))
		difference.Low, difference.High = &s.Difference.Low, &s.Difference.High
	}
	if s.Scheduler != r.Against {
		better = document.Value(float64(s.Better), "").Then(" of %d", len(s.Values))
		ties = document.Value(float64(s.Ties), "")
	}
	return append(row, difference, chanceOf(s.P), better, ties)
}

// metricsLegend explains the columns: pairs of a name and a text.
func metricsLegend(o *study.Outcome) (pairs []string) {
	for _, m := range shown(o) {
		pairs = append(pairs, m.Title, m.About)
	}
	return pairs
}

// chanceOf formats a p-value, down to a ten-thousandth.
func chanceOf(p *float64) document.Cell {
	const least = 1e-4
	switch {
	case p == nil:
		return document.Missing()
	case *p < least:
		return document.Value(least, "").As("<%.4f")
	}
	return document.Value(*p, "").As("%.4f")
}

// holmLegend explains the p-values.
const holmLegend = "P (HOLM) is the probability of so large a difference by chance, corrected for the number of " +
	"schedulers in the table; below 0.05 the difference is significant."

// differencesLegend explains differences, if there are any.
func differencesLegend(o *study.Outcome, all bool) string {
	switch {
	case len(o.Workloads) > 1:
		return fmt.Sprintf(
			"DIFFERENCE is relative to %s, paired by workload; 95%% intervals are over workloads and seeds. "+
				"%s %s", o.Against, holmLegend, rankRemark)
	case manyCells(o):
		each := "'graft report --all' shows each simulation"
		if all {
			each = "Further tables show each simulation"
		}
		return fmt.Sprintf("Rows are means over seeds. %s, with DIFFERENCE in %s relative to %s, paired by job.", each,
			o.Metric(firstRanked(o)).Title, o.Against)
	case slices.ContainsFunc(o.Cells, func(c study.CellOutcome) bool { return c.Difference.Whole() }):
		return fmt.Sprintf("DIFFERENCE in %s is relative to %s, paired by job, with its 95%% interval. %s",
			o.Metric(firstRanked(o)).Title, o.Against, holmLegend)
	case slices.ContainsFunc(o.Cells, func(c study.CellOutcome) bool { return c.Difference != nil }):
		return fmt.Sprintf("DIFFERENCE in %s is relative to %s.", o.Metric(firstRanked(o)).Title, o.Against)
	}
	return ""
}

// writeEffects adds the effects of quirks.
func writeEffects(o *study.Outcome, d *document.Document) {
	if len(o.Ablation) == 0 {
		return
	}
	d.Head("effect of each quirk of the original without the others")
	m := o.Metric(firstRanked(o))
	t := document.NewTable("scheduler", "quirk").Numbers(m.Unit, formatOf(m), "without", "with").
		Numbers(m.Unit, "", "difference").
		Numbers("", "", "jobs changed").Texts("corrected")
	for _, e := range o.Ablation {
		difference := differenceOf(e.Difference, m)
		t.Add(pointed(e.Point)+e.Scheduler, e.Quirk, cellOf(m, e.Without[m.Key()]), cellOf(m, e.With[m.Key()]),
			difference, e.Changed, e.Fixed)
	}
	d.Show(t)
	d.Say(fmt.Sprintf(
		"WITHOUT and WITH are %s; DIFFERENCE is WITH minus WITHOUT the quirk, paired by job.", titleOf(m)))
}

// writeWorkloads adds each workload of a point.
func writeWorkloads(o *study.Outcome, d *document.Document) {
	if !manyCells(o) {
		return
	}
	for _, p := range o.Points {
		for _, w := range o.Workloads {
			d.Head("%s", pointed(p.Name)+w)
			d.Show(cellTable(o, p.Name, w))
		}
	}
}

// writeParts adds the groups of jobs of each scheduler.
func writeParts(o *study.Outcome, d *document.Document) {
	for _, s := range o.Summaries {
		for _, group := range groupsOf(s.Parts) {
			metrics := partMetrics(o, s.Parts, group)
			d.Head("%s, by %s", pointed(s.Point)+s.Scheduler, group)
			t := addMetrics(document.NewTable(group), metrics)
			for _, p := range s.Parts {
				if p.Group == group {
					t.Add(append([]any{p.Name}, metricCells(metrics, p.Values)...)...)
				}
			}
			d.Show(t)
		}
	}
}

// partMetrics returns the metrics with columns of a group: metrics of cells, and counts of jobs that are not all zero.
func partMetrics(o *study.Outcome, parts []study.Part, group string) (metrics []study.Metric) {
	for _, m := range o.Metrics {
		has := slices.ContainsFunc(parts, func(p study.Part) bool {
			v, known := p.Values[m.Key()]
			return known && p.Group == group && (!m.Hidden || m.Unit == "jobs" && v > 0)
		})
		if has {
			metrics = append(metrics, m)
		}
	}
	return metrics
}

// groupsOf returns the groupings of jobs.
func groupsOf(parts []study.Part) (groups []string) {
	for _, p := range parts {
		if !slices.Contains(groups, p.Group) {
			groups = append(groups, p.Group)
		}
	}
	return groups
}

// studyDetail is the outcome of a cluster simulation.
type studyDetail struct {
	*study.Outcome
	all bool
}

func readStudyDetail(r *runs.Run, all bool) (Detail, error) {
	o, err := runs.OutcomeOf[study.Outcome](r)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return readOpenStudy(r)
	}
	return &studyDetail{o, all}, nil
}

func (s *studyDetail) write(d *document.Document) {
	d.Head("schedulers")
	writeStudy(s.Outcome, d, s.all)
}
