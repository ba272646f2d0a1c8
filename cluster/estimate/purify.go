package estimate

import (
	"math"
	"slices"

	"graft/internal/parallel"
)

const (
	// purifySweeps is the maximum number of alternating sweeps over the rows and columns of a map.
	purifySweeps = 1000
	// purifyTolerance is a share of a map's largest value: smaller means are rounding.
	purifyTolerance = 1e-13
)

// purify moves the means of a map's rows and columns into the curves of the two features, so that the map's rows and
// columns have mean zero. This decomposition is unique among all sums of curves and maps with the same predictions
// (Lengerich, Tan, Chang, Hooker, Caruana: Purifying Interaction Effects with the Functional ANOVA, 2020). Weights are
// rows by cell.
func purify(values, weights []float64, rows, cols int) (first, second []float64) {
	first, second = make([]float64, rows), make([]float64, cols)
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	for range purifySweeps {
		moved := 0.0
		for r := range rows {
			moved = max(moved, centre(values, weights, r*cols, 1, cols, &first[r]))
		}
		for c := range cols {
			moved = max(moved, centre(values, weights, c, cols, rows, &second[c]))
		}
		if moved <= largest*purifyTolerance {
			break
		}
	}
	return first, second
}

// centre moves the mean of n values with a given stride into another value, and returns the shift.
func centre(values, weights []float64, from, stride, n int, into *float64) float64 {
	sum, weight := 0.0, 0.0
	for k, at := 0, from; k < n; k, at = k+1, at+stride {
		sum += weights[at] * values[at]
		weight += weights[at]
	}
	if weight == 0 {
		return 0
	}
	mean := sum / weight
	for k, at := 0, from; k < n; k, at = k+1, at+stride {
		values[at] -= mean
	}
	*into += mean
	return math.Abs(mean)
}

// settle makes the learned scores of a bag unique: maps without means of rows and columns, curves without means, and
// zero in bins without rows.
func (p *plan) settle(b *bag, maps [][]float64) {
	for k := range p.pairs {
		c := &p.pairs[k]
		n := [2]int{c.groups[0].n, c.groups[1].n}
		first, second := purify(b.pairs[k], maps[k], n[0], n[1])
		for side, moved := range [2][]float64{first, second} {
			curve := b.mains[c.features[side]]
			for bin := range curve {
				curve[bin] += moved[c.groups[side].of[bin]]
			}
		}
		clearEmpty(b.pairs[k], maps[k], n[0], n[1])
	}
	for k, curve := range b.mains {
		mean := dot(curve, p.weights[k]) / float64(len(p.target))
		b.base += mean
		for bin := range curve {
			curve[bin] -= mean
			if p.weights[k][bin] == 0 {
				curve[bin] = 0
			}
		}
	}
}

// clearEmpty sets rows and columns to zero that contain no row of the table. Single empty cells keep the values that
// their neighbours suggest.
func clearEmpty(values, weights []float64, rows, cols int) {
	used := [2][]bool{make([]bool, rows), make([]bool, cols)}
	for cell, w := range weights {
		if w > 0 {
			used[0][cell/cols], used[1][cell%cols] = true, true
		}
	}
	for cell := range values {
		if !used[0][cell/cols] || !used[1][cell%cols] {
			values[cell] = 0
		}
	}
}

func (p *plan) model(bags []*bag) *Model {
	maps := make([][]float64, len(p.pairs))
	for k := range p.pairs {
		_, maps[k] = p.mapOf(p.pairs[k].cells, p.pairs[k].size(), p.target)
	}
	parallel.Do(len(bags), p.o.Workers, func(k int) { p.settle(bags[k], maps) })
	m := &Model{features: p.features, target: p.o.Target, rows: len(p.target), smear: 1}
	for _, b := range bags {
		m.base += b.base / float64(len(bags))
	}
	for k := range p.features {
		t := term{axes: []axis{{feature: k, size: p.features[k].bins()}}, weights: p.weights[k]}
		t.average(bags, func(b *bag) []float64 { return b.mains[k] })
		m.terms = append(m.terms, t)
	}
	for k, c := range p.pairs {
		t := term{weights: maps[k]}
		for side := range c.features {
			t.axes = append(t.axes, axis{feature: c.features[side], groups: c.groups[side].of, size: c.groups[side].n})
		}
		t.average(bags, func(b *bag) []float64 { return b.pairs[k] })
		m.terms = append(m.terms, t)
	}
	if p.o.Target == TargetLog {
		m.smear = p.smearing(m)
	}
	return m
}

func (t *term) average(bags []*bag, values func(b *bag) []float64) {
	n := float64(len(bags))
	t.values, t.deviations = make([]float64, len(t.weights)), make([]float64, len(t.weights))
	for _, b := range bags {
		for k, v := range values(b) {
			t.values[k] += v / n
		}
	}
	for _, b := range bags {
		for k, v := range values(b) {
			t.deviations[k] += (v - t.values[k]) * (v - t.values[k])
		}
	}
	for k, sum := range t.deviations {
		t.deviations[k] = math.Sqrt(sum / max(n-1, 1))
	}
}

// smearing returns the factor from the exponential of a mean logarithm to a mean: the mean of the exponentials of the
// residuals (Duan: Smearing Estimate, 1983).
func (p *plan) smearing(m *Model) float64 {
	left := slices.Clone(p.target)
	for k := range p.features {
		subtract(left, p.bins[k], m.terms[k].values)
	}
	for k := range p.pairs {
		subtract(left, p.pairs[k].cells, m.terms[len(p.features)+k].values)
	}
	sum := 0.0
	for _, r := range left {
		sum += math.Exp(r - m.base)
	}
	return sum / float64(len(left))
}
