package estimate_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/estimate"
)

const (
	// sumTolerance is for sums of about twenty numbers near 1 in another order: float64 has 16 digits.
	sumTolerance = 1e-12
	// noiseless is the share of a known function's variance that a model must find. The noise is as large as the
	// function.
	noiseless = 0.97
)

// known holds a table of a known function: curves of a and b, steps of the text c, a product of d and e, and f, which
// has no effect.
type known struct {
	table *estimate.Table
	clean []float64 // values without noise
}

var colours = []string{"red", "green", "blue", "white", "black"}

func newKnown(seed uint64, rows int) known {
	random := rand.New(rand.NewPCG(seed, 1))
	names := []string{"a", "b", "d", "e", "f"}
	numbers := make([][]float64, len(names))
	var texts []string
	var clean, noisy []float64
	for range rows {
		x := make([]float64, len(names))
		for k := range x {
			x[k] = random.Float64()
			numbers[k] = append(numbers[k], x[k])
		}
		colour := random.IntN(len(colours))
		texts = append(texts, colours[colour])
		y := math.Sin(6*x[0]) + 2*x[1]*x[1] + 0.5*float64(colour) + 4*(x[2]-0.5)*(x[3]-0.5)
		clean = append(clean, y)
		noisy = append(noisy, y+0.5*random.NormFloat64())
	}
	table := new(estimate.Table)
	for k, name := range names {
		table.AddNumbers(name, numbers[k])
	}
	table.AddTexts("c", texts)
	table.SetTarget(noisy)
	return known{table, clean}
}

func fit(t testing.TB, table *estimate.Table, o estimate.Options) *estimate.Model {
	return must(estimate.Fit(t.Context(), table, o))
}

func predict(t testing.TB, m *estimate.Model, table *estimate.Table) []float64 {
	return must(m.PredictTable(table))
}

func score(t testing.TB, truth, predicted []float64) estimate.Scores {
	return must(estimate.Score(truth, predicted, estimate.ScoreOptions{Draws: 1}))
}

// written returns a model's file.
func written(t testing.TB, m *estimate.Model) string {
	var file bytes.Buffer
	require.NoError(t, m.Write(&file))
	return file.String()
}

func TestAKnownFunctionIsFound(t *testing.T) {
	learned, fresh := newKnown(1, 8000), newKnown(2, 2000)
	m := fit(t, learned.table, estimate.Options{Pairs: 2, Bags: 4})
	whole := score(t, fresh.clean, predict(t, m, fresh.table)).R2.Value
	alone := score(t, fresh.clean, predict(t, fit(t, learned.table, estimate.Options{Pairs: -1, Bags: 4}),
		fresh.table)).R2.Value
	t.Logf("measured: of a known function %.4f is found, %.4f without pairs", whole, alone)
	require.Greater(t, whole, noiseless)
	require.Greater(t, whole, alone+0.05)

	terms := m.Terms()
	require.Equal(t, 8000, m.Rows())
	require.Equal(t, []string{"d", "e"}, terms[6].Features, "the pair that there is comes first")
	idle := terms[slices.Index(m.Features(), "f")].Importance
	for _, term := range terms[:6] {
		if slices.Contains([]string{"a", "b", "c"}, term.Name) {
			require.Greater(t, term.Importance, 20*idle, term.Name)
		}
	}
}

// Each curve matches the function of its own feature.
func TestACurveIsThatOfItsFeature(t *testing.T) {
	m := fit(t, newKnown(3, 8000).table, estimate.Options{Pairs: 1, Bags: 4})
	shape := must(m.Shape(0))
	mean := (1 - math.Cos(6)) / 6
	within := 0.0
	for k, bin := range shape.Axes[0].Bins {
		if !bin.Missing {
			at := (bin.Low + bin.High) / 2
			within += math.Abs(shape.Cells[k].Value-(math.Sin(6*at)-mean)) / float64(len(shape.Cells)-1)
		}
	}
	require.Less(t, within, 0.1, "mean distance from a curve that spans 2")
}

// Screening also finds the pair of a text and a number if the text has no effect alone. The pair gives the order of the
// texts.
func TestScreeningFindsThePairsThatThereAre(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	const rows = 6000
	x := make([][]float64, 8)
	text := make([][]string, 2)
	var y []float64
	for range rows {
		for k := range x {
			x[k] = append(x[k], random.Float64())
		}
		level := []int{random.IntN(20), random.IntN(20)}
		for k := range text {
			text[k] = append(text[k], string(rune('a'+level[k])))
		}
		v := func(k int) float64 { return x[k][len(x[k])-1] }
		sum := v(0) + 2*(v(1)-0.5)*(v(2)-0.5) + math.Sin(5*v(3))
		if (v(4) > 0.3) != (v(5) > 0.7) {
			sum += 0.5
		}
		if level[0]%2 == 0 {
			sum += 2 * (v(6) - 0.5)
		} else {
			sum -= 2 * (v(6) - 0.5)
		}
		y = append(y, sum+0.3*random.NormFloat64())
	}
	table := new(estimate.Table)
	for k := range x {
		table.AddNumbers("x"+string(rune('0'+k)), x[k])
	}
	table.AddTexts("t0", text[0])
	table.AddTexts("t1", text[1])
	table.SetTarget(y)
	var found []string
	for _, term := range fit(t, table, estimate.Options{Pairs: 3, Bags: 2, Rounds: 300, LearningRate: 0.1}).
		Terms()[10:] {
		found = append(found, term.Name)
	}
	require.ElementsMatch(t, []string{"x1 × x2", "x4 × x5", "x6 × t0"}, found)
}

