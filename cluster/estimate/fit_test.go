package estimate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/estimate"
)

// draws are so many columns of numbers between 0 and 1.
func draws(seed uint64, columns, rows int) [][]float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	drawn := make([][]float64, columns)
	for k := range drawn {
		drawn[k] = make([]float64, rows)
		for row := range drawn[k] {
			drawn[k][row] = random.Float64()
		}
	}
	return drawn
}

func TestLearnsACurve(t *testing.T) {
	x := draws(1, 2, 2000)
	y := make([]float64, 2000)
	for row := range y {
		y[row] = 3*x[0][row] + 1
	}
	var table estimate.Table
	table.AddNumbers("slope", x[0])
	table.AddNumbers("idle", x[1])
	table.SetTarget(y)
	m, err := estimate.Fit(&table, estimate.Options{Bags: 2})
	require.NoError(t, err)
	got, err := m.Predict([]estimate.Value{{Number: 0.5}, {Number: 0.9}})
	require.NoError(t, err)
	require.InDelta(t, 2.5, got, 0.05)
}
