// Package svg holds the common parts of figures and drawings of networks: the palette, colours and texts in SVG.
package svg

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"
)

// The palette of Okabe and Ito, Color Universal Design (2008), without black: people with any kind of colour vision
// can distinguish these colours.
var (
	Blue      = color.RGBA{0, 114, 178, 255}
	Vermilion = color.RGBA{213, 94, 0, 255}
	Green     = color.RGBA{0, 158, 115, 255}
	Purple    = color.RGBA{204, 121, 167, 255}
	Orange    = color.RGBA{230, 159, 0, 255}
	Sky       = color.RGBA{86, 180, 233, 255}
	Yellow    = color.RGBA{240, 228, 66, 255}
)

// Hex returns a colour as an attribute, such as #0072b2, without the opacity.
func Hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Escape escapes a text for an element or a quoted attribute.
func Escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}
