package simulation

import (
	"math"
	"slices"

	"graft/simulation/tables"
)

// inPoints turns an accuracy into points, a hundredth each.
const Points = 100

// meanAccuracies are those of a table's records.
func MeanAccuracies(t *tables.Table) []float64 {
	values := make([]float64, len(t.Records))
	for k := range t.Records {
		values[k] = t.Records[k].Mean()
	}
	return values
}

// meanAndDeviation are the mean and the standard deviation, divided by the number of values.
func MeanAndDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

// ridge keeps the fit of Smoothed sound where measures depend on each other.
const ridge = 0.1

// Smoothed are the accuracies that a simple law of a table gives its sequences: how
// often each action is taken, with squares and products, and how early. Noise of
// single runs averages out in it; so does what the law cannot say.
func Smoothed(t *tables.Table) []float64 {
	var rows [][]float64
	names := actionNames(t)
	for k := range t.Records {
		rows = append(rows, lawOf(t.Records[k].Sequence, names))
	}
	return fitted(rows, MeanAccuracies(t))
}

// actionNames are all actions but none, sorted.
func actionNames(t *tables.Table) []string {
	var names []string
	for k := range t.Records {
		for _, a := range t.Records[k].Sequence {
			if a != tables.None && !slices.Contains(names, a) {
				names = append(names, a)
			}
		}
	}
	slices.Sort(names)
	return names
}

// lawOf measures a sequence.
func lawOf(sequence, names []string) []float64 {
	counts, early := make([]float64, len(names)), make([]float64, len(names))
	for at, a := range sequence {
		if k, ok := slices.BinarySearch(names, a); ok {
			counts[k]++
			early[k] += float64(len(sequence)-at) / float64(len(sequence))
		}
	}
	row := slices.Concat(counts, early)
	for i := range counts {
		for j := i; j < len(counts); j++ {
			row = append(row, counts[i]*counts[j])
		}
	}
	return row
}

// fitted is what ridge regression makes of values, the mean left free.
func fitted(rows [][]float64, values []float64) []float64 {
	mean, _ := MeanAndDeviation(values)
	width := len(rows[0])
	centre := make([]float64, width)
	for _, row := range rows {
		for k, x := range row {
			centre[k] += x / float64(len(rows))
		}
	}
	normal := make([][]float64, width)
	for i := range normal {
		normal[i] = make([]float64, width+1)
		for r, row := range rows {
			for j := range width {
				normal[i][j] += (row[i] - centre[i]) * (row[j] - centre[j])
			}
			normal[i][width] += (row[i] - centre[i]) * (values[r] - mean)
		}
		normal[i][i] += ridge
	}
	weights := solved(normal)
	out := make([]float64, len(rows))
	for r, row := range rows {
		out[r] = mean
		for k, x := range row {
			out[r] += weights[k] * (x - centre[k])
		}
	}
	return out
}

// solved is Gauss's elimination of a symmetric positive definite system, whose right
// side is the last column; it needs no exchange of rows.
func solved(m [][]float64) []float64 {
	n := len(m)
	for i := range n {
		for j := i + 1; j < n; j++ {
			factor := m[j][i] / m[i][i]
			for k := i; k <= n; k++ {
				m[j][k] -= factor * m[i][k]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = m[i][n]
		for k := i + 1; k < n; k++ {
			x[i] -= m[i][k] * x[k]
		}
		x[i] /= m[i][i]
	}
	return x
}
