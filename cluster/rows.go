package cluster

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"graft/internal/files"
)

// maxTableBytes is the maximum size of a table file.
const maxTableBytes = 1 << 30

// ReadRows reads a CSV table with a header, and passes every row to the callback. Errors name the file, the line and
// the column.
func ReadRows(fsys files.FS, path string, each func(r *Row) error) error {
	f, err := fsys.Open(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	limited := &io.LimitedReader{R: f, N: maxTableBytes}
	c := csv.NewReader(limited)
	c.ReuseRecord = true
	header, err := c.Read()
	if err != nil {
		return fmt.Errorf("read %s: expected a header with column names: %w", path, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // spreadsheets write it
	r := &Row{path: path, at: map[string]int{}}
	for k, name := range header {
		if _, twice := r.at[name]; twice && name != "" {
			return fmt.Errorf("read %s: the header has the column %q twice; remove one of the columns", path, name)
		}
		r.at[name] = k
	}
	for {
		r.cells, err = c.Read()
		if limited.N <= 0 {
			return fmt.Errorf("read %s: the file is larger than the limit of %d bytes; split it", path, maxTableBytes)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		r.line, _ = c.FieldPos(0)
		if err := each(r); err != nil {
			return err
		}
		if r.fault != nil {
			return r.fault
		}
	}
}

// Row is a row of a table. The row stores its first error, and [ReadRows] then stops.
type Row struct {
	path  string
	line  int
	at    map[string]int
	cells []string
	fault error
}

// Has reports whether the table has a column.
func (r *Row) Has(column string) bool { _, ok := r.at[column]; return ok }

// Text returns the cell of a column.
func (r *Row) Text(column string) string {
	k, ok := r.at[column]
	if !ok {
		if r.fault == nil {
			r.fault = fmt.Errorf("read %s: column %q is missing; add it to the header", r.path, column)
		}
		return ""
	}
	return r.cells[k]
}

// Number returns the cell of a column as a finite number.
func (r *Row) Number(column string) float64 {
	text := r.Text(column)
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		r.Expect(false, column, "a number")
	}
	return x
}

// Whole returns the cell of a column as a whole number.
func (r *Row) Whole(column string) int {
	x, err := strconv.Atoi(r.Text(column))
	r.Expect(err == nil, column, "a whole number")
	return x
}

// Expect reports the cell of a column as invalid unless ok is true. The error quotes the cell and the expected content.
func (r *Row) Expect(ok bool, column, expected string) {
	if !ok && r.fault == nil {
		r.fault = fmt.Errorf("read %s:%d: column %q is %q; expected %s", r.path, r.line, column, r.Text(column),
			expected)
	}
}
