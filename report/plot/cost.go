package plot

import (
	"slices"

	"graft/report/document"
	"graft/report/figure"
)

// cost is a cost of jobs on the horizontal axis of accuracy figures.
type cost struct {
	name   string // value of Given.X
	column string // column of the table of epochs
	axis   figure.Axis
}

// costs lists the costs; the first is the default.
var costs = []cost{
	{"time", "time", budgetAxis},
	{"device-time", "device_time", figure.Axis{Name: "device time", Unit: "s", Zero: true}},
	{"flop", "flop", figure.Axis{Name: "floating-point operations", Zero: true}},
}

// costNames lists the values of Given.X.
func costNames() []string {
	var names []string
	for _, c := range costs {
		names = append(names, c.name)
	}
	return names
}

// Validate returns an error if X is neither empty nor a quantity that the horizontal axis can show.
func (g Given) Validate() error {
	if g.X == "" {
		return nil
	}
	return oneOf("option x", g.X, costNames()...)
}

// costOf returns the cost with a name; empty means the first.
func costOf(name string) cost {
	return costs[max(0, slices.Index(costNames(), name))]
}

// scaled returns the axis, and the values in its unit. The largest value of all lists determines the unit of
// floating-point operations.
func (c cost) scaled(values []float64, others ...[]float64) (figure.Axis, []float64) {
	if c.axis.Unit != "" {
		return c.axis, values
	}
	largest := slices.Max(append(slices.Concat(others...), values...))
	axis, scaled, size := c.axis, slices.Clone(values), 1.0
	axis.Unit, size = document.FLOPUnit(largest)
	for k := range scaled {
		scaled[k] /= size
	}
	return axis, scaled
}
