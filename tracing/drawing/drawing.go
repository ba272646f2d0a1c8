// Package drawing draws a traced network as a self-contained SVG: a box per layer from top to bottom in execution
// order, parallel lanes where the network forks, frames around blocks, and a ribbon in the colour of the channel space
// along every edge. Labels repeat the information of colours.
package drawing

import (
	"fmt"
	"io"

	"graft/model"
	"graft/tracing"
)

// Sizes of the page in pixels.
const (
	margin   = 24
	narrow   = 372 // width of the heading
	line     = 20
	swatch   = 26 // width of the legend's samples
	ruleroom = 14 // between the heading and the network
)

// SVG draws a network as an SVG image. Equal networks give byte-identical drawings.
func SVG(w io.Writer, t *tracing.Trace) error {
	body, err := layout(t)
	if err != nil {
		return fmt.Errorf("draw %s: %w", t.Network.Name(), err)
	}
	sheet, err := t.Network.Sheet()
	if err != nil {
		return fmt.Errorf("draw %s: %w", t.Network.Name(), err)
	}
	c := newCanvas(t.Spaces)
	top := paintHeading(c, t, summary(t, sheet)) + ruleroom
	size := body.size()
	left, right := size.left, size.right
	if short := narrow - left - right; short > 0 {
		left, right = left+short-short/2, right+short/2
	}
	body.paint(c, margin+left, top)
	c.width, c.height = left+right+2*margin, top+size.height+margin
	return c.write(w, t.Network.Name()+", a neural network", describe(t, sheet))
}

// summary returns the line below the name.
func summary(t *tracing.Trace, sheet []model.Row) string {
	var operations int64
	for _, row := range sheet {
		operations += row.Operations
	}
	digits, prefix := Short(operations)
	return fmt.Sprintf("%s, %s %sFLOP forward per example", parametersText(t.Network.Parameters()), digits, prefix)
}

// describe returns the text alternative of the drawing.
func describe(t *tracing.Trace, sheet []model.Row) string {
	output := t.Network.Input
	if len(sheet) > 0 {
		output = sheet[len(sheet)-1].Out
	}
	return fmt.Sprintf("From an input of %s to an output of %s in %d layers, %d blocks and %d channel spaces: %s.",
		shapeText(t.Network.Input), shapeText(output), len(t.Layers), len(t.Blocks), len(t.Spaces), summary(t, sheet))
}

// paintHeading paints the name and the legend, and returns their lower edge.
func paintHeading(c *canvas, t *tracing.Trace, summary string) int {
	y := margin + 16
	c.text(words{x: margin, y: y, size: 18, room: narrow, head: t.Network.Name()})
	y += 22
	c.text(words{x: margin, y: y, class: "quiet", size: 11, room: narrow, text: summary})
	y += 8
	for _, origin := range origins {
		if !occurs(t, origin.mark) {
			continue
		}
		y += line
		c.frame(margin, y-11, swatch, 14, origin.class)
		c.text(words{x: margin + swatch + 8, y: y, class: "quiet", size: 11, room: narrow - swatch - 8,
			text: origin.legend})
	}
	y += line
	c.ribbonSwatch(margin, y-4, t.Spaces)
	c.text(words{x: margin + swatch + 8, y: y, class: "quiet", size: 11, room: narrow - swatch - 8,
		text: "one label: channels that change together"})
	return y
}

func occurs(t *tracing.Trace, mark model.Mark) bool {
	for _, b := range t.Blocks {
		if b.Marked == mark {
			return true
		}
	}
	return false
}
