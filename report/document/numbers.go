package document

import (
	"fmt"
	"strconv"
	"time"
)

// Units of quantities.
const (
	UnitShare   = "share" // fraction between 0 and 1; displayed as percent
	UnitPoints  = "points"
	UnitSeconds = "s"
	UnitNats    = "nats"
	UnitImages  = "images/s"
	UnitSlots   = "slots" // slots of a simulation of elastic jobs
	UnitJoules  = "J"
	UnitGFLOP   = "GFLOP"
)

// ShareText formats a fraction as a percentage with two decimals. It formats nil, an unknown fraction, as a dash.
func ShareText(share *float64) string {
	if share == nil {
		return "-"
	}
	return PercentText(*share)
}

// PercentText formats a fraction as a percentage with two decimals.
func PercentText(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

// AccuracyText formats an accuracy between 0 and 1 as a percentage with one decimal.
func AccuracyText(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// Thousands formats a number with spaces as thousands separators.
func Thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}

// ValueText formats a value for display, without its unit.
func ValueText(v float64, unit string) string { return Value(v, unit).String() }

// UnitText returns the unit to print after a value that [ValueText] formats.
func UnitText(unit string) string {
	if unit == UnitShare {
		return "%"
	}
	return unit
}

// ShortText formats a number without an exponent, with the fewest digits that read back as the same number.
func ShortText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Exact returns the shortest text that reads back as the same number.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// RoughDurationText formats a duration of any length: below ten minutes as seconds with one decimal, otherwise as
// hours, minutes and whole seconds.
func RoughDurationText(d time.Duration) string {
	if d < 10*time.Minute {
		return SecondsText(d)
	}
	return d.Round(time.Second).String()
}

// SecondsText formats a duration in seconds with one decimal.
func SecondsText(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// DurationText formats a short duration to a tenth of a millisecond. It formats zero as a dash, as for the decision
// time of a job without decisions.
func DurationText(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return d.Round(time.Millisecond / 10).String()
}

// FLOPUnit returns a readable unit for counts of floating-point operations, and the number of operations in the unit.
// The choice depends on the largest count to format.
func FLOPUnit(largest float64) (unit string, size float64) {
	size = 1e9
	for _, unit = range []string{"GFLOP", "TFLOP", "PFLOP"} {
		if largest < 1000*size {
			return unit, size
		}
		size *= 1000
	}
	return "EFLOP", size
}

// FLOPText formats a number of floating-point operations in the unit that FLOPUnit chooses.
func FLOPText(flop float64) string {
	unit, size := FLOPUnit(flop)
	return fmt.Sprintf("%.4g %s", flop/size, unit)
}
