package page

import (
	"strings"

	"graft/results/cell"
)

// TableOf converts a table of a report; its shown numbers are the sort keys. Above most
// rows the middle is left out, and the number of rows left out is returned. With most
// zero or below all rows are shown.
func TableOf(from *cell.Table, most int) (*Table, int) {
	t := &Table{}
	for _, c := range from.Columns {
		t.Columns = append(t.Columns, Column{Name: cell.Text(c.Label()).String(), Unit: c.Unit.Shown(), Number: c.Number})
	}
	rows, left := from.Rows, 0
	if most > 0 && len(rows) > most {
		left = len(rows) - most
		rows = append(rows[:most/2:most/2], rows[len(rows)-most/2:]...)
	}
	for _, row := range rows {
		t.Rows = append(t.Rows, cellsOf(row, from.Columns))
	}
	return t, left
}

func cellsOf(row []cell.Cell, columns []cell.Column) []Cell {
	cells := make([]Cell, len(row))
	for k, c := range row {
		cells[k] = Cell{Text: strings.TrimRight(c.String(), " ")}
		if columns[k].Number {
			cells[k].Value = c.Shown()
		}
		if columns[k].Number && columns[k].Unit == "" {
			cells[k].Unit = c.Unit.Shown()
		}
	}
	return cells
}
