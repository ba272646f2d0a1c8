package figure

import (
	"math"
	"strconv"
	"strings"

	"graft/internal/stat"
)

// Axis describes the label, the range and the ticks of a figure's axis.
type Axis struct {
	Name string  // name of the quantity
	Unit string  // unit of the numbers, such as "s" or "%"; empty for a plain count
	Low  float64 // lower end; if High is not above Low, the data determine both ends
	High float64 // upper end
	Zero bool    // starts the axis at zero if the data allow it
	// Within limits both ends of the axis if the ends are derived from the data. The zero value means no limits.
	Within stat.Range

	Whole bool // places ticks only at whole numbers
	// Powers states that values are exponents of ten, so ticks are labelled with powers of ten. It applies to the
	// horizontal axis of a chart.
	Powers bool
}

// label returns the text at the axis.
func (a Axis) label() string {
	if a.Unit == "" || a.Name == "" {
		return a.Name + a.Unit
	}
	return a.Name + " [" + a.Unit + "]"
}

// scale maps values to points.
type scale struct {
	low, high float64 // values
	from, to  float64 // positions of low and high
}

func (s scale) at(v float64) float64 {
	return s.from + (v-s.low)/(s.high-s.low)*(s.to-s.from)
}

// room is the fraction of the range left empty at both ends of an axis.
const room = 0.05

// reach returns the range of an axis for its data, widened by the fraction edge within its limits.
func (a Axis) reach(r span, edge float64) (low, high float64) {
	low, high = a.wide(r, edge)
	if w := a.Within; w.High > w.Low && low < w.High && high > w.Low {
		low, high = max(low, w.Low), min(high, w.High)
	}
	return low, high
}

// wide returns the range of an axis without limits.
func (a Axis) wide(r span, edge float64) (low, high float64) {
	if a.High > a.Low {
		return a.Low, a.High
	}
	if r.empty() {
		r = span{0, 1}
	}
	low, high = r.low, r.high
	if a.Zero {
		low, high = min(low, 0), max(high, 0)
	}
	if most := math.Max(math.Abs(low), math.Abs(high)); high-low <= most*1e-9 { // nearly equal
		pad := most * 0.1
		if pad == 0 || a.Whole {
			pad = max(pad, 1)
		}
		return low - pad, high + pad
	}
	pad := (high - low) * edge
	bottom, top := low-pad, high+pad
	if low >= 0 && bottom < 0 || a.Zero && low == 0 {
		bottom = 0
	}
	return bottom, top
}

// span is the range of a set of numbers.
type span struct{ low, high float64 }

// beyond limits the drawn values: sums of larger ones overflow.
const beyond = 1e150

func nothing() span { return span{math.Inf(1), math.Inf(-1)} }

func (s span) empty() bool { return !(s.low <= s.high) }

// add extends the span by numbers; NaN is ignored.
func (s span) add(values ...float64) span {
	for _, v := range values {
		if math.Abs(v) < beyond { // false for NaN
			s.low, s.high = min(s.low, v), max(s.high, v)
		}
	}
	return s
}

// Factors of a power of ten for the distance between ticks. The factors in smaller are for ranges with fewer than two
// ticks.
var (
	rounded = []float64{1, 2, 5, 10, 20, 50, 100}
	smaller = []float64{80, 60, 50, 40, 30, 20, 10, 8, 6, 5, 4, 3, 2, 1}
)

// ticks returns at most `most` round numbers within a range. If that leaves fewer than two, it may return a few more.
func ticks(low, high float64, most int) (at []float64, step float64) {
	if !(high > low) || most < 1 {
		return nil, 1
	}
	step = math.Pow(10, math.Floor(math.Log10((high-low)/float64(most))))
	for _, factor := range rounded {
		if at = multiples(low, high, step*factor); len(at) > most {
			continue
		}
		for _, less := range smaller {
			if len(at) < min(most, 2) && less < factor {
				factor = less
				at = multiples(low, high, step*factor)
			}
		}
		return at, step * factor
	}
	return nil, step
}

// multiples returns the multiples of a step within a range.
func multiples(low, high, step float64) (at []float64) {
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	for k := range int(last - first + 1) {
		at = append(at, (first+float64(k))*step)
	}
	return at
}

// tickText formats a number of an axis with this step.
func tickText(v, step float64) string {
	if most := math.Abs(v); v != 0 && (most > 1e13 || step < 1e-6) {
		digits := max(0, int(math.Ceil(math.Log10(most/step)-0.3)))
		text := strconv.FormatFloat(v, 'e', min(digits, 6), 64)
		return strings.Replace(strings.NewReplacer("e+", "e", "e-0", "e-").Replace(text), "-", "−", -1)
	}
	for _, large := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if step >= large.size || math.Abs(v) >= 10*large.size {
			if v == 0 {
				return "0"
			}
			return decimal(v/large.size, step/large.size) + large.name
		}
	}
	return decimal(v, step)
}

// decimal formats a number with the digits after the point that the step requires.
func decimal(v, step float64) string {
	digits := 0
	for s := step; digits < 9 && math.Abs(s-math.Round(s)) > 1e-6*s; digits++ {
		s *= 10
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return strings.Replace(text, "-", "−", 1)
}

// level is a tick with its text.
type level struct {
	value float64
	words string
}

// upright returns the ticks of an axis of a height.
func (a Axis) upright(low, high, height float64) []level {
	for most := max(2, int(height/16)); ; most-- {
		at, step := ticks(low, high, most)
		if most == 1 || !a.Whole || step >= 1 {
			return levels(at, step)
		}
	}
}

// lying returns the ticks of an axis along a width, as many as fit.
func lying(low, high, width float64) []level {
	for most := 9; most > 1; most-- {
		at, step := ticks(low, high, most)
		all, sum := levels(at, step), 0.0
		for _, l := range all {
			sum = max(sum, widthOf(l.words, sizeSmall))
		}
		if float64(len(all))*(sum+8) <= width {
			return all
		}
	}
	return nil // there is no room for two
}

// lying returns the ticks along a width.
func (a Axis) lying(low, high, width float64) []level {
	if !a.Powers {
		return lying(low, high, width)
	}
	for step := 1.0; step < 1e3; step++ {
		var all []level
		sum := 0.0
		for k := math.Ceil(low/step-1e-9) * step; k <= high+1e-9; k += step {
			words := tickText(math.Pow(10, k), math.Pow(10, k))
			all, sum = append(all, level{k, words}), max(sum, widthOf(words, sizeSmall))
		}
		if float64(len(all))*(sum+8) <= width {
			return all
		}
	}
	return nil
}

func levels(at []float64, step float64) []level {
	var all []level
	for _, v := range at {
		all = append(all, level{v, tickText(v, step)})
	}
	return all
}
