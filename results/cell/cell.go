package cell

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Mark says something about a number beside it. The zero value says nothing.
type Mark int

// The marks of a number.
const (
	NoMark Mark = iota
	Room        // nothing, but room for the mark that other cells of the column have
	Noise       // "~" behind it: chance alone explains the difference
	Doubt       // "~" before it: chance alone explains the difference
)

// Cell is a value of a table: a number, an interval, or else a text. The zero value is
// an empty text.
type Cell struct {
	Number    *float64 // in Unit; nil for an interval alone or a text
	Unit      Unit     // zero is a plain count or ratio
	Digits    Digits   // zero follows the unit
	Sign      bool     // a plus stands before what is above zero
	WithUnit  bool     // the unit stands behind the number, not in the column's head
	Low, High *float64 // ends of its interval, both or none
	Mark      Mark
	Text      string // shown if there is neither a number nor an interval
}

// Text is a cell of text.
func Text(text string) Cell { return Cell{Text: text} }

// Missing is a cell without a value.
func Missing() Cell { return Text("-") }

// Int is a cell of a whole number.
func Int[N ~int | ~int64 | ~uint64](n N) Cell {
	return Cell{Number: new(float64(n)), Digits: Fixed(0)}
}

// Value is a cell of a number.
func Value(v float64, unit Unit) Cell { return Cell{Number: &v, Unit: unit} }

// Optional is a cell of a number, or Missing if it is nil.
func Optional(v *float64, unit Unit) Cell {
	if v == nil {
		return Missing()
	}
	return Value(*v, unit)
}

// Between is a cell of an interval alone, or Missing if an end is nil.
func Between(low, high *float64, unit Unit) Cell {
	if low == nil || high == nil {
		return Missing()
	}
	return Cell{Low: low, High: high, Unit: unit}
}

// With returns the cell with these digits.
func (c Cell) With(d Digits) Cell {
	c.Digits = d
	return c
}

// Within returns a number with its interval; nil ends leave it without one.
func (c Cell) Within(low, high *float64) Cell {
	if low != nil && high != nil {
		c.Low, c.High = low, high
	}
	return c
}

// Marked returns the cell with a mark.
func (c Cell) Marked(m Mark) Cell {
	c.Mark = m
	return c
}

// isNumber says whether the cell has a number or an interval.
func (c Cell) isNumber() bool { return c.Number != nil || c.Low != nil }

// String is the cell for people. Control characters of a text are question marks. An
// interval without width is left out behind its number.
func (c Cell) String() string {
	if !c.isNumber() {
		return printable(c.Text)
	}
	var parts []string
	if c.Mark == Doubt {
		parts = append(parts, "~")
	}
	if c.Number != nil {
		parts = append(parts, c.digits(*c.Number, c.Sign)+c.unitBehind())
	}
	if c.Low != nil && (c.Number == nil || *c.Low < *c.High) {
		parts = append(parts, "["+c.digits(*c.Low, false)+", "+c.digits(*c.High, false)+"]")
	}
	switch c.Mark {
	case Noise:
		parts = append(parts, "~")
	case Room:
		parts = append(parts, " ")
	}
	return strings.Join(parts, " ")
}

func (c Cell) digits(v float64, sign bool) string { return c.Digits.text(v, c.Unit, sign) }

func (c Cell) unitBehind() string {
	switch {
	case !c.WithUnit || c.Unit == "":
		return ""
	case c.Unit == Share:
		return "%"
	}
	return " " + c.Unit.Shown()
}

// Shown is the number as people read it, rounded and in the shown unit; nil for a text
// and an interval alone.
func (c Cell) Shown() *float64 {
	if c.Number == nil {
		return nil
	}
	v, err := strconv.ParseFloat(c.digits(*c.Number, false), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Exact returns the number and the ends of its interval as the shortest texts that read
// back as the same bits; empty where there is none.
func (c Cell) Exact() (value, low, high string) {
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	return text(c.Number), text(c.Low), text(c.High)
}

// marks are the names of marks in JSON.
var marks = map[Mark]string{Noise: "inside_noise", Doubt: "inside_noise"}

// MarshalJSON writes a text as a string, a missing value as null, and a number as an
// object with its exact value. A number that is not finite is null.
func (c Cell) MarshalJSON() ([]byte, error) {
	if !c.isNumber() {
		if c == Missing() {
			return []byte("null"), nil
		}
		return json.Marshal(c.Text)
	}
	return json.Marshal(struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low,omitempty"`
		High  *float64 `json:"high,omitempty"`
		Unit  Unit     `json:"unit,omitempty"`
		Mark  string   `json:"mark,omitempty"`
	}{finite(c.Number), finite(c.Low), finite(c.High), c.Unit, marks[c.Mark]})
}

func finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

// printable replaces control characters, which could move a terminal's cursor.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}
