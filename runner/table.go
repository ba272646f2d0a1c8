package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is aligned columns for people. A column whose name begins with ">" is of
// numbers, and its cells end below each other.
type table struct{ rows [][]string }

func newTable(columns ...string) *table { return &table{rows: [][]string{columns}} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print writes the names of the columns and the rows.
func (t *table) print(w io.Writer) error {
	widths, right := make([]int, len(t.rows[0])), make([]bool, len(t.rows[0]))
	for k, name := range t.rows[0] {
		t.rows[0][k], right[k] = strings.CutPrefix(name, ">")
		for _, row := range t.rows {
			widths[k] = max(widths[k], utf8.RuneCountInString(row[k]))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
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
