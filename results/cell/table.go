package cell

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Column is a column of a table.
type Column struct {
	Name     string // lower-case words; a terminal shows them in capitals
	Unit     Unit   // of all its numbers; empty for none, or where cells have their own
	Number   bool   // its cells are numbers, aligned at the right
	Given    bool   // the name is data, such as that of a run, and shown as it is
	Interval bool   // CSV has the columns low and high behind it
}

// Label is the name for people who read running text: "Train loss".
func (c Column) Label() string {
	if c.Given || c.Name == "" {
		return c.Name
	}
	return strings.ToUpper(c.Name[:1]) + c.Name[1:]
}

// head is the name on a terminal and in Markdown: "TRAIN LOSS [nats]".
func (c Column) head() string {
	if c.Given {
		return printable(c.Name)
	}
	return strings.ToUpper(printable(c.Name)) + c.unitBehind(c.Unit.Shown())
}

func (c Column) unitBehind(unit string) string {
	if unit == "" {
		return ""
	}
	return " [" + unit + "]"
}

// Table is rows of cells, one for each column.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// New returns a table without rows.
func New(columns ...Column) *Table { return &Table{Columns: columns} }

// Add adds a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Print writes aligned columns for a terminal.
func (t *Table) Print(w io.Writer) error {
	lines := t.texts(Column.head, Cell.String)
	widths := make([]int, len(t.Columns))
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
			if t.Columns[k].Number {
				text, blanks = blanks+text, ""
			}
			row.WriteString(text + blanks + "  ")
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// texts are the heads of the columns and the rows.
func (t *Table) texts(head func(Column) string, of func(Cell) string) [][]string {
	lines := [][]string{make([]string, len(t.Columns))}
	for k, c := range t.Columns {
		lines[0][k] = head(c)
	}
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for k, c := range row {
			line[k] = of(c)
		}
		lines = append(lines, line)
	}
	return lines
}

// Markdown is the table as GitHub reads it.
func (t *Table) Markdown() string {
	lines := t.texts(Column.head, Cell.String)
	rule := make([]string, len(t.Columns))
	for k, c := range t.Columns {
		rule[k] = map[bool]string{true: "---:", false: "---"}[c.Number]
	}
	var b strings.Builder
	for k, line := range lines {
		for i := range line {
			line[i] = Escape(strings.TrimRight(line[i], " "))
		}
		b.WriteString("| " + strings.Join(line, " | ") + " |\n")
		if k == 0 {
			b.WriteString("| " + strings.Join(rule, " | ") + " |\n")
		}
	}
	return b.String()
}

// markdownSigns have a meaning in Markdown.
var markdownSigns = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`)

// Escape writes a text so that Markdown shows it as it is.
func Escape(text string) string { return markdownSigns.Replace(printable(text)) }

// CSV writes the exact values, in the units that they were measured in. A missing one is
// empty.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var head []string
	for _, c := range t.Columns {
		head = append(head, c.Name+c.unitBehind(string(c.Unit)))
		if c.Interval {
			head = append(head, "low", "high")
		}
	}
	_ = out.Write(head) // Error returns the first error
	for _, row := range t.Rows {
		var line []string
		for k, c := range row {
			value, low, high := c.Exact()
			if !c.isNumber() && c != Missing() {
				value = c.Text
			}
			line = append(line, value)
			if t.Columns[k].Interval {
				line = append(line, low, high)
			}
		}
		_ = out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// MarshalJSON writes a list of rows, each an object with the columns' names as keys, in
// the order of the columns. Names are unique.
func (t *Table) MarshalJSON() ([]byte, error) {
	b := []byte("[")
	for n, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return nil, fmt.Errorf("row %d has %d cells for %d columns", n+1, len(row), len(t.Columns))
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for k, c := range row {
			if k > 0 {
				b = append(b, ',')
			}
			key, err := json.Marshal(t.Columns[k].Name)
			if err != nil {
				return nil, err
			}
			value, err := json.Marshal(c)
			if err != nil {
				return nil, err
			}
			b = append(append(append(b, key...), ':'), value...)
		}
		b = append(b, '}')
	}
	return append(b, ']'), nil
}
