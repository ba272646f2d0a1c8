package report

import (
	"fmt"
	"slices"
	"strings"

	"graft/results/document"
)

// mostSide is up to how many columns stand side by side; more are a line each.
const mostSide = 6

// mostLines is how many lines of runs are shown without --all.
const mostLines = 30

// write adds the runs side by side: first what differs in what they were told, then
// what came out.
func (c *comparison) write(d *document.Document, all bool) {
	if n := c.count(); n == 1 {
		d.Head("1 %s", c.kind.Title)
	} else {
		d.Head("%d %s", n, c.kind.Titles)
	}
	if len(c.Columns) > mostSide {
		c.writeLines(d, all)
	} else {
		d.Show(c.settingsTable())
		d.Show(c.outcomeTable())
	}
	d.Say(c.remarks(all)...)
}

// count is how many runs there are.
func (c *comparison) count() (n int) {
	for _, col := range c.Columns {
		n += len(col.Runs) + len(col.Copies)
	}
	return n
}

// settingsTable has a line for each key that differs, and who the columns are.
func (c *comparison) settingsTable() *document.Table {
	head := []string{"DIFFERS IN"}
	for _, col := range c.Columns {
		head = append(head, col.Name)
	}
	t := document.NewTable(head...)
	for _, diff := range c.Differs {
		cells := []string{diff.Key}
		for _, v := range diff.Values {
			cells = append(cells, settingCell(v))
		}
		t.Add(cells...)
	}
	return t
}

func settingCell(v *string) string {
	switch {
	case v == nil:
		return "-"
	case *v == "":
		return `""`
	}
	return *v
}

// outcomeTable has a line for each quantity.
func (c *comparison) outcomeTable() *document.Table {
	head := []string{"OUTCOME", "UNIT"}
	seeds, ended := []string{"seeds", ""}, []string{"", ""}
	open := false
	for _, col := range c.Columns {
		head = append(head, ">"+col.Name)
		seeds = append(seeds, fmt.Sprint(len(col.Seeds)))
		ended = append(ended, StateWord(col.Ended))
		open = open || !col.Ended
	}
	t := document.NewTable(head...)
	t.Add(seeds...)
	if open {
		ended[0] = "state"
		t.Add(ended...)
	}
	for _, q := range c.Rows {
		if q.everywhere() {
			continue
		}
		cells := []string{strings.ReplaceAll(q.Quantity, "_", " "), document.ShownUnit(q.Unit)}
		for _, one := range q.Cells {
			cells = append(cells, q.cellText(one))
		}
		t.Add(padded(cells)...)
	}
	return t
}

// everywhere says whether a quantity is the same in all of several columns.
func (q *sideRow) everywhere() bool {
	var values []float64
	for _, one := range q.Cells {
		if one == nil {
			return false
		}
		values = append(values, one.values...)
	}
	return len(q.Cells) > 1 && constant(values)
}