func TestAMonotoneShapeIs(t *testing.T) {
	k := newKnown(7, 3000)
	for name, way := range map[string]int{"a": 1, "b": -1} {
		o := estimate.Options{Monotone: map[string]int{name: way}, Bags: 3, Pairs: 20}
		m := fit(t, k.table, o)
		at := slices.Index(m.Features(), name)
		row := k.table.Row(0)
		for _, term := range m.Terms()[6:] {
			require.NotContains(t, term.Features, name)
		}
		before := math.Inf(-way) // below all rising shapes, above all falling ones
		for step := range 1001 {
			row[at].Number = float64(step)/500 - 0.5
			got := must(m.Predict(row))
			require.GreaterOrEqual(t, float64(way)*got, float64(way)*before, "%s at %v", name, row[at].Number)
			before = got
		}
	}
}

// A bound that the true function satisfies does not lower R².
func TestABoundCostsNothingThatHolds(t *testing.T) {
	k := newKnown(8, 4000)
	free := score(t, k.clean, predict(t, fit(t, k.table, estimate.Options{Bags: 2}), k.table)).R2.Value
	bound := score(t, k.clean, predict(t, fit(t, k.table, estimate.Options{Bags: 2, Monotone: map[string]int{"b": 1}}),
		k.table)).R2.Value
	require.InDelta(t, free, bound, 0.02)
}

func TestContributionsAddUp(t *testing.T) {
	k := newKnown(9, 2000)
	for _, target := range []string{estimate.TargetPlain, estimate.TargetMedian} {
		shifted := k.table.Pick(rows(k.table))
		shifted.SetTarget(above(k.table.Target()))
		m := fit(t, shifted, estimate.Options{Bags: 2, Target: target})
		all := predict(t, m, k.table)
		for row := range 200 {
			parts := must(m.Explain(k.table.Row(row)))
			sum := m.Base()
			for _, part := range parts {
				sum += part.Value
			}
			if target == estimate.TargetMedian {
				sum = math.Expm1(sum)
			}
			got := must(m.Predict(k.table.Row(row)))
			require.InDelta(t, got, sum, sumTolerance*10)
			require.Equal(t, got, all[row], "a row alone and in its table")
			require.True(t, slices.IsSortedFunc(parts, func(a, b estimate.Contribution) int {
				return int(math.Copysign(1, math.Abs(b.Value)-math.Abs(a.Value)))
			}) || len(parts) < 2)
		}
	}
}

func rows(table *estimate.Table) []int {
	all := make([]int, table.Rows())
	for row := range all {
		all[row] = row
	}
	return all
}

// above shifts values so that none is negative.
func above(values []float64) []float64 {
	least := slices.Min(values)
	moved := make([]float64, len(values))
	for row, v := range values {
		moved[row] = v - least
	}
	return moved
}

// Equal predictions have only one representation in which curves, and rows and columns of maps, have means of zero.
func TestShapesAreUnique(t *testing.T) {
	m := fit(t, newKnown(10, 4000).table, estimate.Options{Pairs: 4, Bags: 3})
	for k, term := range m.Terms() {
		shape := must(m.Shape(k))
		last := shape.Axes[len(shape.Axes)-1].Bins
		sums := map[string]float64{}
		rows := 0.0
		for at, cell := range shape.Cells {
			rows += cell.Weight
			if len(shape.Axes) == 1 {
				sums["all"] += cell.Value * cell.Weight
				continue
			}
			sums["row "+shape.Axes[0].Bins[at/len(last)].String()] += cell.Value * cell.Weight
			sums["column "+last[at%len(last)].String()] += cell.Value * cell.Weight
		}
		require.Equal(t, 4000.0, rows, term.Name)
		for name, sum := range sums {
			require.InDelta(t, 0, sum/rows, 1e-9, "%s, %s", term.Name, name)
		}
	}
}

