package cell

import (
	"math"
	"strconv"
	"strings"
)

// Unit is the unit that a number is measured in. The empty one is that of counts and
// ratios.
type Unit string

// Units with digits of their own. Others have up to four significant digits.
const (
	Share   Unit = "share"  // between 0 and 1, shown as a percentage with two decimals
	Points  Unit = "points" // hundredths of accuracy, shown with two decimals
	Seconds Unit = "s"      // shown with two decimals
	Nats    Unit = "nats"   // shown with four decimals
)

// Shown is the unit of the number that people read.
func (u Unit) Shown() string {
	if u == Share {
		return "%"
	}
	return string(u)
}

// wholeBelow is the size below which every whole float64 is written with all digits.
const wholeBelow = 1e15

// Digits says how many digits a number has. The zero value follows its unit.
type Digits struct {
	kind  byte // of strconv.FormatFloat, 'r' for Rounded, or zero
	count int
}

// Fixed is so many decimals.
func Fixed(decimals int) Digits { return Digits{'f', decimals} }

// Rounded is so many decimals, with halves rounded away from zero. [Fixed] rounds the
// binary value, of which few halves are exact, to even.
func Rounded(decimals int) Digits { return Digits{'r', decimals} }

// Significant is so many significant digits, with an exponent where that is shorter.
func Significant(digits int) Digits { return Digits{'g', digits} }

// text writes a number in the shown unit. What rounds to zero has no minus.
func (d Digits) text(v float64, unit Unit, sign bool) string {
	if unit == Share {
		v *= 100
	}
	switch d.kind {
	case 0:
		d = unit.digits(v)
	case 'r':
		scale := math.Pow10(d.count)
		d.kind, v = 'f', math.Round(scale*v)/scale
	}
	text := strconv.FormatFloat(v, d.kind, d.count, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	if sign && !strings.HasPrefix(text, "-") {
		text = "+" + text
	}
	return text
}

// digits returns the number of digits that a value of the unit is shown with.
func (u Unit) digits(v float64) Digits {
	switch u {
	case Share, Points, Seconds:
		return Fixed(2)
	case Nats:
		return Fixed(4)
	}
	if v == math.Trunc(v) && math.Abs(v) < wholeBelow {
		return Fixed(0)
	}
	return Significant(4)
}
