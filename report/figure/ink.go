package figure

import (
	"image/color"

	"graft/internal/svg"
)

// Theme selects the background of a picture and colours that are readable on it.
type Theme int

// Themes of pictures.
const (
	Light Theme = iota // dark ink on a white background, for papers
	Dark               // light ink on a black background
	Page               // no background; in SVG the colours follow the reader's preference
)

// ink is a colour by its purpose; the theme defines its value.
type ink int

// Inks of a picture. Curves use the colours of Okabe and Ito.
const (
	none  ink = iota // draws nothing
	paper            // background
	text             // words, frames and other essential marks
	faint            // secondary words
	grid             // thin lines behind data
	blue
	vermilion
	green
	purple
	orange
	sky
	yellow
	inks
)

// series are the inks of curves and bars, in order.
var series = []ink{blue, vermilion, green, purple, orange, sky, yellow}

// seriesInk returns the ink of the k-th series; inks repeat.
func seriesInk(k int) ink { return series[k%len(series)] }

// inkNames are the CSS classes of inks in pages.
var inkNames = [inks]string{"none", "paper", "text", "faint", "grid", "blue", "vermilion", "green", "purple", "orange",
	"sky", "yellow"}

var lightInks = [inks]color.RGBA{
	paper: {255, 255, 255, 255}, text: {26, 26, 26, 255}, faint: {89, 89, 89, 255}, grid: {222, 222, 222, 255},
	blue: svg.Blue, vermilion: svg.Vermilion, green: svg.Green, purple: svg.Purple, orange: svg.Orange, sky: svg.Sky,
	yellow: svg.Yellow,
}

var darkInks = [inks]color.RGBA{
	paper: {17, 20, 24, 255}, text: {230, 230, 230, 255}, faint: {165, 165, 165, 255}, grid: {58, 62, 68, 255},
	blue: {61, 143, 209, 255}, vermilion: {230, 115, 30, 255}, green: {0, 178, 130, 255}, purple: {214, 140, 180, 255},
	orange: svg.Orange, sky: svg.Sky, yellow: svg.Yellow,
}

// inksOf returns the colours of a theme.
func inksOf(t Theme) *[inks]color.RGBA {
	if t == Dark {
		return &darkInks
	}
	return &lightInks
}

// paint is an ink, or a colour that encodes a quantity and is the same in every theme.
type paint struct {
	ink     ink
	exact   *color.RGBA // in place of ink
	opacity float64     // zero means 1
}

func (i ink) plain() paint               { return paint{ink: i} }
func (i ink) thin(opacity float64) paint { return paint{ink: i, opacity: opacity} }
func (p paint) visible() bool            { return p.ink != none || p.exact != nil }
func (p paint) on(theme Theme) color.RGBA {
	if p.exact != nil {
		return *p.exact
	}
	return inksOf(theme)[p.ink]
}

// alpha returns the opacity; zero means 1.
func (p paint) alpha() float64 {
	if p.opacity == 0 {
		return 1
	}
	return p.opacity
}

// cividis is the colour scale of quantities, which looks alike for all kinds of colour vision (Nuñez, Anderton and
// Renslow 2018), in equal steps.
var cividis = []color.RGBA{
	{0, 34, 78, 255}, {18, 53, 112, 255}, {59, 73, 108, 255}, {87, 93, 109, 255}, {112, 113, 115, 255},
	{138, 134, 120, 255}, {165, 156, 116, 255}, {195, 179, 105, 255}, {225, 204, 85, 255}, {254, 232, 56, 255},
}

// shade returns the colour of a position on the scale, between 0 and 1.
func shade(share float64) paint {
	at := min(max(share, 0), 1) * float64(len(cividis)-1)
	k := min(int(at), len(cividis)-2)
	c := mix(cividis[k], cividis[k+1], at-float64(k))
	return paint{exact: &c}
}

// mix interpolates from a to b by a share.
func mix(a, b color.RGBA, share float64) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8(float64(x)*(1-share) + float64(y)*share + 0.5) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
}

// over returns black or white, whichever is readable on a colour.
func over(c color.RGBA) paint {
	words := color.RGBA{255, 255, 255, 255}
	if 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B) > 140 {
		words = color.RGBA{0, 0, 0, 255}
	}
	return paint{exact: &words}
}