func TestTheSameBytes(t *testing.T) {
	k := newKnown(11, 1500)
	shuffled := rows(k.table)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled),
		func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
	for _, validation := range []string{estimate.ValidateRandom, estimate.ValidateBlocks, estimate.ValidateLast} {
		o := estimate.Options{Bags: 3, Workers: 1, Validation: validation, Rounds: 40}
		first := written(t, fit(t, k.table, o))
		for workers := range 4 {
			o.Workers = workers
			require.Equal(t, first, written(t, fit(t, k.table, o)), "%s, %d workers", validation, workers)
		}
		other := written(t, fit(t, k.table.Pick(shuffled), o))
		require.Equal(t, validation == estimate.ValidateRandom, first == other, "%s: rows in another order", validation)
		o.Seed++
		require.NotEqual(t, first, written(t, fit(t, k.table, o)), "another seed")
	}
}

func TestMissingAndUnknown(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 1))
	var x, y []float64
	var text []string
	for range 2000 {
		v, level := random.Float64(), random.IntN(3)
		sum := v + float64(level)
		if random.IntN(4) == 0 {
			v, sum = math.NaN(), 5+float64(level)
		}
		x, y, text = append(x, v), append(y, sum), append(text, []string{"", "one", "two"}[level])
	}
	table := new(estimate.Table)
	table.AddNumbers("x", x)
	table.AddTexts("text", text)
	table.SetTarget(y)
	m := fit(t, table, estimate.Options{Bags: 2, Pairs: 1})
	predicted := func(v float64, text string) float64 {
		return must(m.Predict([]estimate.Value{{Number: v}, {Text: text}}))
	}
	require.InDelta(t, 5, predicted(math.NaN(), ""), 0.1)
	require.InDelta(t, 6, predicted(math.NaN(), "one"), 0.1)
	require.InDelta(t, 2.5, predicted(0.5, "two"), 0.1)

	parts := must(m.Explain([]estimate.Value{{Number: 0.5}, {Text: "three"}}))
	sum := m.Base()
	for _, part := range parts {
		if part.Name != "x" {
			require.Zero(t, part.Value, "%s with a text that nobody knows", part.Name)
		}
		sum += part.Value
	}
	require.InDelta(t, sum, predicted(0.5, "three"), sumTolerance)
}

// Rare texts share a bin. The model recognises each of them, but no unknown text.
func TestRareTextsShareABin(t *testing.T) {
	var text []string
	var y []float64
	for row := range 600 {
		switch {
		case row%2 == 0:
			text, y = append(text, "often"), append(y, 1)
		case row%3 == 0:
			text, y = append(text, "at times"), append(y, 2)
		default:
			text, y = append(text, "rare "+string(rune('a'+row%17))), append(y, 3)
		}
	}
	table := new(estimate.Table)
	table.AddTexts("text", text)
	table.SetTarget(y)
	m := fit(t, table, estimate.Options{Bins: 3, Bags: 2})
	shape := must(m.Shape(0))
	require.Len(t, shape.Axes[0].Bins, 4)
	require.Equal(t, []string{"often"}, shape.Axes[0].Bins[1].Levels)
	require.Len(t, shape.Axes[0].Bins[3].Levels, 17)
	require.Equal(t, "rare a, rare b, rare c … (17)", shape.Axes[0].Bins[3].String())
	got := must(m.Predict([]estimate.Value{{Text: "rare e"}}))
	require.InDelta(t, 3, got, 0.05)
	got = must(m.Predict([]estimate.Value{{Text: "never"}}))
	require.Equal(t, m.Base(), got)
}

// The mean returns from logarithms with smearing, and the median without.
func TestLogarithmsReturn(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 1))
	var x, y []float64
	for range 5000 {
		v := random.Float64()
		x, y = append(x, v), append(y, math.Exp(5+2*v+random.NormFloat64())-1)
	}
	table := new(estimate.Table)
	table.AddNumbers("x", x)
	table.SetTarget(y)
	for target, factor := range map[string]float64{estimate.TargetLog: math.Exp(0.5), estimate.TargetMedian: 1} {
		m := fit(t, table, estimate.Options{Target: target, Bags: 3})
		for _, v := range []float64{0.2, 0.5, 0.8} {
			require.InEpsilon(t, math.Exp(5+2*v)*factor, must(m.Predict([]estimate.Value{{Number: v}}))+1, 0.15,
				"%s at %v", target, v)
		}
	}
}

// BenchmarkFit fits a table as large as five months of a cluster's jobs.
func BenchmarkFit(b *testing.B) {
	random := rand.New(rand.NewPCG(14, 1))
	const rows, features = 90_000, 13
	table := new(estimate.Table)
	y := make([]float64, rows)
	for k := range features {
		x := make([]float64, rows)
		for row := range x {
			x[row] = random.Float64()
			y[row] += math.Sin(6*x[row] + float64(k))
		}
		table.AddNumbers(string(rune('a'+k)), x)
	}
	for row := range y {
		y[row] += random.NormFloat64()
	}
	table.SetTarget(y)
	for b.Loop() {
		fit(b, table, estimate.Options{Pairs: 20})
	}
}

// must returns the value of a call that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
