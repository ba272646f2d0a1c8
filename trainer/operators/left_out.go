package operators

import (
	"math"
	"slices"
)

// LeftOut holds the leave-one-out errors of predicted operator times: each shape is predicted from the other shapes.
// These errors estimate the error for new shapes that lie between measured shapes.
type LeftOut struct {
	Shapes int     // number of shapes that were left out; zero means that no operator has several shapes
	Mean   float64 // relative error of the time of both passes: the mean, weighted by the time
	Worst  float64 // largest relative error
	Name   string  // operator with the largest error
	At     string  // its shapes
}

// leastTime is the smallest share of a step's time for an operator to be left out.
const leastTime = 0.005

// LeaveOut returns the errors of the operators that take at least half a percent of the step and that were measured
// with several shapes.
func (t *Table) LeaveOut() (found LeftOut) {
	sum := t.sums()
	whole, counts := max(sum.host, sum.device), map[string]int{}
	for k := range t.Measured {
		counts[t.Measured[k].Name]++
	}
	off, all := 0.0, 0.0
	for k := range t.Measured {
		m := &t.Measured[k]
		if counts[m.Name] < 2 || float64(m.Calls)*max(m.host(), m.device()) < leastTime*whole {
			continue
		}
		rest := *t
		rest.Measured = slices.Delete(slices.Clone(t.Measured), k, k+1)
		f, c := rest.fit(), m.call()
		host, device := f.seconds(c, 0, 0)+f.seconds(c, 0, 1), f.seconds(c, 1, 0)+f.seconds(c, 1, 1)
		time := float64(m.Calls) * max(m.host(), m.device())
		miss := math.Abs(max(host, device)/max(m.host(), m.device()) - 1)
		found.Shapes, off, all = found.Shapes+1, off+miss*time, all+time
		if miss > found.Worst {
			found.Worst, found.Name, found.At = miss, m.Name, m.Shapes
		}
	}
	if all > 0 {
		found.Mean = off / all
	}
	return found
}
