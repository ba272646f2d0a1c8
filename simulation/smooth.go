package simulation

import (
	"slices"

	"graft/internal/stat"
	"graft/simulation/tables"
)

// Points is the number of points in an accuracy of 1: a point is an accuracy of 0.01.
const Points = 100

// MeanAccuracies returns the mean accuracy of each record over its seeds.
func MeanAccuracies(t *tables.Table) []float64 {
	values := make([]float64, len(t.Records))
	for k := range t.Records {
		values[k] = t.Records[k].Mean()
	}
	return values
}

// ridge is the penalty that keeps the fit of Smoothed stable.
const ridge = 0.1

// Smoothed returns the accuracies that a simple model, fitted to the table, predicts for its sequences. The features of
// the model are the number of times that each action is taken, how early it is taken, and the squares and products of
// these numbers of times. The fit averages out the noise of single runs. It also removes all effects that the model
// cannot express.
func Smoothed(t *tables.Table) []float64 {
	var rows [][]float64
	names := actionNames(t)
	for k := range t.Records {
		rows = append(rows, lawOf(t.Records[k].Sequence, names))
	}
	return stat.Ridge(rows, MeanAccuracies(t), ridge)
}

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

// lawOf returns the features of a sequence.
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
