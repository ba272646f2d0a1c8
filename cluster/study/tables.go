package study

import (
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"graft/internal/files"
	"graft/results"
)

// Tables that figures and reports read. Worlds may write other tables.
const (
	// JobsTable has one row per job: JobColumn, jct with its unit and, if the world records them, arrival, start and
	// end in the same unit.
	JobsTable   = "jobs"
	SeriesTable = "series" // SeriesTable has quantities over time. Its first column is the time.
	// SpansTable has one row per period in which a job had devices, with the columns SpanColumns.
	SpansTable       = "spans"
	AllocationsTable = "allocations" // AllocationsTable has one row per change of a job's devices.
)

// JobColumn is the name of the column with the job's name, in all tables.
const JobColumn = "job"

// SpanColumns returns the columns of SpansTable that figures read. The spans table may have more columns.
func SpanColumns() []results.Column {
	return []results.Column{
		{Name: JobColumn, Kind: results.String}, {Name: "group", Kind: results.String},
		{Name: "device", Kind: results.Int}, {Name: "lane", Kind: results.Int},
		{Name: "from", Unit: "s"}, {Name: "to", Unit: "s"}, {Name: "end", Kind: results.String},
	}
}

// Tables writes the tables of a simulation. The methods of a nil Tables write nothing.
type Tables struct {
	fsys   files.FS
	folder string
}

// Write writes a table atomically. The callback adds the rows.
func (t *Tables) Write(name string, columns []results.Column, body func(r *Rows) error) error {
	if t == nil {
		return body(&Rows{to: io.Discard})
	}
	var failed error // error of body, which says more than the error of writing
	err := files.WriteAtomic(t.fsys, filepath.Join(t.folder, name+".csv"), func(w io.Writer) error {
		r := &Rows{to: w}
		for _, c := range columns {
			r.Text(c.String())
		}
		r.End()
		if failed = body(r); failed != nil {
			return failed
		}
		return r.flush()
	})
	if failed != nil {
		return failed
	}
	return err
}

// WriteTo writes a table atomically. The callback writes the table's text.
func (t *Tables) WriteTo(name string, write func(w io.Writer) error) error {
	if t == nil {
		return write(io.Discard)
	}
	return files.WriteAtomic(t.fsys, filepath.Join(t.folder, name+".csv"), write)
}

// Rows writes the rows of a table, value by value. It stops at the first error.
type Rows struct {
	to     io.Writer
	line   []byte
	begun  bool // the row has a value
	failed error
}

// rowsBuffer is the number of buffered bytes at which rows are written.
const rowsBuffer = 1 << 16

func (r *Rows) next() {
	if r.begun {
		r.line = append(r.line, ',')
	}
	r.begun = true
}

// Text adds a string, quoted if CSV requires it.
func (r *Rows) Text(v string) *Rows {
	r.next()
	if !strings.ContainsAny(v, "\",\r\n") {
		r.line = append(r.line, v...)
		return r
	}
	r.line = append(r.line, '"')
	r.line = append(r.line, strings.ReplaceAll(v, `"`, `""`)...)
	r.line = append(r.line, '"')
	return r
}

// Int adds a whole number.
func (r *Rows) Int(v int64) *Rows {
	r.next()
	r.line = strconv.AppendInt(r.line, v, 10)
	return r
}

// Ints adds whole numbers.
func (r *Rows) Ints(list ...int) *Rows {
	for _, v := range list {
		r.Int(int64(v))
	}
	return r
}

// Float adds a number with the fewest digits that read back as the same number, always with a decimal point or an
// exponent. NaN is an empty cell.
func (r *Rows) Float(v float64) *Rows {
	r.next()
	switch size := math.Abs(v); {
	case math.IsNaN(v):
	case size >= 1e21 || size < 1e-4 && v != 0:
		r.line = strconv.AppendFloat(r.line, v, 'e', -1, 64)
	case size == math.Trunc(size):
		r.line = strconv.AppendFloat(r.line, v, 'f', 1, 64)
	default:
		r.line = strconv.AppendFloat(r.line, v, 'f', -1, 64)
	}
	return r
}

// Floats adds numbers.
func (r *Rows) Floats(list ...float64) *Rows {
	for _, v := range list {
		r.Float(v)
	}
	return r
}

// Bool adds true or false.
func (r *Rows) Bool(v bool) *Rows {
	r.next()
	r.line = strconv.AppendBool(r.line, v)
	return r
}

// End ends the row.
func (r *Rows) End() {
	r.line, r.begun = append(r.line, '\n'), false
	if len(r.line) >= rowsBuffer {
		_ = r.flush() // body's End returns its error
	}
}

func (r *Rows) flush() error {
	if r.failed == nil {
		_, r.failed = r.to.Write(r.line)
	}
	r.line = r.line[:0]
	return r.failed
}
