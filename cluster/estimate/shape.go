package estimate

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Term identifies a term.
type Term struct {
	Name       string   // names of its features
	Features   []string // one feature, or two for a pair
	Importance float64  // mean absolute contribution over the training rows
}

// Terms returns all terms: one for each feature in order, then pairs, strongest in the screening first.
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

// Shape is a term in tabular form: a curve over the bins of its feature, or a map over the bins of two features.
type Shape struct {
	Term  Term   // its term
	Axes  []Axis // one axis, or two for a map
	Cells []Cell // ordered by bin of the first axis, then of the second
}

// Axis is a feature of a shape.
type Axis struct {
	Feature string // name of the feature
	Text    bool   // its values are texts
	Bins    []Bin  // in order, missing values first
}

// Bin is a part of a feature's values.
type Bin struct {
	Missing   bool     // rows without a value; the first bin
	Low, High float64  // of numbers: range from Low up to but excluding High; the last bin includes High
	Levels    []string // of texts: its texts
}

// mostNamed is the number of texts of a bin that are listed by name.
const mostNamed = 3

// String describes a bin for people.
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
	Value     float64 // in the target's unit, or the summand of log(1 + target)
	Deviation float64 // deviation of Value over the bags
	Weight    float64 // number of training rows
}

// Shape returns a term by its index in Terms.
func (m *Model) Shape(of int) (Shape, error) {
	if of < 0 || of >= len(m.terms) {
		return Shape{}, fmt.Errorf("unknown term %d; expected 0 to %d", of, len(m.terms)-1)
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

// Table returns a shape as rows of text. The first row names the columns: for each feature its bin and, for numbers,
// the ends of the bin; then value, deviation and rows. Numbers are exact.
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
		return fmt.Errorf("write the shape of %s: %w", s.Term.Name, err)
	}
	return nil
}
