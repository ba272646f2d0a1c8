package estimate

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Term says what a term is about.
type Term struct {
	Name       string   // that of its features
	Features   []string // one, or two of a pair
	Importance float64  // mean of the absolute contribution to the rows that were learned from
}

// Terms are all terms: one for each feature in their order, then pairs, the strongest of
// the screening first.
func (m *Model) Terms() []Term {
	terms := make([]Term, len(m.terms))
	for k := range m.terms {
		t := &m.terms[k]
		terms[k] = Term{Name: m.name(t), Importance: t.importance()}
		for _, a := range t.axes {
			terms[k].Features = append(terms[k].Features, m.features[a.feature].name)
		}
	}
	return terms
}

func (t *term) importance() float64 {
	sum, weight := 0.0, 0.0
	for k, v := range t.values {
		sum += t.weights[k] * math.Abs(v)
		weight += t.weights[k]
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// Shape is a term drawn: a curve over the bins of its feature, or a map over those of two.
type Shape struct {
	Term  Term   // what it is about
	Axes  []Axis // one, or two of a map
	Cells []Cell // ordered by bin of the first axis and, of a pair, within it by bin of the second
}

// Axis is a feature of a shape.
type Axis struct {
	Feature string // its name
	Text    bool   // whether its values are texts
	Bins    []Bin  // in order, that of missing values first
}

// Bin is a part of a feature's values.
type Bin struct {
	Missing   bool     // holds the rows without a value; it is the first bin
	Low, High float64  // of numbers: holds those from Low up to but without High; the last one has High
	Levels    []string // of texts: those that it holds
}

// mostNamed is the number of texts of a bin that are named one by one.
const mostNamed = 3

// String names a bin for people.
func (b Bin) String() string {
	switch {
	case b.Missing:
		return "(missing)"
	case len(b.Levels) > mostNamed:
		return fmt.Sprintf("%s … (%d)", strings.Join(b.Levels[:mostNamed], ", "), len(b.Levels))
	case len(b.Levels) > 0:
		return strings.Join(b.Levels, ", ")
	case b.Low == b.High:
		return number(b.Low)
	}
	return number(b.Low) + " to " + number(b.High)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 32) }

// Cell is the contribution of a term in one bin, or in a pair of bins.
type Cell struct {
	Value     float64 // in the target's unit, or added to log(1 + target)
	Deviation float64 // of Value, over the bags
	Weight    float64 // rows that were learned from
}

// Shape draws a term, counted as Terms counts them.
func (m *Model) Shape(of int) (Shape, error) {
	if of < 0 || of >= len(m.terms) {
		return Shape{}, fmt.Errorf("drawing term %d: there are %d; count from 0", of, len(m.terms))
	}
	t := &m.terms[of]
	s := Shape{Term: m.Terms()[of]}
	for _, a := range t.axes {
		s.Axes = append(s.Axes, m.axis(a))
	}
	for k, v := range t.values {
		s.Cells = append(s.Cells, Cell{Value: v, Deviation: t.deviations[k], Weight: t.weights[k]})
	}
	return s, nil
}

// axis joins a feature's bins into the groups of a term.
func (m *Model) axis(a axis) Axis {
	f := &m.features[a.feature]
	drawn := Axis{Feature: f.name, Text: f.text, Bins: make([]Bin, a.size)}
	drawn.Bins[missingBin].Missing = true
	seen := make([]bool, len(drawn.Bins))
	for bin := 1; bin < f.bins(); bin++ {
		at := a.at(uint16(bin))
		into := &drawn.Bins[at]
		if f.text {
			into.Levels = append(into.Levels, f.levelsOf(bin)...)
			continue
		}
		low, high := f.limits(bin)
		if !seen[at] {
			into.Low, seen[at] = low, true
		}
		into.High = high
	}
	return drawn
}

func (f *feature) levelsOf(bin int) []string {
	if bin-1 < f.own {
		return f.levels[bin-1 : bin]
	}
	return f.levels[f.own:]
}

func (f *feature) limits(bin int) (low, high float64) {
	low, high = float64(f.low), float64(f.high)
	if bin > 1 {
		low = float64(f.edges[bin-2])
	}
	if bin <= len(f.edges) {
		high = float64(f.edges[bin-1])
	}
	return low, high
}

// Table is a shape as rows of text, of which the first names the columns: for each
// feature the bin and, of numbers, where it begins and ends; then value, deviation and
// rows. Numbers are exact.
func (s Shape) Table() [][]string {
	var head []string
	for _, a := range s.Axes {
		head = append(head, a.Feature)
		if !a.Text {
			head = append(head, a.Feature+" low", a.Feature+" high")
		}
	}
	rows := [][]string{append(head, "value", "deviation", "rows")}
	for k, c := range s.Cells {
		last := len(s.Axes) - 1
		second := k % len(s.Axes[last].Bins)
		row := s.Axes[last].cells(second)
		if last > 0 {
			row = append(s.Axes[0].cells(k/len(s.Axes[last].Bins)), row...)
		}
		rows = append(rows, append(row, plain(c.Value), plain(c.Deviation), plain(c.Weight)))
	}
	return rows
}

func (a Axis) cells(bin int) []string {
	b := a.Bins[bin]
	switch {
	case a.Text:
		return []string{b.String()}
	case b.Missing:
		return []string{b.String(), "", ""}
	}
	return []string{b.String(), number(b.Low), number(b.High)}
}

// WriteCSV writes the shape's table as CSV.
func (s Shape) WriteCSV(w io.Writer) error {
	if err := csv.NewWriter(w).WriteAll(s.Table()); err != nil {
		return fmt.Errorf("writing the shape of %s: %w", s.Term.Name, err)
	}
	return nil
}
