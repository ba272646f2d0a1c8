package runs

import (
	"math"
	"slices"

	"graft/internal/stat"
	"graft/report/document"
)

// Quantity is a named result with one value, or one value per seed.
type Quantity struct {
	Name string
	// unit such as "s", "nats" or "points"; "share" means a fraction between 0 and 1, and empty means a count
	Unit   string
	Better Direction // direction in which the quantity improves
	Seeds  []int64   // seeds of the values; nil if the value does not belong to a seed
	Values []float64
	Signed bool    // values may be negative
	Level  float64 // confidence level of the interval, such as 0.95; zero means 0.95
	// name of the sweep's case whose trials produced the values; empty for runs other than sweeps
	Case string
	// 95% interval that the run itself computed, such as an interval over jobs; if nil, reports compute an interval
	// over Values
	Over   *stat.Interval
	Detail bool // the run's own tables show the quantity, so the table of quantities leaves it out
	Alone  bool // several runs are not compared by the quantity
}

// Range returns the range of possible values.
func (q Quantity) Range() stat.Range {
	of := RangeOf(q.Unit)
	if q.Signed {
		of.Low = -of.High
	}
	return of
}

// RangeOf returns the range of possible values of a quantity with the given unit. The range starts at zero. It ends at
// 1 for a share and at 100 for points; for other units it has no upper end.
func RangeOf(unit string) stat.Range {
	switch unit {
	case document.UnitShare:
		return stat.Shares
	case document.UnitPoints:
		return stat.Percents
	}
	return stat.FromZero
}

// Direction tells whether larger or smaller values of a quantity are better.
type Direction int

const (
	Neutral Direction = iota // neither direction is better
	Higher                   // larger values are better
	Lower                    // smaller values are better
)

// seeded returns a quantity with the value of one seed.
func seeded(name, unit string, to Direction, seed int64, value float64) Quantity {
	return Quantity{Name: name, Unit: unit, Better: to, Seeds: []int64{seed}, Values: []float64{value}}
}

// seedless returns a quantity whose value belongs to no seed.
func seedless(name, unit string, to Direction, value float64) Quantity {
	return Quantity{Name: name, Unit: unit, Better: to, Values: []float64{value}}
}

// finite drops quantities without values or with a value that is not finite.
func finite(list ...Quantity) []Quantity {
	return slices.DeleteFunc(list, func(q Quantity) bool {
		return len(q.Values) == 0 || slices.ContainsFunc(q.Values,
			func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	})
}

// Quantity returns the first value of a quantity, and false if the run has no such quantity.
func (r *Run) Quantity(name string) (float64, bool) {
	for _, q := range r.Quantities {
		if q.Name == name && len(q.Values) > 0 {
			return q.Values[0], true
		}
	}
	return 0, false
}

// Word returns the name of a direction in JSON: "more", "less", or an empty string for Neutral.
func (a Direction) Word() string {
	return map[Direction]string{Higher: "more", Lower: "less"}[a]
}
