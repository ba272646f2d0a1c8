package document

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"graft/results"
)

// Cell is a value in a table: a number, an interval or text. The zero value is an empty cell.
type Cell struct {
	Text      string   // text to show if there is neither a number nor an interval
	None      bool     // the cell has no value, shown as a dash
	Number    *float64 // number in Unit; nil for a text or for an interval alone
	Low, High *float64 // ends of the interval in Unit; both or neither are set
	Unit      string   // unit such as share or s; empty means a count, a ratio, or the unit of the column
	// fmt verb for the number, followed by a unit; empty means the default for the unit
	Format string
	Before string       // mark in front of the number
	After  string       // mark behind the number
	Group  string       // group within which a page sorts numbers; empty means Unit
	Look   results.Look // appearance on a page
	Link   string       // target path of the text on a page; empty means no link
	// text that a page shows instead of the number; the page still sorts rows by the number. Empty shows the number.
	Instead string
	// Picture is an SVG element that a web page shows before the text; nil means none.
	Picture []byte
}

// Text returns a cell that shows text.
func Text(text string) Cell { return Cell{Text: text} }

// Missing returns a cell for a missing value, which is shown as a dash.
func Missing() Cell { return Cell{None: true} }

// Value returns a cell that shows a number.
func Value(v float64, unit string) Cell { return Cell{Number: &v, Unit: unit} }

// Between returns a cell that shows only an interval, or Missing if an end is nil.
func Between(low, high *float64, unit string) Cell {
	if low == nil || high == nil {
		return Missing()
	}
	return Cell{Low: low, High: high, Unit: unit}
}

// As returns a copy of the cell whose number has the given format, as in the field Format.
func (c Cell) As(format string) Cell {
	c.Format = format
	return c
}

// Then returns a copy of the cell, with text appended to its number.
func (c Cell) Then(format string, args ...any) Cell {
	c.After = fmt.Sprintf(format, args...)
	return c
}

// String returns the text that the cell shows, without control characters.
func (c Cell) String() string {
	switch {
	case c.Instead != "":
		return Printable(c.Instead)
	case c.None:
		return "-" + c.After
	case c.Number == nil && c.Low == nil:
		return Printable(c.Text)
	case c.Number == nil:
		return c.interval()
	}
	text := c.Before + c.shown(*c.Number, c.Format)
	if c.Low != nil {
		text += " " + c.interval()
	}
	return text + c.After
}

func (c Cell) interval() string {
	format := strings.ReplaceAll(c.Format, "+", "")
	return "[" + c.shown(*c.Low, format) + ", " + c.shown(*c.High, format) + "]"
}

// shown formats a number for display. Halves of points are rounded away from zero, and a number rounded to zero has no
// minus sign.
func (c Cell) shown(v float64, format string) string {
	format = cmp.Or(format, verb(v, c.Unit))
	switch {
	case c.Unit == UnitShare:
		v *= 100
	case c.Unit == UnitPoints && strings.HasSuffix(format, ".2f"):
		v = math.Round(100*v) / 100
	}
	text := fmt.Sprintf(format, v)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// wholeBelow is the limit below which whole and large numbers are written with all digits before the point.
const wholeBelow = 1e15

// verb is the format of numbers of a unit.
func verb(v float64, unit string) string {
	switch {
	case unit == UnitShare || unit == UnitPoints || unit == UnitSeconds:
		return "%.2f"
	case unit == UnitNats:
		return "%.4f"
	case (v == math.Trunc(v) || math.Abs(v) >= 1000) && math.Abs(v) < wholeBelow: // without an exponent
		return wholeFormat
	}
	return "%.4g"
}

// wholeFormat is the format of counts.
const wholeFormat = "%.0f"

// exact returns the value as data: a text, or the shortest number that reads back as the same bits.
func (c Cell) exact() string {
	switch {
	case c.Number == nil:
		return c.Text
	case c.Format == wholeFormat:
		return ShortText(*c.Number)
	}
	return Exact(*c.Number)
}

// SortKey returns the number by which a page sorts the cell. It returns an empty string if the cell has no number, or
// if the displayed text is exactly the number.
func (c Cell) SortKey() string {
	if c.Number == nil || math.IsNaN(*c.Number) {
		return ""
	}
	if v, err := strconv.ParseFloat(strings.TrimSpace(c.String()), 64); err == nil && v == *c.Number {
		return ""
	}
	return Exact(*c.Number)
}
