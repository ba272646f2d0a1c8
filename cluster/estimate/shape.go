package estimate

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Term describes a term of a model: a function of one feature or of a pair of features.
type Term struct {
	Name       string   // name of the term, made from the names of its features
	Features   []string // one feature, or two for a pair
	Importance float64  // mean absolute contribution of the term over the training rows
}

// Terms returns all terms: first one term per feature, in the order of features, then one term per pair of features, in
// descending order of the gain that was estimated when the pairs were selected.
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

// Shape holds the contributions of a term in all bins: a curve over the bins of one feature, or a surface over the
// pairs of bins of two features.
type Shape struct {
	Term  Term   // term with this shape
	Axes  []Axis // one axis for a curve, two axes for a surface
	Cells []Cell // cells ordered by the bin of the first axis, then by the bin of the second axis
}

// Axis is a feature of a shape, with the bins of this feature.
type Axis struct {
	Feature string // name of the feature
	Text    bool   // the feature's values are texts
	Bins    []Bin  // bins in ascending order; the bin of missing values comes first
}

// Bin is a range or a set of values of a feature.
type Bin struct {
	Missing   bool     // bin of the rows without a value, always the first bin
	Low, High float64  // range of a numeric bin, from Low to below High; the last bin includes High
	Levels    []string // texts of a bin of texts
}

// mostNamed is the number of texts of a bin that are listed by name.
const mostNamed = 3

// String describes a bin in words.
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
	Value     float64 // contribution in the target's unit, or the summand of log(1 + target)
	Deviation float64 // standard deviation of Value over the bags
	Weight    float64 // number of training rows in the cell
}

// Shape returns the shape of the term with the index "of" in the list that Terms returns.
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

// Table returns a shape as rows of text. The first row has the names of the columns. Each feature has a column for its
// bin; a numeric feature also has columns for the ends of the bin. The last columns are "value", "deviation" and
// "rows". Numbers are written with full float32 precision.
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
