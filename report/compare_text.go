package report

import (
	"fmt"
	"slices"
	"strings"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// maxColumns is the maximum number of columns side by side; with more, each has its own line.
const maxColumns = 6

// Widths in characters: settingWidth is the total width of all columns of settings next to each other; lineSettingWidth
// is the width of each column if runs have their own lines. Longer lists are wrapped.
const (
	settingWidth     = 120
	lineSettingWidth = 40
)

// maxLines is the number of lines of runs shown without --all.
const maxLines = 30

// write adds the comparison: first the settings that differ, then the quantities.
func (c *comparison) write(d *document.Document, all bool) {
	if n := c.count(); n == 1 {
		d.Head("1 %s", c.kind.Title)
	} else {
		d.Head("%d %s", n, c.kind.Titles)
	}
	if len(c.Columns) > maxColumns {
		c.writeLines(d, all)
	} else {
		d.Show(c.settingsTable())
		d.Show(c.outcomeTable())
	}
	d.Say(c.remarks(all)...)
}

// count is the number of runs, copies included.
func (c *comparison) count() (n int) {
	for _, col := range c.Columns {
		n += len(col.Runs) + len(col.Copies)
	}
	return n
}

// settingsTable has a line per configuration key that differs between columns.
func (c *comparison) settingsTable() *document.Table {
	t := document.NewTable("differs in")
	for _, col := range c.Columns {
		t.Given(col.Name, false).Wrap(settingWidth / len(c.Columns))
	}
	for _, diff := range c.Differs {
		cells := []any{diff.Key}
		for _, v := range diff.Values {
			cells = append(cells, settingCell(v))
		}
		t.Add(cells...)
	}
	return t
}

func settingCell(v *string) document.Cell {
	switch {
	case v == nil:
		return document.Missing()
	case *v == "":
		return document.Text(`""`)
	}
	return document.Text(*v)
}

// outcomeTable has a line per quantity.
func (c *comparison) outcomeTable() *document.Table {
	t := document.NewTable("outcome", "unit")
	seeds, ended := []any{"seeds", ""}, []any{"state", ""}
	for _, col := range c.Columns {
		t.Given(col.Name, true)
		seeds, ended = append(seeds, seedsCell(&col)), append(ended, StateWord(col.Ended))
	}
	if c.seeded() {
		t.Add(seeds...)
	}
	if c.open() {
		t.Add(ended...)
	}
	for _, q := range c.Rows {
		if q.everywhere() {
			continue
		}
		cells := []any{wordsOf(q.Quantity), document.UnitText(q.Unit)}
		for _, one := range q.Cells {
			cell := q.cell(one)
			if !strings.HasSuffix(cell.After, noiseMark) { // aligned with cells that have a mark
				cell.After += strings.Repeat(" ", len(noiseMark))
			}
			cells = append(cells, cell)
		}
		t.Add(cells...)
	}
	return t
}

// seedsCell counts the seeds of a column. A simulation of a cluster with one seed does not list it.
func seedsCell(col *comparedColumn) any {
	if n := len(col.Seeds); n > 0 {
		return n
	}
	if col.Ended {
		return len(col.runs)
	}
	return document.Missing()
}

// seeded reports whether the runs of a column have seeds.
func (c *comparison) seeded() bool {
	return slices.ContainsFunc(c.Columns, func(col comparedColumn) bool { return len(col.Seeds) > 0 })
}

// open reports whether the runs of a column have not ended.
func (c *comparison) open() bool {
	return slices.ContainsFunc(c.Columns, func(col comparedColumn) bool { return !col.Ended })
}

// wordsOf converts a quantity's name to words.
func wordsOf(quantity string) string {
	if quantity == "aim" { // its name in files of earlier versions and in JSON
		return "objective"
	}
	return strings.ReplaceAll(quantity, "_", " ")
}

// quantityText formats a quantity with its value and unit.
func quantityText(name string, v float64, unit string) string {
	return strings.TrimSpace(wordsOf(name) + " " + document.ValueText(v, unit) + " " + document.UnitText(unit))
}

// everywhere reports whether a quantity is equal in all of several columns.
func (q *comparedQuantity) everywhere() bool {
	var values []float64
	same := true
	for k, one := range q.Cells {
		if one == nil || one.Repetitions != nil {
			return false
		}
		same = same && (k == 0 || one.same)
		values = append(values, one.values...)
	}
	return len(q.Cells) > 1 && (same || constant(values))
}

// shared names the quantities that are equal in all columns.
func (c *comparison) shared() string {
	var list []string
	for k := range c.Rows {
		if q := &c.Rows[k]; q.everywhere() {
			list = append(list, quantityText(q.Quantity, q.Cells[0].Mean, q.Unit))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "equal in all runs: " + strings.Join(list, ", ")
}

// noiseMark marks values that do not differ significantly from the first column.
const noiseMark = " ~"

func (q *comparedQuantity) cell(one *comparedValue) document.Cell {
	if one == nil {
		return document.Missing()
	}
	cell := one.cell(q.Unit)
	cell.After = one.Repetitions.text(q.Unit)
	if one.Inside && !one.same && !one.untested {
		cell.After += noiseMark
	}
	return cell
}

// StateWord returns the word that reports print for the state of a run.
func StateWord(ended bool) string {
	if ended {
		return "ended"
	}
	return "not ended"
}

// writeLines adds a line per column, with settings and quantities.
func (c *comparison) writeLines(d *document.Document, all bool) {
	t := document.NewTable("runs")
	seeded, open := c.seeded(), c.open()
	if seeded {
		t.Numbers("", "", "seeds")
	}
	if open {
		t.Texts("state")
	}
	for _, diff := range c.Differs {
		t.Given(diff.Key, false).Wrap(lineSettingWidth)
	}
	var rows []*comparedQuantity
	for k := range c.Rows {
		if q := &c.Rows[k]; q.Better != "" && !q.everywhere() {
			rows = append(rows, q)
			t.Numbers(q.Unit, "", wordsOf(q.Quantity))
		}
	}
	for k, col := range c.Columns {
		if k == maxLines && !all {
			t.Add(fmt.Sprintf("… %d more", len(c.Columns)-k))
			break
		}
		cells := []any{col.Name}
		if seeded {
			cells = append(cells, seedsCell(&col))
		}
		if open {
			cells = append(cells, StateWord(col.Ended))
		}
		for _, diff := range c.Differs {
			cells = append(cells, settingCell(diff.Values[k]))
		}
		for _, q := range rows {
			cells = append(cells, q.cell(q.Cells[k]))
		}
		t.Add(cells...)
	}
	d.Show(t)
}

// remarks explain the marks in the tables and name the copies of runs.
func (c *comparison) remarks(all bool) []string {
	lines := []string{c.shared()}
	if len(c.Differs) == 0 && len(c.Columns) == 1 && c.count() > 1 {
		lines = append(lines, c.Columns[0].equalText())
	}
	switch {
	case c.has(func(one *comparedValue) bool { return one.Low != nil }):
		lines = append(lines, seedIntervals)
		if slices.ContainsFunc(c.Rows, func(q comparedQuantity) bool { return q.cuts() }) {
			lines = append(lines, cutIntervals)
		}
		if slices.ContainsFunc(c.Rows, func(q comparedQuantity) bool { return q.level > 0.95 }) {
			lines = append(lines, "Intervals of differences between cases hold jointly for each sweep with 95% "+
				"confidence, so each is wider; see the report of the sweep")
		}
	case c.has(func(one *comparedValue) bool { return one.N > 1 }):
		lines = append(lines, fewSeeds)
	}
	if c.has(func(one *comparedValue) bool { return one.Inside && !one.same && !one.untested }) {
		lines = append(lines, c.noise())
	}
	lines = append(lines, c.untested())
	if len(c.Columns) > maxLines && !all {
		lines = append(lines, "--all shows every line")
	}
	for k, col := range c.Columns {
		lines = append(lines, col.copies(), c.repeats(k), c.partial(k), col.machines())
	}
	return lines
}

// partial names the quantities that only some seeds of a column have, such as measured energy; empty if there are none.
func (c *comparison) partial(column int) string {
	col := c.Columns[column]
	var list []string
	for k := range c.Rows {
		cell := c.Rows[k].Cells[column]
		if cell == nil || len(cell.seeds) != len(cell.values) || len(cell.seeds) >= len(col.Seeds) {
			continue
		}
		list = append(list, fmt.Sprintf("%s of %d", wordsOf(c.Rows[k].Quantity), len(cell.seeds)))
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: some means have fewer than the %s of the column, because the others lack the value: %s",
		col.Name, words.Plural(len(col.Seeds), "seed"), words.Some(list, maxPartial))
}

// maxPartial is the maximum number of quantities that a remark lists.
const maxPartial = 6

// equalText states in what the runs of the only column differ.
func (c *comparedColumn) equalText() string {
	if len(c.Seeds) > 1 {
		return "only seeds and paths differ"
	}
	if c.Ended && len(c.runs) > 1 {
		return "only paths and results differ"
	}
	return "only paths differ"
}

// machines states that the runs of a column on the wall clock are from several machines; empty for one machine.
func (c *comparedColumn) machines() string {
	if len(c.Machines) < 2 {
		return ""
	}
	return fmt.Sprintf("%s: runs on the wall clock of %d machines (%s), which may have different speeds", c.Name,
		len(c.Machines), document.SomeOf(c.Machines, maxMachines))
}

// repeats states that several runs of a column have the same seed; empty if none have.
func (c *comparison) repeats(column int) string {
	repeated, differ := false, false
	for _, q := range c.Rows {
		if cell := q.Cells[column]; cell != nil {
			repeated, differ = repeated || cell.repeated, differ || cell.Repetitions != nil
		}
	}
	if !repeated {
		return ""
	}
	col := c.Columns[column]
	text := fmt.Sprintf("%s: %s with %s; runs with the same seed count as one value, their mean", col.Name,
		words.Plural(len(col.runs), "run"), words.Plural(len(col.Seeds), "seed"))
	if differ {
		text += ". In parentheses: smallest and largest value of all runs"
	}
	return text
}

// untested explains differences of cluster simulations that are not tested; empty if there are none.
func (c *comparison) untested() string {
	few := func(one *comparedValue) bool { return one.N < stat.FewestSeeds }
	switch {
	case !c.has(func(one *comparedValue) bool { return one.untested }):
		return ""
	case !c.has(few) || c.has(func(one *comparedValue) bool { return one.Chance != nil && !one.same }):
		return fmt.Sprintf("Differences are not tested if all seeds have equal values, or if a column has fewer than "+
			"%d simulations.", stat.FewestSeeds)
	case !c.has(func(one *comparedValue) bool { return one.N > 1 }):
		return "Differences are not tested: each column has one simulation. To test them, compare runs with several " +
			"seeds (schedule.seeds)."
	}
	return fmt.Sprintf("Differences are not tested: a column has fewer than %d simulations. To test them, compare "+
		"runs with equal seeds, at least %[1]d (schedule.seeds).", stat.FewestSeeds)
}

// copies names the folders with copies of a run of the column; empty if there are none.
func (c *comparedColumn) copies() string {
	switch n := len(c.Copies); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s: one folder is a copy of the same run and is not counted: %s", c.Name, c.Copies[0])
	default:
		return fmt.Sprintf("%s: %d folders are copies of the same runs and are not counted: %s", c.Name, n,
			document.SomeOf(c.Copies, 3))
	}
}

// noise explains the mark and states the number of seeds that a significant difference requires.
func (c *comparison) noise() string {
	first, fewest := c.Columns[0], len(c.Columns[0].Seeds)
	for _, col := range c.Columns[1:] {
		fewest = min(fewest, len(col.Seeds))
	}
	text := fmt.Sprintf(
		"~ marks differences from %s that are not significant: chance alone gives as large a difference in more "+
			"than 1 of %.0f cases", first.Name, float64(len(c.Columns)-1)/significance)
	if n := len(c.Columns) - 1; n > 1 {
		text += fmt.Sprintf(" (1 of %.0f, corrected for %d comparisons)", 1/significance, n)
	}
	paired := c.kind.IsStudy() || c.kind == runs.CellKind
	if n := stat.SamplesNeeded(significance / float64(len(c.Columns)-1)); fewest < n && !paired {
		text += fmt.Sprintf("; with fewer than %d seeds in each column no difference is significant", n)
	}
	return text
}

func (c *comparison) has(is func(*comparedValue) bool) bool {
	for _, q := range c.Rows {
		if slices.ContainsFunc(q.Cells, func(one *comparedValue) bool { return one != nil && is(one) }) {
			return true
		}
	}
	return false
}
