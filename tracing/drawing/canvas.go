package drawing

import (
	"fmt"
	"io"
	"strings"

	"graft/internal/svg"
	"graft/tracing"
)

// canvas collects elements in three layers, the lowest first, so elements can be added in any order.
type canvas struct {
	width, height         int
	frames, edges, things strings.Builder
	colours               map[*tracing.Space]int
}

func newCanvas(spaces []*tracing.Space) *canvas {
	return &canvas{colours: paintSpaces(spaces)}
}

// rect adds a rectangle.
func (c *canvas) rect(x, y, width, height, round int, class string) {
	fmt.Fprintf(&c.things, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`+"\n", class, x, y, width,
		height, round)
}

// frame adds the outline of a block.
func (c *canvas) frame(x, y, width, height int, class string) {
	fmt.Fprintf(&c.frames, `<rect class="frame %s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`+"\n", class, x, y,
		width, height, min(10, height/3))
}

// begin opens a group with a tooltip.
func (c *canvas) begin(title string) {
	fmt.Fprintf(&c.things, "<g><title>%s</title>\n", svg.Escape(title))
}

func (c *canvas) end() { c.things.WriteString("</g>\n") }

// text adds a label, cut to its width.
func (c *canvas) text(w words) {
	w = w.fitted()
	var inside, attributes string
	switch {
	case w.head != "" && w.text != "":
		inside = fmt.Sprintf(`<tspan class="head">%s</tspan><tspan dx="%d">%s</tspan>`, svg.Escape(w.head), headGap,
			svg.Escape(w.text))
	case w.head != "":
		inside = fmt.Sprintf(`<tspan class="head">%s</tspan>`, svg.Escape(w.head))
	case w.text != "":
		inside = svg.Escape(w.text)
	default:
		return
	}
	if w.class != "" {
		attributes += fmt.Sprintf(` class="%s"`, w.class)
	}
	if w.end {
		attributes += ` text-anchor="end"`
	}
	fmt.Fprintf(&c.things, `<text x="%d" y="%d" font-size="%d"%s>%s</text>`+"\n", w.x, w.y, w.size, attributes, inside)
}

// edge adds a line from node to node above the ribbons of its spaces.
func (c *canvas) edge(e tracing.Edge, path string, arrow bool) {
	c.ribbon(&c.edges, ribbons(e.Parts), path)
	marker := ""
	if arrow {
		marker = ` marker-end="url(#arrow)"`
	}
	fmt.Fprintf(&c.edges, `<path class="edge" d="%s"%s/>`+"\n", path, marker)
}

// dash is the length of one space's piece in a ribbon of several.
const dash = 7

// ribbon adds a coloured path with alternating pieces for several spaces.
func (c *canvas) ribbon(to io.Writer, spaces []*tracing.Space, path string) {
	for k, s := range spaces {
		turns := ""
		if n := len(spaces); n > 1 {
			turns = fmt.Sprintf(` stroke-dasharray="%d %d" stroke-dashoffset="%d"`, dash, (n-1)*dash, -k*dash)
		}
		_, _ = fmt.Fprintf(to, `<path class="ribbon c%d" d="%s"%s/>`+"\n", c.colours[s], path, turns)
	}
}

// stripe adds the ribbon of a box's output, inside the box.
func (c *canvas) stripe(parts []tracing.Part, x, y, height int) {
	c.ribbon(&c.things, ribbons(parts), straight(x, y, y+height))
}

// ribbonSwatch adds a ribbon to the legend.
func (c *canvas) ribbonSwatch(x, y int, spaces []*tracing.Space) {
	path := fmt.Sprintf("M%d %dH%d", x, y, x+swatch)
	c.ribbon(&c.edges, spaces[:min(len(spaces), 3)], path)
	fmt.Fprintf(&c.edges, `<path class="edge" d="%s"/>`+"\n", path)
}

// plus adds the sign of a sum.
func (c *canvas) plus(x, y int) {
	c.begin("sum")
	fmt.Fprintf(&c.things,
		`<circle class="circle" cx="%d" cy="%d" r="%d"/><path class="plus" d="M%d %dH%dM%d %dV%d"/>`+"\n",
		x, y, radius, x-6, y, x+6, x, y-6, y+6)
	c.end()
}

// write writes the layers in order.
func (c *canvas) write(w io.Writer, title, description string) error {
	_, err := fmt.Fprintf(w,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title description">
<title id="title">%s</title>
<desc id="description">%s</desc>
<style>
%s</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="11" markerHeight="11" markerUnits="userSpaceOnUse" orient="auto"><path class="arrow" d="M0 .8L8 4L0 7.2z"/></marker></defs>
<rect class="paper" width="%d" height="%d"/>
%s%s%s</svg>
`, c.width, c.height, c.width, c.height, svg.Escape(title), svg.Escape(description), style(), c.width, c.height,
		c.frames.String(), c.edges.String(), c.things.String())
	return err
}
