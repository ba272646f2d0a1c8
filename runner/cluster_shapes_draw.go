package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/cluster/estimate"
	"graft/files"
	"graft/results/document"
	"graft/results/figure"
	"graft/results/plot"
)

const (
	// mostDrawn is how many texts are drawn of a feature: those that say most.
	mostDrawn = 20
	// wideSpan is from which ratio on an axis of numbers is one of powers.
	wideSpan = 100
)

// aboutBand stands below every shape.
const aboutBand = "Added to the base. The band is the deviation over the bags, which share most of their rows."

// drawShapes writes a model's importance and shapes into a folder: a table of each, and a
// figure of each that can be drawn. Files of equal names are replaced.
func drawShapes(ctx context.Context, dir, prefix string, m *estimate.Model, unit string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write shapes: %w", err)
	}
	a := &artist{dir: dir, prefix: prefix, unit: unitOf(unit, m.Target())}
	terms := learnedTermsOf(m)
	a.table("importance", importanceRows(terms))
	a.figure("importance", a.importance(terms))
	shapes, err := shapesOf(m, "")
	if err != nil {
		return nil, err
	}
	for _, s := range shapes {
		if err := cmp.Or(ctx.Err(), a.fault); err != nil {
			return nil, err
		}
		name := strings.Join(s.Term.Features, "-")
		a.table(name, s.Table())
		if f := a.draw(s); f != nil {
			a.figure(name, f)
		}
	}
	return a.written, a.fault
}

// artist writes tables and figures. It keeps its first fault.
type artist struct {
	dir, prefix string
	unit        string // of values
	written     []string
	fault       error
}

func (a *artist) table(name string, rows [][]string) {
	a.write(name+".csv", func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

func (a *artist) figure(name string, f figure.Figure) {
	a.write(name+".svg", func(w io.Writer) error { return figure.Render(w, f, figure.Options{}) })
}

func (a *artist) write(name string, fill func(io.Writer) error) {
	if a.fault != nil {
		return
	}
	path := filepath.Join(a.dir, strings.Map(plot.FileLetter, a.prefix+name))
	if a.fault = files.WriteAtomic(files.OS{}, path, fill); a.fault == nil {
		a.written = append(a.written, path)
	}
}

func importanceRows(terms []learnedTerm) [][]string {
	rows := [][]string{{"term", "importance"}}
	for _, t := range terms {
		rows = append(rows, []string{t.Name, strconv.FormatFloat(t.Importance, 'f', -1, 64)})
	}
	return rows
}

func (a *artist) importance(terms []learnedTerm) figure.Figure {
	b := &figure.Bars{Title: "Importance of terms", X: figure.Axis{Name: "mean of what a term adds or takes off", Unit: a.unit, Zero: true}, Values: true}
	for _, t := range terms {
		b.Groups = append(b.Groups, figure.Group{Name: t.Name, Bars: []figure.Bar{{Value: t.Importance}}})
	}
	return b
}

// draw is the figure of a shape; nil of a map of two texts, which no axis can hold.
func (a *artist) draw(s estimate.Shape) figure.Figure {
	switch {
	case len(s.Axes) == 2:
		return a.heat(s)
	case s.Axes[0].Text:
		return a.bars(s)
	}
	return a.curve(s)
}

// curve draws a feature of numbers.
func (a *artist) curve(s estimate.Shape) figure.Figure {
	bins := s.Axes[0].Bins
	x := figure.Axis{Name: s.Term.Name, Powers: len(bins) > 1 && bins[1].Low > 0 && bins[len(bins)-1].High/bins[1].Low > wideSpan}
	at := func(v float64) float64 {
		if x.Powers {
			return math.Log10(v)
		}
		return v
	}
	panel := figure.Panel{Y: figure.Axis{Name: "adds", Unit: a.unit}}
	c := figure.Curve{Name: s.Term.Name}
	for k, b := range bins {
		v := s.Cells[k]
		switch {
		case !b.Missing:
			c.X, c.Y = append(c.X, at(b.Low), at(b.High)), append(c.Y, v.Value, v.Value)
			c.Low, c.High = append(c.Low, v.Value-v.Deviation, v.Value-v.Deviation), append(c.High, v.Value+v.Deviation, v.Value+v.Deviation)
		case v.Weight > 0:
			panel.Levels = append(panel.Levels, figure.Level{Name: "where it is missing", At: v.Value})
		}
	}
	panel.Curves = []figure.Curve{c}
	return &figure.Chart{Title: "What " + s.Term.Name + " adds", Note: aboutBand, X: x, Panels: []figure.Panel{panel}}
}

// bars draws a feature of texts.
func (a *artist) bars(s estimate.Shape) figure.Figure {
	var order []int
	for k, c := range s.Cells {
		if c.Weight > 0 {
			order = append(order, k)
		}
	}
	says := func(k int) float64 { return s.Cells[k].Weight * math.Abs(s.Cells[k].Value) }
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(says(k), says(i)) })
	b := &figure.Bars{Title: "What " + s.Term.Name + " adds", X: figure.Axis{Name: s.Term.Name + " adds", Unit: a.unit, Zero: true},
		Note: strings.Replace(aboutBand, "band", "line", 1)}
	if len(order) > mostDrawn {
		b.Note += fmt.Sprintf(" The %d of %d that say most.", mostDrawn, len(order))
		order = order[:mostDrawn]
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(s.Cells[k].Value, s.Cells[i].Value) })
	for _, k := range order {
		c := s.Cells[k]
		b.Groups = append(b.Groups, figure.Group{Name: document.Printable(s.Axes[0].Bins[k].String()), Bars: []figure.Bar{{Value: c.Value, Low: c.Value - c.Deviation, High: c.Value + c.Deviation}}})
	}
	return b
}

// heat draws a map: along the width a feature of numbers. Bins without rows are empty.
func (a *artist) heat(s estimate.Shape) figure.Figure {
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
	h := &figure.Heat{Title: "What " + s.Term.Name + " adds", X: figure.Axis{Name: columns.Feature}, Kinds: []string{"adds", "takes off"},
		Note: fmt.Sprintf("The strongest colour is %s %s. Numbers are where bins begin; what no row was in is empty.", fourDigits(most), a.unit)}
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
			if c == 0 { // where the number is missing
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
