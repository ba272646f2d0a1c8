package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// mostLevels is the maximum number of texts of a column: codes have 16 bits, and one code is the missing text.
const mostLevels = math.MaxUint16

// Value is a cell of a table: a number in a numeric column, or a string in a text column. NaN and the empty string are
// missing values. The zero value is the number zero.
type Value struct {
	Number float64 // value in a numeric column, rounded to float32
	Text   string  // value in a text column
}

// Table holds rows of features with a target. Columns are added one after another. If columns are invalid, [Table.Err]
// and Fit return the first error. The zero value is an empty table.
type Table struct {
	columns []column
	target  []float64
	fault   error
}

type column struct {
	name    string
	numbers []float32 // numeric column; NaN if missing
	codes   []uint16  // text column: indexes into levels
	levels  []string  // texts; the first is empty and means missing
}

func (c *column) isText() bool { return c.levels != nil }

func (c *column) rows() int { return max(len(c.numbers), len(c.codes)) }

// AddNumbers adds a numeric column, stored as float32. NaN is a missing value. A value that is infinite as a float32 is
// an error.
func (t *Table) AddNumbers(name string, values []float64) {
	c := column{name: name, numbers: make([]float32, len(values))}
	for row, v := range values {
		c.numbers[row] = float32(v)
		if math.IsInf(float64(c.numbers[row]), 0) {
			t.fail(fmt.Errorf("column %s, row %d: %v is not a finite float32; use NaN for missing values", name, row,
				v))
			return
		}
	}
	t.add(c)
}

// AddTexts adds a column of categories, given as strings. The empty string is a missing value.
func (t *Table) AddTexts(name string, values []string) {
	c := column{name: name, codes: make([]uint16, len(values)), levels: []string{""}}
	known := map[string]uint16{"": 0}
	for row, text := range values {
		code, ok := known[text]
		if !ok {
			if !utf8.ValidString(text) {
				t.fail(fmt.Errorf("column %s, row %d: %q is not valid UTF-8; convert it", name, row, text))
				return
			}
			if len(c.levels) > mostLevels {
				t.fail(fmt.Errorf("column %s has more than %d distinct strings; merge rare ones", name, mostLevels))
				return
			}
			code = uint16(len(c.levels))
			known[text] = code
			c.levels = append(c.levels, text)
		}
		c.codes[row] = code
	}
	t.add(c)
}

// SetTarget sets the target of each row. A table for prediction needs no target.
func (t *Table) SetTarget(values []float64) {
	for row, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.fail(fmt.Errorf("target, row %d: %v is not a finite number; remove the row", row, v))
			return
		}
	}
	if len(t.columns) > 0 && len(values) != t.Rows() {
		t.fail(fmt.Errorf("the target has %d rows; expected %d, as in the columns", len(values), t.Rows()))
		return
	}
	t.target = slices.Clone(values)
}

func (t *Table) add(c column) {
	rows := c.rows()
	switch {
	case c.name == "":
		t.fail(errors.New("a column has no name; name it"))
	case t.find(c.name) >= 0:
		t.fail(fmt.Errorf("duplicate column %s; remove or rename one", c.name))
	case len(t.columns) > 0 && rows != t.Rows() || t.target != nil && rows != len(t.target):
		t.fail(fmt.Errorf("column %s has %d rows; expected %d, as in the other columns", c.name, rows, t.Rows()))
	default:
		t.columns = append(t.columns, c)
	}
}

func (t *Table) fail(err error) {
	if t.fault == nil {
		t.fault = err
	}
}

// Err returns the first error in the added data, or nil if there is none.
func (t *Table) Err() error { return t.fault }

// Rows returns the number of rows.
func (t *Table) Rows() int {
	if len(t.columns) > 0 {
		return t.columns[0].rows()
	}
	return len(t.target)
}

// Names returns the names of the columns in the order in which they were added.
func (t *Table) Names() []string {
	return mapped(t.columns, func(c column) string { return c.name })
}

// Target returns the target of each row, or nil if it was not set. Callers must not modify the slice.
func (t *Table) Target() []float64 { return t.target }

// Row returns the values of a row in the order of the columns, for Predict.
func (t *Table) Row(row int) []Value {
	values := make([]Value, len(t.columns))
	for k := range t.columns {
		if c := &t.columns[k]; c.isText() {
			values[k].Text = c.levels[c.codes[row]]
		} else {
			values[k].Number = float64(c.numbers[row])
		}
	}
	return values
}

// Pick returns a table with the given rows, in the given order.
func (t *Table) Pick(rows []int) *Table {
	picked := &Table{fault: t.fault}
	for _, c := range t.columns {
		if c.isText() {
			c.codes = pick(c.codes, rows)
		} else {
			c.numbers = pick(c.numbers, rows)
		}
		picked.columns = append(picked.columns, c)
	}
	if t.target != nil {
		picked.target = pick(t.target, rows)
	}
	return picked
}

// Without returns a table without the named columns. Unknown names are ignored.
func (t *Table) Without(names ...string) *Table {
	left := &Table{target: t.target, fault: t.fault}
	for _, c := range t.columns {
		if !slices.Contains(names, c.name) {
			left.columns = append(left.columns, c)
		}
	}
	return left
}

// Idle returns the columns without information: columns with the same value in all rows, or without values.
func (t *Table) Idle() []string {
	var names []string
	for k := range t.columns {
		if c := &t.columns[k]; c.isIdle() {
			names = append(names, c.name)
		}
	}
	return names
}

func (c *column) isIdle() bool {
	if c.isText() {
		return len(c.codes) == 0 || !slices.ContainsFunc(c.codes, func(code uint16) bool { return code != c.codes[0] })
	}
	return len(c.numbers) == 0 || !slices.ContainsFunc(c.numbers, func(v float32) bool {
		return v != c.numbers[0] && !(isNaN(v) && isNaN(c.numbers[0]))
	})
}

// isMissing reports whether no row has a value.
func (c *column) isMissing() bool {
	if c.isText() {
		return !slices.ContainsFunc(c.codes, func(code uint16) bool { return code != 0 })
	}
	return !slices.ContainsFunc(c.numbers, func(v float32) bool { return !isNaN(v) })
}

// find returns the index of a column; negative if none exists.
func (t *Table) find(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

func isNaN(v float32) bool { return v != v }

func pick[T any](values []T, rows []int) []T {
	return mapped(rows, func(row int) T { return values[row] })
}

func mapped[A, B any](list []A, of func(A) B) []B {
	made := make([]B, len(list))
	for k, v := range list {
		made[k] = of(v)
	}
	return made
}
