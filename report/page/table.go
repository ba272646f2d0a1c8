package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"graft/report/document"
	"graft/results"
)

// longCell is the length in bytes above which a cell wraps.
const longCell = 32

func (t *Table) view() (*tableView, error) {
	view := &tableView{Pick: t.Pick, Filter: t.Filter}
	for k, c := range t.Columns {
		view.Columns = append(view.Columns, columnView{c, slices.Contains(t.Fixed, c.Name), t.columnClass(k)})
	}
	if t.Nest != nil && (len(t.Nest.Keys) != len(t.Rows) || len(t.Nest.Parents) != len(t.Rows)) {
		return nil, fmt.Errorf("table %q: got %d keys and %d parents for %d rows; expected one of each per row",
			t.Caption, len(t.Nest.Keys), len(t.Nest.Parents), len(t.Rows))
	}
	inside := t.Nest.counts()
	if t.Pick != nil && len(t.Pick.Values) != len(t.Rows) {
		return nil, fmt.Errorf("table %q: got %d selection values for %d rows; expected one per row", t.Caption,
			len(t.Pick.Values), len(t.Rows))
	}
	for k, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return nil, fmt.Errorf("table %q: row %d has %d cells, expected %d", t.Caption, k+1, len(row),
				len(t.Columns))
		}
		shown := rowView{Cells: make([]cellView, len(row))}
		for c, cell := range row {
			var err error
			if shown.Cells[c], err = viewOf(cell, t.Columns[c]); err != nil {
				return nil, fmt.Errorf("table %q: row %d: %w", t.Caption, k+1, err)
			}
			shown.Cells[c].Head = c == 0 && !t.Columns[0].Number
			shown.Cells[c].Class = strings.TrimSpace(shown.Cells[c].Class + t.cellClass(view.Columns[c], cell))
		}
		if t.Nest != nil {
			shown.Key, shown.In, shown.Inside = t.Nest.Keys[k], t.Nest.Parents[k], inside[t.Nest.Keys[k]]
		}
		if t.Pick != nil && t.Pick.Values[k] != "" {
			shown.Chosen, shown.Label = t.Pick.Values[k], t.Pick.Button+" "+shown.Cells[0].Text
		}
		view.Rows = append(view.Rows, shown)
	}
	return view, nil
}

// columnClass returns the CSS classes of a column, without the class of numbers.
func (t *Table) columnClass(k int) (class string) {
	if slices.ContainsFunc(t.Rows, func(row []document.Cell) bool { return k < len(row) && row[k].Picture != nil }) {
		class += " drawn"
	}
	if t.Filter != nil && slices.Contains(t.Filter.Minor, t.Columns[k].Name) {
		class += " minor"
	}
	return class
}

// cellClass returns the classes of a cell's column, and marks a missing value, which a narrow window leaves out.
func (t *Table) cellClass(column columnView, c document.Cell) string {
	if t.Filter != nil && c.String() == "-" {
		return column.Class + " none"
	}
	return column.Class
}

// counts returns the number of rows inside each row that contains some.
func (n *Nest) counts() map[string]int {
	inside := map[string]int{}
	if n != nil {
		for _, parent := range n.Parents {
			inside[parent]++
		}
		delete(inside, "")
	}
	return inside
}

// lookClasses are the CSS classes of looks.
var lookClasses = map[results.Look]string{results.Up: " up", results.Down: " down", results.Choice: " pick"}

func viewOf(c document.Cell, column document.Column) (cellView, error) {
	v := cellView{Text: strings.TrimRight(c.String(), " "), Link: c.Link}
	switch {
	case column.Number:
		v.Class, v.Value = "n", c.SortKey()
		if c.Number != nil && column.Unit == "" {
			v.Unit = cmp.Or(c.Group, c.Unit)
		}
	case len(v.Text) > longCell:
		v.Class = "long" // its words wrap
	}
	v.Class = strings.TrimSpace(v.Class + lookClasses[c.Look])
	if c.Picture == nil {
		return v, nil
	}
	if err := checkSVG(c.Picture); err != nil {
		return v, fmt.Errorf("picture: %w", err)
	}
	v.Picture = template.HTML(c.Picture)
	return v, nil
}
