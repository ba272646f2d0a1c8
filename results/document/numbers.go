package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// SecondsText writes a time in seconds, or a dash.
func SecondsText(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'f', 1, 64)
}

func RatioText(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'f', 3, 64)
}

func UsedText(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(100**x, 'f', 1, 64) + "%"
}

// Plain writes a number; a zero has no sign.
func Plain(format string, x float64) string {
	text := fmt.Sprintf(format, x)
	if strings.Trim(text, "+-0.") == "" {
		return strings.TrimLeft(text, "+-")
	}
	return text
}

func Signed(x *float64) string {
	if x == nil {
		return "-"
	}
	return Plain("%+.1f", *x)
}

// Points are hundredths of accuracy with two digits. What is less than nothing by
// rounding alone is nothing.
func Points(v float64) string { return fmt.Sprintf("%.2f", math.Round(100*v)/100+0) }

func PercentText(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

// Thousands is a number with gaps between its thousands.
func Thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}

// ExactOr is empty where there is no value.
func ExactOr(v *float64) string {
	if v == nil {
		return ""
	}
	return Exact(*v)
}

// ShownValue is a value for people, without its unit.
func ShownValue(v float64, unit string) string {
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

// ShownUnit is the unit that goes with shownValue.
func ShownUnit(unit string) string {
	if unit == UnitShare {
		return "%"
	}
	return unit
}

func ShareCell(v *float64) string {
	if v == nil {
		return "-"
	}
	return ShownValue(*v, UnitShare)
}

func NumberCell(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

// Units of quantities.
const (
	UnitShare   = "share"
	UnitPoints  = "points"
	UnitSeconds = "s"
	UnitNats    = "nats"
)

// Share is a number between 0 and 1 for people; nil is a dash.
func Share(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100**v)
}

func Short(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Exact is the shortest text that reads back as the same number.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func Exactly(values []float64) []string {
	texts := make([]string, len(values))
	for k, v := range values {
		texts[k] = Exact(v)
	}
	return texts
}

// SpanText is a time of any length.
func SpanText(d time.Duration) string {
	if d < 10*time.Minute {
		return ClockText(d)
	}
	return d.Round(time.Second).String()
}

func AccuracyText(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func ClockText(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func TookText(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return d.Round(time.Millisecond / 10).String()
}
