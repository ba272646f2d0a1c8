package document

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table holds text cells in columns; the first row holds the column names. A column whose name
// begins with ">" is aligned to the right.
type Table struct{ Rows [][]string }

// NewTable makes a table without rows.
func NewTable(columns ...string) *Table { return &Table{Rows: [][]string{columns}} }

// Add adds a row with one cell for each column.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Print writes the column names and the rows, aligned for a terminal.
func (t *Table) Print(w io.Writer) error {
	widths, right := make([]int, len(t.Rows[0])), make([]bool, len(t.Rows[0]))
	for k, name := range t.Rows[0] {
		t.Rows[0][k], right[k] = strings.CutPrefix(name, ">")
		for _, row := range t.Rows {
			widths[k] = max(widths[k], utf8.RuneCountInString(row[k]))
		}
	}
	var b strings.Builder
	for _, row := range t.Rows {
		var text strings.Builder
		for k, cell := range row {
			blanks := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell))
			if right[k] {
				cell, blanks = blanks+cell, ""
			}
			text.WriteString(cell + blanks + "  ")
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	_, err := fmt.Fprint(w, b.String())
	return err
}
