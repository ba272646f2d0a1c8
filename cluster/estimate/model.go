package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/internal/validate"
)

// Model predicts a value as a sum of terms. Create it with Fit, Load or Parse. It is immutable and safe for concurrent
// use. The zero value predicts zero.
type Model struct {
	features []feature
	terms    []term // one per feature, in order, then pairs
	base     float64
	smear    float64 // see smearing; 1 if unused
	target   string
	rows     int // number of training rows
}

// term is a curve over one feature's bins, or a map over groups of two features' bins.
type term struct {
	axes       []axis
	values     []float64
	deviations []float64 // deviations of values over the bags
	weights    []float64 // number of training rows
}

// axis is a feature of a term.
type axis struct {
	feature int
	groups  []uint16 // group by bin; nil for a curve, whose bins are the groups
	size    int      // number of groups, including missing values
}

// at returns the group of a bin on the axis; negative if the value is unknown.
func (a axis) at(bin uint16) int {
	switch {
	case bin == noBin:
		return -1
	case a.groups == nil:
		return int(bin)
	}
	return int(a.groups[bin])
}

// cell returns the cell of a row in a term; negative if a value is unknown.
func (m *Model) cell(t *term, bins []uint16) int {
	cell := 0
	for _, a := range t.axes {
		at := a.at(bins[a.feature])
		if at < 0 {
			return -1
		}
		cell = cell*a.size + at
	}
	return cell
}

// Features returns the names of the columns that Predict expects, in order.
func (m *Model) Features() []string {
	return mapped(m.features, func(f feature) string { return f.name })
}

// Rows returns the number of training rows.
func (m *Model) Rows() int { return m.rows }

// Target returns the statistic that the model predicts, as in the field Target of Options. If the model learned from
// logarithms of the target, the values in each [Shape] are logarithms too.
func (m *Model) Target() string { return m.target }

// Base returns the constant part of a prediction: the mean of the target.
func (m *Model) Base() float64 { return m.base }

// Predict returns the prediction for a row with values in the order of Features. A string that does not occur in the
// training data contributes zero.
func (m *Model) Predict(row []Value) (float64, error) {
	bins, err := m.binsOf(row)
	if err != nil {
		return 0, fmt.Errorf("predict a row: %w", err)
	}
	return m.finish(m.sum(bins)), nil
}

func (m *Model) binsOf(row []Value) ([]uint16, error) {
	if len(row) != len(m.features) {
		return nil, fmt.Errorf("the row has %d values; expected %d, one for each feature of %q", len(row),
			len(m.features), m.Features())
	}
	bins := make([]uint16, len(row))
	for k, v := range row {
		if f := &m.features[k]; !f.text && math.IsInf(v.Number, 0) {
			return nil, fmt.Errorf("feature %s is %v; expected a finite number, or NaN for a missing value", f.name,
				v.Number)
		}
		bins[k] = m.features[k].bin(v)
	}
	return bins, nil
}

func (m *Model) sum(bins []uint16) float64 {
	sum := m.base
	for k := range m.terms {
		if cell := m.cell(&m.terms[k], bins); cell >= 0 {
			sum += m.terms[k].values[cell]
		}
	}
	return sum
}

// finish converts a sum of terms to the target's unit.
func (m *Model) finish(sum float64) float64 {
	switch m.target {
	case TargetLog:
		return math.Exp(sum)*m.smear - 1
	case TargetMedian:
		return math.Expm1(sum)
	}
	return sum
}

// PredictTable returns the prediction for each row of a table. The table must have a column for each feature, in any
// order, and may have other columns.
func (m *Model) PredictTable(t *Table) ([]float64, error) {
	columns, err := m.columnsOf(t)
	if err != nil {
		return nil, fmt.Errorf("predict a table: %w", err)
	}
	predicted := make([]float64, t.Rows())
	bins := make([]uint16, len(columns))
	for row := range predicted {
		for k := range columns {
			bins[k] = columns[k][row]
		}
		predicted[row] = m.finish(m.sum(bins))
	}
	return predicted, nil
}

func (m *Model) columnsOf(t *Table) ([][]uint16, error) {
	if t.fault != nil {
		return nil, t.fault
	}
	columns := make([][]uint16, len(m.features))
	var faults validate.Faults
	for k := range m.features {
		f := &m.features[k]
		at := t.find(f.name)
		switch {
		case at < 0:
			faults = append(faults, fmt.Errorf("column %s is missing; the model needs it", f.name))
		case t.columns[at].isText() != f.text:
			faults = append(faults, fmt.Errorf("column %s contains %s; the model expects %s", f.name, kindOf(!f.text),
				kindOf(f.text)))
		default:
			columns[k] = f.column(&t.columns[at])
		}
	}
	return columns, errors.Join(faults...)
}

func kindOf(text bool) string {
	if text {
		return "texts"
	}
	return "numbers"
}

// Contribution is the part of a prediction that one term contributes.
type Contribution struct {
	Term int    // index of the term, for Model.Shape
	Name string // name of the term
	// contribution in the target's unit; if the model learned from logarithms, contribution to log(1 + target)
	Value     float64
	Deviation float64 // standard deviation of Value over the bags
}

// Explain decomposes a prediction: Base and all contributions add up to the prediction. If the model learned from
// logarithms, Base and the contributions add up to log(1 + p), where p is the prediction before Duan's smearing
// correction. The largest contributions come first.
func (m *Model) Explain(row []Value) ([]Contribution, error) {
	bins, err := m.binsOf(row)
	if err != nil {
		return nil, fmt.Errorf("explain a prediction: %w", err)
	}
	parts := make([]Contribution, len(m.terms))
	for k := range m.terms {
		t := &m.terms[k]
		parts[k] = Contribution{Term: k, Name: m.name(t)}
		if cell := m.cell(t, bins); cell >= 0 {
			parts[k].Value, parts[k].Deviation = t.values[cell], t.deviations[cell]
		}
	}
	slices.SortStableFunc(parts, func(a, b Contribution) int {
		return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value))
	})
	return parts, nil
}

func (m *Model) name(t *term) string {
	name := m.features[t.axes[0].feature].name
	if len(t.axes) > 1 {
		name += " × " + m.features[t.axes[1].feature].name
	}
	return name
}
