package document

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is aligned columns for people. A column whose name begins with ">" is of
// numbers, and its cells end below each other.
type Table struct{ Rows [][]string }

func NewTable(columns ...string) *Table { return &Table{Rows: [][]string{columns}} }

func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Print writes the names of the columns and the rows.
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
