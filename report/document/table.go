package document

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Column describes a column of a table.
type Column struct {
	Name   string // name in lower-case words, which a terminal shows in capitals
	Unit   string // unit of the column's numbers; empty for none, or if cells have their own units
	Format string // format of the column's numbers, as in [Cell]
	Number bool   // cells are numbers, aligned to the right
	Given  bool   // the name is data, such as the name of a run, and is shown unchanged
	Wrap   int    // width in characters at which a terminal wraps texts; zero means no wrapping
}

// Table holds rows of cells. A row has one cell per column.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// NewTable creates a table of text columns without rows.
func NewTable(texts ...string) *Table { return (&Table{}).Texts(texts...) }

// Texts adds columns of text.
func (t *Table) Texts(names ...string) *Table {
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	return t
}

// Numbers adds columns of numbers with a unit. Their column headers show the unit unless the format contains it.
func (t *Table) Numbers(unit, format string, names ...string) *Table {
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name, Unit: unit, Format: format, Number: true})
	}
	return t
}

// Given adds a column whose name comes from the data, such as the name of a run, and is shown unchanged. The argument
// number states whether the cells are numbers.
func (t *Table) Given(name string, number bool) *Table {
	t.Columns = append(t.Columns, Column{Name: name, Number: number, Given: true})
	return t
}

// Wrap sets the width at which terminals wrap the text of the last column.
func (t *Table) Wrap(width int) { t.Columns[len(t.Columns)-1].Wrap = width }

// Add adds a row with one value per column: a cell, a string or a number. A nil pointer to a number becomes a cell that
// shows a dash. Omitted values at the end are empty, and surplus values are dropped.
func (t *Table) Add(values ...any) {
	row := make([]Cell, len(t.Columns))
	for k, v := range values[:min(len(values), len(row))] {
		row[k] = t.Columns[k].cell(v)
	}
	t.Rows = append(t.Rows, row)
}

// Anys converts a slice to the arguments of [Table.Add].
func Anys[T any](values []T) []any {
	list := make([]any, len(values))
	for k, v := range values {
		list[k] = v
	}
	return list
}

func (c Column) cell(value any) Cell {
	number := func(v float64, format string) Cell { return Cell{Number: &v, Unit: c.Unit, Format: format} }
	switch v := value.(type) {
	case Cell:
		if v.Unit == "" {
			v.Unit, v.Format = c.Unit, cmp.Or(v.Format, c.Format)
		}
		return v
	case int:
		return c.cell(int64(v))
	case int64:
		if max(v, -v) > 1<<53 || v == math.MinInt64 { // a float64 would lose digits
			return Text(fmt.Sprint(v))
		}
		return number(float64(v), cmp.Or(c.Format, wholeFormat))
	case float64:
		return number(v, c.Format)
	case *float64:
		if v == nil {
			return Missing()
		}
		return number(*v, c.Format)
	}
	return Text(fmt.Sprint(value))
}

// ShownUnit returns the unit in the column's header. It is empty if the format or the name already contains the unit.
func (c Column) ShownUnit() string {
	unit := UnitText(c.Unit)
	if strings.HasSuffix(c.Format, unit) || c.Name == unit {
		return ""
	}
	return unit
}

// Label returns the column's name with a capital first letter, such as "Train loss". A name that comes from the data
// stays unchanged.
func (c Column) Label() string {
	if c.Given || c.Name == "" {
		return Printable(c.Name)
	}
	return Capitalized(c.Name)
}

// head returns the name on a terminal and in Markdown: "TRAIN LOSS [nats]".
func (c Column) head() string {
	if c.Given {
		return Printable(c.Name)
	}
	return strings.ToUpper(Printable(c.Name)) + inBrackets(c.ShownUnit())
}

func inBrackets(unit string) string {
	if unit == "" {
		return ""
	}
	return " [" + unit + "]"
}

// texts returns the heads and the rows for display, and which columns are aligned at the right.
func (t *Table) texts() (lines [][]string, right []bool) {
	lines = append(lines, nil)
	for _, c := range t.Columns {
		lines[0], right = append(lines[0], c.head()), append(right, c.Number)
	}
	for _, row := range t.Rows {
		var line []string
		for _, c := range row {
			line = append(line, c.String())
		}
		lines = append(lines, line)
	}
	return lines, right
}

// Print writes the column headers and the rows, aligned for a terminal.
func (t *Table) Print(w io.Writer) error {
	_, err := io.WriteString(w, aligned(t.terminal()))
	return err
}

// terminal extends texts by a line for each line of wrapped cells.
func (t *Table) terminal() (lines [][]string, right []bool) {
	rows, right := t.texts()
	for k, row := range rows {
		parts := make([][]string, len(row))
		tallest := 1
		for c, text := range row {
			parts[c] = []string{text}
			if width := t.Columns[c].Wrap; width > 0 && k > 0 {
				parts[c] = wrapped(text, width)
			}
			tallest = max(tallest, len(parts[c]))
		}
		for at := range tallest {
			line := make([]string, len(row))
			for c := range row {
				if at < len(parts[c]) {
					line[c] = parts[c][at]
				}
			}
			lines = append(lines, line)
		}
	}
	return lines, right
}

// aligned formats lines of texts as aligned columns.
func aligned(lines [][]string, right []bool) string {
	widths := make([]int, len(right))
	for _, line := range lines {
		for k, text := range line {
			widths[k] = max(widths[k], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		var row strings.Builder
		for k, text := range line {
			blanks := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(text))
			if right[k] {
				text, blanks = blanks+text, ""
			}
			row.WriteString(text + blanks + "  ")
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return b.String()
}

// markdown formats lines of texts as a Markdown table.
func markdown(lines [][]string, right []bool) string {
	var b strings.Builder
	for k, line := range lines {
		b.WriteString("|")
		for _, text := range line {
			b.WriteString(" " + markdownText(strings.TrimRight(text, " ")) + " |")
		}
		b.WriteString("\n")
		for c := 0; k == 0 && c < len(right); c++ {
			b.WriteString(map[bool]string{true: "| ---: ", false: "| --- "}[right[c]])
		}
		if k == 0 {
			b.WriteString("|\n")
		}
	}
	return b.String()
}

// CSV writes the table as CSV, with unrounded values in the units of the column headers. A missing value is an empty
// cell.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := make([]string, len(t.Columns))
	for k, c := range t.Columns {
		head[k] = noFormula(c.Name + inBrackets(c.Unit))
	}
	_ = out.Write(head) // Error returns the first error
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for k, c := range row {
			if line[k] = c.exact(); c.Number == nil {
				line[k] = noFormula(line[k])
			}
		}
		_ = out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// formulaStarts are the first characters of cells that spreadsheets read as formulas or skip before a formula.
const formulaStarts = "=+-@\t\r\n"

// noFormula returns a text that spreadsheets do not read as a formula: it puts an apostrophe before a text that begins
// like one, unless it is a number.
func noFormula(text string) string {
	if text == "" || !strings.Contains(formulaStarts, text[:1]) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

// Middle returns a table without the rows in the middle, so that at most the given number of rows remain, and the
// number of omitted rows. If most is zero, all rows are kept.
func (t *Table) Middle(most int) (*Table, int) {
	left := len(t.Rows) - most
	if most == 0 || left <= 0 {
		return t, 0
	}
	return &Table{t.Columns, slices.Concat(t.Rows[:most/2], t.Rows[len(t.Rows)-most/2:])}, left
}
