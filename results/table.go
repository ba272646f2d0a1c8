package results

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"graft/internal/files"
)

// Table is a table read into memory. The zero value has no columns.
type Table struct {
	Columns []Column // columns of the table; a column without values has the kind Float
	Rows    int      // number of rows
	Torn    bool     // the file ends in an incomplete row, which was skipped

	data map[string]*series
}

// series holds the values of a column.
type series struct {
	kind    Kind
	known   bool // false before the first value
	bits    []uint64
	texts   []string // for strings only
	missing map[int]bool
}

// ReadStream reads a table. The table may grow during the call: an incomplete last row is skipped. If the table has
// content that a Stream cannot write, the error names the file and the line.
func ReadStream(fsys files.FS, path string) (*Table, error) {
	t := &Table{data: map[string]*series{}}
	if err := ReadTable(fsys, path, func(r io.Reader) error { return t.read(r, path) }); err != nil {
		return nil, fmt.Errorf("read table %s: %w", path, err)
	}
	t.settle()
	return t, nil
}

func (t *Table) read(r io.Reader, path string) (err error) {
	var cells []cell
	t.Torn, err = EachLine(r, func(n int, line []byte) (err error) {
		text := string(bytes.TrimSuffix(line, []byte("\n")))
		if n == 1 {
			err = t.readHead(text)
		} else if cells, err = parseRow(text, cells[:0]); err == nil {
			err = t.add(cells)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		return nil
	})
	if err == nil && len(t.Columns) == 0 {
		err = fmt.Errorf("%s:1: the header line is missing", path)
	}
	return err
}

// readHead reads the names and units of the columns.
func (t *Table) readHead(line string) error {
	for text := range strings.SplitSeq(line, ",") {
		c := Column{Name: text}
		if name, unit, ok := strings.Cut(text, " ["); ok && strings.HasSuffix(unit, "]") {
			c = Column{Name: name, Unit: strings.TrimSuffix(unit, "]")}
		}
		t.Columns = append(t.Columns, c)
		t.data[c.Name] = &series{missing: map[int]bool{}}
	}
	return checkColumns(t.Columns)
}

// add adds a row.
func (t *Table) add(cells []cell) error {
	if len(cells) != len(t.Columns) {
		return fmt.Errorf("expected %d values, got %d", len(t.Columns), len(cells))
	}
	for k, c := range t.Columns {
		s := t.data[c.Name]
		if s.known && !cells[k].missing && s.kind != cells[k].kind {
			return fmt.Errorf("column %s: a value has kind %s, but earlier values have kind %s", c.Name,
				cells[k].kind, s.kind)
		}
		s.add(t.Rows, cells[k])
	}
	t.Rows++
	return nil
}

func (s *series) add(row int, c cell) {
	if c.missing {
		s.missing[row] = true
	} else if !s.known {
		s.known, s.kind = true, c.kind
	}
	s.bits = append(s.bits, c.bits)
	if s.kind == String {
		s.texts = append(s.texts, make([]string, row-len(s.texts))...)
		s.texts = append(s.texts, c.text)
	}
}

// settle sets the kinds of the columns.
func (t *Table) settle() {
	for k, c := range t.Columns {
		t.Columns[k].Kind = t.data[c.Name].kind
	}
}

func (t *Table) series(name string) (*series, error) {
	s := t.data[name]
	if s == nil {
		return nil, fmt.Errorf("unknown column %q; expected one of: %q", name, t.Columns)
	}
	return s, nil
}

// Floats returns the values of a column of the kind Float or Int. Missing values are NaN.
func (t *Table) Floats(name string) ([]float64, error) {
	s, err := t.series(name)
	if err != nil {
		return nil, err
	}
	if s.kind != Float && s.kind != Int {
		return nil, fmt.Errorf("column %s has kind %s, expected numbers", name, s.kind)
	}
	values := make([]float64, t.Rows)
	for row, bits := range s.bits {
		switch {
		case s.missing[row]:
			values[row] = math.NaN()
		case s.kind == Int:
			values[row] = float64(int64(bits))
		default:
			values[row] = math.Float64frombits(bits)
		}
	}
	return values, nil
}

// Numbers returns the values of numeric columns by name. Missing values are NaN.
func (t *Table) Numbers(names ...string) (map[string][]float64, error) {
	columns := map[string][]float64{}
	for _, name := range names {
		values, err := t.Floats(name)
		if err != nil {
			return nil, err
		}
		columns[name] = values
	}
	return columns, nil
}

// Strings returns the values of a column of strings. Missing values are empty.
func (t *Table) Strings(name string) ([]string, error) {
	s, err := t.series(name)
	if err != nil {
		return nil, err
	}
	if s.known && s.kind != String {
		return nil, fmt.Errorf("column %s has kind %s, expected string", name, s.kind)
	}
	values := make([]string, t.Rows)
	copy(values, s.texts)
	return values, nil
}
