package report

import (
	"bytes"
	"fmt"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/page"
	"graft/report/plot"
	"graft/report/runs"
	"strings"
)

// figureParts draws the figures of each run, or if many is set the figures of several runs together.
func figureParts(found []*runs.Run, many bool) []page.Part {
	var drawn []page.Figure
	var faults []string
	for _, kind := range plot.Kinds(plot.Given{}) {
		if kind.Many != many {
			continue
		}
		for _, group := range kind.Groups(found) {
			list, err := drawAll(kind, group)
			drawn = append(drawn, list...)
			if err != nil {
				faults = append(faults, strings.Split(fmt.Sprintf("The figure %s is missing: %s", kind.Name,
					document.PrintableLines(err.Error())), "\n")...)
			}
		}
	}
	if len(drawn)+len(faults) == 0 {
		return nil
	}
	parts := []page.Part{{Heading: "Figures"}}
	if len(drawn) > 0 {
		parts = append(parts, page.Part{Figures: drawn})
	}
	if len(faults) > 0 {
		parts = append(parts, page.Part{Sentences: faults})
	}
	return parts
}

// drawAll draws a kind of figure at the width of a column.
func drawAll(kind plot.Kind, group []*runs.Run) ([]page.Figure, error) {
	drawings, err := kind.Draw(group)
	var list []page.Figure
	for _, d := range drawings {
		var b bytes.Buffer
		if err := figure.Render(&b, d.Figure, figure.Options{Width: figure.Column, Theme: figure.Page}); err != nil {
			return list, err
		}
		p := d.Figure.Layout(figure.Column)
		list = append(list, page.Figure{Caption: document.Printable(p.Title),
			Description: document.Printable(p.Description), SVG: b.Bytes()})
	}
	return list, err
}