// shared names the quantities that are the same in all columns.
func (c *comparison) shared() string {
	var list []string
	for k := range c.Rows {
		if q := &c.Rows[k]; q.everywhere() {
			list = append(list, strings.TrimSpace(strings.ReplaceAll(q.Quantity, "_", " ")+" "+document.ShownValue(q.Cells[0].Mean, q.Unit)+" "+document.ShownUnit(q.Unit)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "the same in all: " + strings.Join(list, ", ")
}

// padded gives the numbers of a line room where another of them has a mark.
func padded(cells []string) []string {
	for k, text := range cells[2:] {
		if !strings.HasSuffix(text, noiseMark) {
			cells[2+k] = text + strings.Repeat(" ", len(noiseMark))
		}
	}
	return cells
}

// noiseMark stands behind what cannot be told from the first column.
const noiseMark = " ~"

func (q *sideRow) cellText(one *sideCell) string {
	if one == nil {
		return "-"
	}
	text := one.shown(q.Unit)
	if one.Inside && !one.same {
		text += noiseMark
	}
	return text
}

func StateWord(ended bool) string {
	if ended {
		return "ended"
	}
	return "not ended"
}

// writeLines adds a line for each column, with what differs and what came out.
func (c *comparison) writeLines(d *document.Document, all bool) {
	open := slices.ContainsFunc(c.Columns, func(col sideColumn) bool { return !col.Ended })
	head := []string{"RUNS", ">SEEDS"}
	if open {
		head = append(head, "STATE")
	}
	for _, diff := range c.Differs {
		head = append(head, diff.Key)
	}
	var rows []*sideRow
	for k := range c.Rows {
		if q := &c.Rows[k]; q.Better != "" && !q.everywhere() {
			rows = append(rows, q)
			head = append(head, ">"+strings.ToUpper(strings.ReplaceAll(q.Quantity, "_", " "))+unitInHead(q.Unit))
		}
	}
	t := document.NewTable(head...)
	for k, col := range c.Columns {
		if k == mostLines && !all {
			t.Add(slices.Insert(make([]string, len(head)-1), 0, fmt.Sprintf("… %d more", len(c.Columns)-k))...)
			break
		}
		cells := []string{col.Name, fmt.Sprint(len(col.Seeds))}
		if open {
			cells = append(cells, StateWord(col.Ended))
		}
		for _, diff := range c.Differs {
			cells = append(cells, settingCell(diff.Values[k]))
		}
		for _, q := range rows {
			cells = append(cells, q.cellText(q.Cells[k]))
		}
		t.Add(cells...)
	}
	d.Show(t)
}

func unitInHead(unit string) string {
	if unit == "" {
		return ""
	}
	return " [" + document.ShownUnit(unit) + "]"
}

// remarks say how the tables are to be read, and what they do not say.
func (c *comparison) remarks(all bool) []string {
	lines := []string{c.shared()}
	if len(c.Differs) == 0 && len(c.Columns) == 1 && c.count() > 1 {
		lines = append(lines, "nothing differs but the seed and where things are kept")
	}
	if c.has(func(one *sideCell) bool { return one.Low != nil }) {
		lines = append(lines, "[…, …] is the 95% interval of the mean: a bootstrap over the values of the seeds")
	}
	if c.has(func(one *sideCell) bool { return one.Inside && !one.same }) {
		lines = append(lines, c.noise())
	}
	if len(c.Columns) > mostLines && !all {
		lines = append(lines, "--all shows every line")
	}
	for _, col := range c.Columns {
		lines = append(lines, col.copies())
	}
	return lines
}

// copies says which folders hold one of the runs again; it is empty where none does.
func (c *sideColumn) copies() string {
	switch n := len(c.Copies); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s: one folder has the same run again, to the bit, and is not counted: %s", c.Name, c.Copies[0])
	default:
		return fmt.Sprintf("%s: %d folders have the same runs again, to the bit, and are not counted: %s", c.Name, n, document.SomeOf(c.Copies, 3))
	}
}

// noise says what the mark means, and how many seeds it would take.
func (c *comparison) noise() string {
	first, fewest := c.Columns[0], len(c.Columns[0].Seeds)
	for _, col := range c.Columns[1:] {
		fewest = min(fewest, len(col.Seeds))
	}
	text := fmt.Sprintf("~ is no different from %s as far as can be told: chance alone divides the values so in more than 1 of %.0f cases", first.Name, float64(len(c.Columns)-1)/notable)
	if n := needed(len(c.Columns) - 1); fewest < n {
		text += fmt.Sprintf("; with fewer than %d seeds on each side nothing can be told apart", n)
	}
	return text
}

func (c *comparison) has(is func(*sideCell) bool) bool {
	for _, q := range c.Rows {
		if slices.ContainsFunc(q.Cells, func(one *sideCell) bool { return one != nil && is(one) }) {
			return true
		}
	}
	return false
}
