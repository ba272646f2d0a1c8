// Package svg contains the common parts of charts and network drawings: the palette, and colours and texts in SVG.
package svg

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"
)

// The palette of Okabe and Ito, Color Universal Design (2008), without black. People with any kind of colour vision can
// distinguish its colours.
var (
	Blue      = color.RGBA{0, 114, 178, 255}
	Vermilion = color.RGBA{213, 94, 0, 255}
	Green     = color.RGBA{0, 158, 115, 255}
	Purple    = color.RGBA{204, 121, 167, 255}
	Orange    = color.RGBA{230, 159, 0, 255}
	Sky       = color.RGBA{86, 180, 233, 255}
	Yellow    = color.RGBA{240, 228, 66, 255}
)

// Hex formats a colour as an SVG attribute value, such as #0072b2. The opacity is omitted.
func Hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Escape escapes text for use in an element or a quoted attribute.
func Escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}
