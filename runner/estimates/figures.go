package estimates

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/cluster/estimate"
	"graft/report/document"
	"graft/report/figure"
)

const (
	// mostDrawn limits the drawn texts of a feature to the ones with the largest effect.
	mostDrawn = 20
	// wideSpan is the ratio from which an axis of numbers is logarithmic.
	wideSpan = 100
)

// aboutBand is the note below every shape.
const aboutBand = "Values are added to the base. " +
	"The band is the deviation over the bags, which share most of their rows."

// drawImportance draws a bar per term.
func drawImportance(terms []Term, unit string) figure.Figure {
	b := &figure.Bars{Title: "Importance of terms",
		X: figure.Axis{Name: "mean absolute contribution of a term", Unit: unit, Zero: true}, Values: true}
	for _, t := range terms {
		b.Groups = append(b.Groups, figure.Group{Name: t.Name, Bars: []figure.Bar{{Value: t.Importance}}})
	}
	return b
}

// drawShape returns the figure of a shape; nil for a map of two texts, which has no suitable axis.
func drawShape(s estimate.Shape, unit string) figure.Figure {
	switch {
	case len(s.Axes) == 2:
		return drawHeat(s, unit)
	case s.Axes[0].Text:
		return drawBars(s, unit)
	}
	return drawCurve(s, unit)
}

// drawCurve draws a numeric feature.
func drawCurve(s estimate.Shape, unit string) figure.Figure {
	bins := s.Axes[0].Bins
	x := figure.Axis{Name: s.Term.Name,
		Powers: len(bins) > 1 && bins[1].Low > 0 && bins[len(bins)-1].High/bins[1].Low > wideSpan}
	at := func(v float64) float64 {
		if x.Powers {
			return math.Log10(v)
		}
		return v
	}
	panel := figure.Panel{Y: figure.Axis{Name: "adds", Unit: unit}}
	c := figure.Curve{Name: s.Term.Name}
	for k, b := range bins {
		v := s.Cells[k]
		switch {
		case !b.Missing:
			c.X, c.Y = append(c.X, at(b.Low), at(b.High)), append(c.Y, v.Value, v.Value)
			c.Low, c.High = append(c.Low, v.Value-v.Deviation, v.Value-v.Deviation),
				append(c.High, v.Value+v.Deviation, v.Value+v.Deviation)
		case v.Weight > 0:
			panel.Levels = append(panel.Levels, figure.Level{Name: "missing values", At: v.Value})
		}
	}
	panel.Curves = []figure.Curve{c}
	return &figure.Chart{Title: "What " + s.Term.Name + " adds", Note: aboutBand, X: x, Panels: []figure.Panel{panel}}
}

// drawBars draws a text feature.
func drawBars(s estimate.Shape, unit string) figure.Figure {
	var order []int
	for k, c := range s.Cells {
		if c.Weight > 0 {
			order = append(order, k)
		}
	}
	says := func(k int) float64 { return s.Cells[k].Weight * math.Abs(s.Cells[k].Value) }
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(says(k), says(i)) })
	b := &figure.Bars{Title: "What " + s.Term.Name + " adds",
		X:    figure.Axis{Name: s.Term.Name + " adds", Unit: unit, Zero: true},
		Note: strings.Replace(aboutBand, "band", "line", 1)}
	if len(order) > mostDrawn {
		b.Note += fmt.Sprintf(" The %d most important of %d.", mostDrawn, len(order))
		order = order[:mostDrawn]
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(s.Cells[k].Value, s.Cells[i].Value) })
	for _, k := range order {
		c := s.Cells[k]
		b.Groups = append(b.Groups, figure.Group{Name: document.Printable(s.Axes[0].Bins[k].String()),
			Bars: []figure.Bar{{Value: c.Value, Low: c.Value - c.Deviation, High: c.Value + c.Deviation}}})
	}
	return b
}

// drawHeat draws a map, with a numeric feature along the width. Bins without rows are empty.
func drawHeat(s estimate.Shape, unit string) figure.Figure {
	across := 1
	if s.Axes[1].Text {
		across = 0
	}
	columns, rows := s.Axes[across], s.Axes[1-across]
	if columns.Text {
		return nil
	}
	most := 0.0
	for _, c := range s.Cells {
		most = max(most, math.Abs(c.Value))
	}
	h := &figure.Heat{Title: "What " + s.Term.Name + " adds", X: figure.Axis{Name: columns.Feature},
		Kinds: []string{"adds", "subtracts"}, Note: fmt.Sprintf("The strongest colour is %s %s. "+
			"Numbers are lower ends of bins; bins without rows are empty.", Digits(most), unit)}
	for _, b := range columns.Bins[1:] {
		h.Columns = append(h.Columns, b.Low)
	}
	for r, b := range rows.Bins {
		var line []figure.Cell
		used := false
		for c := range columns.Bins {
			at := [2]int{r, c}
			if across == 0 {
				at = [2]int{c, r}
			}
			cell := s.Cells[at[0]*len(s.Axes[1].Bins)+at[1]]
			if c == 0 { // missing number
				continue
			}
			line = append(line, heatCell(cell, most))
			used = used || cell.Weight > 0
		}
		if used {
			h.Rows, h.Cells = append(h.Rows, document.Printable(b.String())), append(h.Cells, line)
		}
	}
	return h
}

func heatCell(c estimate.Cell, most float64) figure.Cell {
	switch {
	case c.Weight == 0:
		return figure.Cell{Kind: -1}
	case c.Value < 0:
		return figure.Cell{Kind: 1, Share: -c.Value / most}
	}
	return figure.Cell{Share: c.Value / max(most, 1e-300)}
}
