package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Units of quantities.
const (
	UnitShare   = "share" // between 0 and 1; people read percent
	UnitPoints  = "points"
	UnitSeconds = "s"
	UnitNats    = "nats"
)

// NumberCell formats a number for a table; nil gives a dash.
func NumberCell(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

// SecondsCell formats seconds with one decimal; nil gives a dash.
func SecondsCell(v *float64) string { return NumberCell(v, "%.1f") }

// RatioCell formats a ratio with three decimals; nil gives a dash.
func RatioCell(v *float64) string { return NumberCell(v, "%.3f") }

// PercentCell formats a share as percent with one decimal; nil gives a dash.
func PercentCell(share *float64) string { return NumberCell(scaled(share), "%.1f%%") }

// ShareCell formats a share as percent with two decimals and no sign; nil gives a dash.
func ShareCell(share *float64) string { return NumberCell(scaled(share), "%.2f") }

// ShareText formats a share as percent with two decimals; nil gives a dash.
func ShareText(share *float64) string { return NumberCell(scaled(share), "%.2f%%") }

// SignedCell formats a difference with its sign and one decimal; nil gives a dash.
func SignedCell(v *float64) string {
	if v == nil {
		return "-"
	}
	return Plain("%+.1f", *v)
}

// scaled converts a share to percent; nil stays nil.
func scaled(share *float64) *float64 {
	if share == nil {
		return nil
	}
	percent := 100 * *share
	return &percent
}

// Plain formats a number; a zero has no sign.
func Plain(format string, x float64) string {
	text := fmt.Sprintf(format, x)
	if strings.Trim(text, "+-0.") == "" {
		return strings.TrimLeft(text, "+-")
	}
	return text
}

// PointsText formats points of accuracy with two decimals. Negative values that round to
// zero have no sign.
func PointsText(v float64) string { return fmt.Sprintf("%.2f", math.Round(100*v)/100+0) }

// PercentText formats a share as percent with two decimals.
func PercentText(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

// AccuracyText formats a share as percent with one decimal.
func AccuracyText(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// Thousands separates the thousands of a number by blanks.
func Thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}

// ValueText formats a value for people, without its unit.
func ValueText(v float64, unit string) string {
	switch unit {
	case UnitShare:
		return fmt.Sprintf("%.2f", 100*v)
	case UnitPoints, UnitSeconds:
		return fmt.Sprintf("%.2f", v)
	case UnitNats:
		return fmt.Sprintf("%.4f", v)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// UnitText is the unit of what [ValueText] formats.
func UnitText(unit string) string {
	if unit == UnitShare {
		return "%"
	}
	return unit
}

// ShortText formats a number without an exponent, in as few digits as read back as the same.
func ShortText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Exact is the shortest text that reads back as the same number.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ExactOrEmpty is [Exact]; nil gives an empty text.
func ExactOrEmpty(v *float64) string {
	if v == nil {
		return ""
	}
	return Exact(*v)
}

// ExactAll applies [Exact] to each value.
func ExactAll(values []float64) []string {
	texts := make([]string, len(values))
	for k, v := range values {
		texts[k] = Exact(v)
	}
	return texts
}

// RoughDurationText formats a duration of any length: seconds with one decimal below ten
// minutes, else hours, minutes and whole seconds.
func RoughDurationText(d time.Duration) string {
	if d < 10*time.Minute {
		return SecondsText(d)
	}
	return d.Round(time.Second).String()
}

// SecondsText formats a duration in seconds with one decimal.
func SecondsText(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// DurationText formats a short duration to a tenth of a millisecond; zero gives a dash.
func DurationText(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return d.Round(time.Millisecond / 10).String()
}
