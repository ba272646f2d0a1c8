package page

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"graft/internal/svg"
)

// Sizes of small pictures in cells, in pixels.
const (
	barWidth, barHeight         = 96, 8
	sparkWidth, sparkHeight     = 104, 24
	sparkMargin, sparkDotRadius = 3, 2
)

// Bar draws the completed fraction of some work as an SVG element. The argument class selects the colour: "up", "down",
// "pick", or an empty string for grey. The bar contains no text, since the table cell around it shows the number.
func Bar(share float64, class string) []byte {
	share = min(1, max(0, share))
	return fmt.Appendf(nil, `<svg class="bar %s" width="%d" height="%d" viewBox="0 0 %[2]d %[3]d" aria-hidden="true">`+
		`<rect class="rail" width="%[2]d" height="%[3]d" rx="3"/>`+
		`<rect class="part" width="%[4]s" height="%[3]d" rx="3"/></svg>`,
		class, barWidth, barHeight, pixels(share*barWidth))
}

// Sparkline draws values as a line without axes, in the order of the list, and marks the last one. The line's height
// covers the range from the lowest to the highest value. The title is the picture's text alternative. Without values,
// Sparkline returns nil.
func Sparkline(values []float64, title string) []byte {
	if len(values) == 0 {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg class="spark" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img"><title>%s</title>`,
		sparkWidth, sparkHeight, svg.Escape(title))
	low, high := slices.Min(values), slices.Max(values)
	x, y := 0.0, 0.0
	for k, v := range values {
		x, y = sparkWidth/2, sparkHeight/2
		if len(values) > 1 {
			x = sparkMargin + float64(k)*(sparkWidth-2*sparkMargin)/float64(len(values)-1)
		}
		if high > low { // differences of halves do not overflow
			y = sparkHeight - sparkMargin - (v/2-low/2)/(high/2-low/2)*(sparkHeight-2*sparkMargin)
		}
		move := "L"
		if k == 0 {
			b.WriteString(`<path d="`)
			move = "M"
		}
		b.WriteString(move + pixels(x) + " " + pixels(y))
	}
	fmt.Fprintf(&b, `"/><circle cx="%s" cy="%s" r="%d"/></svg>`, pixels(x), pixels(y), sparkDotRadius)
	return b.Bytes()
}

// pixels formats a length to a tenth of a pixel.
func pixels(v float64) string { return strconv.FormatFloat(float64(int(v*10+0.5))/10, 'f', -1, 64) }
