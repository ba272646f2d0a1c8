package estimate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/estimate"
)

func TestScoresByHand(t *testing.T) {
	s := must(estimate.Score([]float64{1, 2, 3, 6}, []float64{2, 2, 2, 5}, estimate.ScoreOptions{}))
	require.Equal(t, 4, s.Rows)
	require.InDelta(t, 0.75, s.MAE.Value, sumTolerance)
	require.InDelta(t, 1-3.0/14, s.R2.Value, sumTolerance)
	require.LessOrEqual(t, s.MAE.Low, s.MAE.Value)
	require.GreaterOrEqual(t, s.MAE.High, s.MAE.Value)

	same := must(estimate.Score([]float64{5, 5}, []float64{5, 6}, estimate.ScoreOptions{}))
	require.True(t, math.IsNaN(same.R2.Value) && math.IsNaN(same.R2.Low) && math.IsNaN(same.R2.High))
}

func TestScoresRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		truth, predicted []float64
		o                estimate.ScoreOptions
		want             string
	}{
		"nothing":  {nil, nil, estimate.ScoreOptions{}, "0 rows and 0 predictions"},
		"too few":  {[]float64{1, 2}, []float64{1}, estimate.ScoreOptions{}, "2 rows and 1 predictions"},
		"NaN":      {[]float64{1, 2}, []float64{1, math.NaN()}, estimate.ScoreOptions{}, "row 1"},
		"draws":    {[]float64{1}, []float64{1}, estimate.ScoreOptions{Draws: -1}, "draws is -1"},
		"level":    {[]float64{1}, []float64{1}, estimate.ScoreOptions{Level: 1}, "level is 1"},
		"no block": {[]float64{1}, []float64{1}, estimate.ScoreOptions{Block: -1}, "block is -1"},
	} {
		_, err := estimate.Score(c.truth, c.predicted, c.o)
		require.ErrorContains(t, err, c.want, name)
	}
}

// If rows depend on each other, a 95% interval contains the truth about as often only with blocks.
func TestIntervalsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	const trials, n, together = 200, 400, 10
	held, heldInBlocks := 0, 0
	for range trials {
		truth, predicted := make([]float64, n), make([]float64, n)
		shared := 0.0
		for row := range truth {
			if row%together == 0 {
				shared = random.NormFloat64()
			}
			truth[row] = shared
		}
		mae := math.Sqrt(2 / math.Pi) // mean absolute value of a normal deviate
		one := must(estimate.Score(truth, predicted, estimate.ScoreOptions{Draws: 200}))
		blocks := must(estimate.Score(truth, predicted, estimate.ScoreOptions{Draws: 200, Block: 2 * together}))
		if one.MAE.Low <= mae && mae <= one.MAE.High {
			held++
		}
		if blocks.MAE.Low <= mae && mae <= blocks.MAE.High {
			heldInBlocks++
		}
	}
	t.Logf("measured: of %d intervals of 95 %% %d hold with blocks and %d without, where rows hang together", trials,
		heldInBlocks, held)
	require.Greater(t, heldInBlocks, trials*85/100)
	require.Less(t, held, trials*65/100)
}

func TestSplits(t *testing.T) {
	windows := must(estimate.WalkForward([]int64{0, 4, 10, 14, 25}, []int64{1, 11, 12, 30, 26}, 5, 10))
	require.Equal(t, []estimate.Window{
		{From: 5, To: 15, Train: []int{0}, Test: []int{2, 3}},
		{From: 15, To: 25, Train: []int{0, 1, 2}},
		{From: 25, To: 35, Train: []int{0, 1, 2}, Test: []int{4}},
	}, windows)
	_, err := estimate.WalkForward([]int64{1}, nil, 0, 0)
	require.ErrorContains(t, err, "a length of at least 1")
	_, err = estimate.WalkForward([]int64{1 << 40}, nil, 0, 1)
	require.ErrorContains(t, err, "check the unit")
	_, err = estimate.WalkForward(make([]int64, 5000), nil, -60_000, 1)
	require.ErrorContains(t, err, "too many windows (60001) for 5000 rows")
}

func TestWindowsHoldEachRowOnceAndLearnOnlyFromThePast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "rows")
		times, known := make([]int64, n), make([]int64, n)
		for row := range times {
			times[row] = rapid.Int64Range(0, 1000).Draw(t, "time")
			known[row] = times[row] + rapid.Int64Range(0, 300).Draw(t, "after")
		}
		first := rapid.Int64Range(0, 500).Draw(t, "first")
		windows := must(estimate.WalkForward(times, known, first, rapid.Int64Range(1, 400).Draw(t, "every")))
		tested := make([]int, n)
		for _, w := range windows {
			for _, row := range w.Train {
				require.Less(t, known[row], w.From)
			}
			for _, row := range w.Test {
				tested[row]++
			}
		}
		for row, time := range times {
			want := 0
			if time >= first {
				want = 1
			}
			require.Equal(t, want, tested[row])
		}
	})
}
