package results

import (
	"fmt"
	"strings"
)

// Column describes a table's column by name, unit and type.
type Column struct {
	Name string // name of the measurement, unique in its table and not empty
	Unit string // unit of the numbers, such as "s"; empty for a count or a share
	Kind Kind   // type of the values; zero means Float
}

// String returns the column heading for the first line of a table: the name, followed by the unit in brackets if there
// is one.
func (c Column) String() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " [" + c.Unit + "]"
}

// Stream is a table of a run to which rows are appended. Create it with Run.Stream; the zero value is not usable. It is
// safe for concurrent use. After a failed write, all later writes fail, because the file may end in an incomplete row.
type Stream struct {
	rows
	columns []Column
}

// Stream opens a table, NAME.csv, and creates it if it is missing. An existing table must have the same columns.
func (r *Run) Stream(name string, columns []Column) (*Stream, error) {
	if err := checkColumns(columns); err != nil {
		return nil, fmt.Errorf("open table %s: %w", name, err)
	}
	a, err := r.appender(name+tableSuffix, headOf(columns))
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", name, err)
	}
	s := &Stream{rows: rows{a}, columns: columns}
	if err := s.checkKinds(); err != nil {
		return nil, fmt.Errorf("open table %s: %s:2: %w", name, a.path, err)
	}
	return s, nil
}

func headOf(columns []Column) string {
	names := make([]string, len(columns))
	for k, c := range columns {
		names[k] = c.String()
	}
	return strings.Join(names, ",") + "\n"
}

// checkColumns returns an error for columns that a first line cannot represent.
func checkColumns(columns []Column) error {
	if len(columns) == 0 {
		return fmt.Errorf("the table has no columns; expected at least one")
	}
	seen := map[string]bool{}
	for _, c := range columns {
		switch {
		case c.Name == "" || seen[c.Name]:
			return fmt.Errorf("column %q: expected a unique, non-empty name", c.Name)
		case strings.ContainsAny(c.Name+c.Unit, "[],\"\r\n") || strings.TrimSpace(c.Name) != c.Name:
			return fmt.Errorf("column %q: names and units must not contain brackets, commas, quotes, "+
				"line breaks or surrounding spaces", c)
		case c.Kind.String() == "":
			return fmt.Errorf("column %q: unknown kind %d", c.Name, c.Kind)
		}
		seen[c.Name] = true
	}
	return nil
}

// checkKinds compares the columns with the first row of an existing table.
func (s *Stream) checkKinds() error {
	s.a.mu.Lock()
	first := s.a.at.first
	s.a.mu.Unlock()
	if first == "" {
		return nil
	}
	cells, err := parseRow(first, nil)
	if err != nil {
		return err
	}
	for k, c := range cells {
		if k < len(s.columns) && !c.missing && c.kind != s.columns[k].Kind {
			return fmt.Errorf("column %s has values of kind %s, expected %s", s.columns[k].Name, c.kind,
				s.columns[k].Kind)
		}
	}
	return nil
}

// Append adds a row, one value per column: an integer of any size, a float32 or float64, a string, a bool, or nil for a
// missing value. It writes the row at once unless the stream is buffered. If a value is invalid, the table is
// unchanged.
func (s *Stream) Append(values ...any) error {
	line, err := formatRow(s.columns, values)
	if err != nil {
		return fmt.Errorf("append to %s: %w", s.a.path, err)
	}
	return s.a.append(line)
}

// Buffer sets the number of rows per write. Zero and one both mean that each row is written at once, which is the
// default. Buffered rows are lost if the process is killed. Checkpoints, Sync and Close write all buffered rows.
func (s *Stream) Buffer(rows int) error { return s.a.group(rows) }
