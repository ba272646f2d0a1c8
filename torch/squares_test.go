package torch

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch/weights"
)

// moments returns the estimates of |G|² and tr(Σ) (McCandlish et al. 2018, appendix A.1).
func (s Squares) moments() (square, variance float64) {
	return (s.Rows*s.Whole - s.PartRows*s.Part) / (s.Rows - s.PartRows), (s.Part - s.Whole) / (1/s.PartRows - 1/s.Rows)
}

// A measured step gives the same bits as a step without measurement in the same parts.
func TestMeasuringChangesNoBit(t *testing.T) {
	for name, c := range map[string]struct{ size, part, same int }{
		"parts": {20, 6, 6}, "a batch of one part is halved": {20, 0, 10}, "an odd one": {15, 0, 8},
		"one row": {1, 0, 1},
	} {
		within(t, func(s *Scope) {
			measured, plain := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
			x, y := measured.examples(t, c.size, 10, 3)
			om, op := measured.adam(true), plain.adam(true)
			fm, err := Train(measured.program(t, ProgramOptions{Fast: true}), om,
				Batches{Inputs: x, Labels: y, Size: c.size, Part: c.part, Squares: true})
			require.NoError(t, err)
			fp, err := Train(plain.program(t, ProgramOptions{Fast: true}), op,
				Batches{Inputs: x, Labels: y, Size: c.size, Part: c.same})
			require.NoError(t, err)
			require.Equal(t, fp.Losses, fm.Losses, name)
			require.Equal(t, snapshot(t, plain, op), snapshot(t, measured, om), name)
			require.Zero(t, fp.Squares, name)
			require.Equal(t, c.size > 1, fm.Squares != Squares{}, name)
		})
	}
}

// Only the last step of a call is measured. The others give the same bits as without measurement.
func TestOnlyTheLastStepIsMeasured(t *testing.T) {
	within(t, func(s *Scope) {
		measured, plain := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
		x, y := measured.examples(t, 30, 10, 3)
		f, err := Train(measured.program(t, ProgramOptions{}), measured.adam(false),
			Batches{Inputs: x, Labels: y, Size: 10, Squares: true})
		require.NoError(t, err)
		g, err := Train(plain.program(t, ProgramOptions{}), plain.adam(false), Batches{Inputs: x, Labels: y, Size: 10})
		require.NoError(t, err)
		require.Equal(t, g.Losses[:2], f.Losses[:2])
		require.NotEqual(t, g.Losses[2], f.Losses[2], "its BatchNorm sees halves")
	})
}

// linearNet returns a softmax regression on images of one row, with zero weights.
func linearNet(s *Scope, inputs, classes int) *testNet {
	n := &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, 7)}
	w, b := n.param(0, classes, inputs), n.param(0, classes)
	n.layers = func(p *Builder, x Value) Value { return p.Linear(p.Flatten(x, 1, -1), w, b) }
	return n
}

// still returns an optimizer that changes nothing.
func (n *testNet) still() *Optimizer {
	return n.s.NewOptimizer(Group{Params: n.params, OptimizerOptions: OptimizerOptions{Rule: SGD}})
}

// At zero weights, the gradient of a softmax regression is the product of a label's residual and the input, so both
// moments are known. Estimates over many batches agree with them within four standard errors.
func TestSquaresOfAKnownProblem(t *testing.T) {
	const inputs, classes, rows, draws = 6, 3, 32, 400
	const shift = 0.5 // mean of the inputs; their deviation is 1
	share := [classes]float64{0.5, 0.3, 0.2}
	residual, apart := 0.0, 0.0
	for _, p := range share {
		apart += (1.0/classes - p) * (1.0/classes - p)
		residual += p * ((1-1.0/classes)*(1-1.0/classes) + (classes-1)*(1.0/classes)*(1.0/classes))
	}
	wantSquare := apart * (1 + inputs*shift*shift)
	wantVariance := residual*(1+inputs*(1+shift*shift)) - wantSquare
	for _, part := range []int{0, 5, 1} {
		var squares, variances []float64
		within(t, func(s *Scope) {
			n := linearNet(s, inputs, classes)
			p, o, random := n.program(t, ProgramOptions{}), n.still(), s.NewGenerator(CPU, 3)
			for range draws {
				require.NoError(t, With(func(of *Scope) error {
					x, u := of.Zeros(Float32, CPU, rows, 1, 1, inputs), of.Zeros(Float32, CPU, rows)
					of.Normal(x, shift, 1, random)
					of.Uniform(u, 0, 1, random)
					f, err := Train(p, o, Batches{Inputs: x, Labels: labelsOf(t, of, u, share[:]), Size: rows,
						Part: part, Squares: true})
					square, variance := f.Squares.moments()
					squares, variances = append(squares, square), append(variances, variance)
					return err
				}))
			}
		})
		agree(t, wantSquare, squares)
		agree(t, wantVariance, variances)
	}
}

// labelsOf draws labels by their shares from uniform numbers.
func labelsOf(t *testing.T, s *Scope, uniform *Tensor, share []float64) *Tensor {
	labels := []int64{}
	for _, u := range floats(t, uniform) {
		k := 0
		for ; k < len(share)-1 && u >= share[k]; k++ {
			u -= share[k]
		}
		labels = append(labels, int64(k))
	}
	return From(s, labels, len(labels))
}

// agree requires that the mean of values is within four standard errors of the expected value.
func agree(t *testing.T, want float64, values []float64) {
	t.Helper()
	mean, deviation := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	standard := math.Sqrt(deviation / float64(len(values)))
	require.InDelta(t, want, mean, 4*standard)
	require.Less(t, standard, 0.1*want, "the test tells something")
	t.Logf("measured: %.4f, mean of %d estimates %.4f with a standard error of %.4f", want, len(values), mean, standard)
}

// pytorchSquares holds the results of testdata/squares.py.
type pytorchSquares struct {
	Squares  []float64 `json:"squares"`  // mean over parts, whole batch
	Variance float64   `json:"variance"` // variance of the gradients of single examples
}

// The squares equal PyTorch's, which come from the gradients of single examples.
func TestSquaresAreThoseOfPyTorch(t *testing.T) {
	const rows, inputs, hidden, classes = 24, 10, 7, 4
	path := filepath.Join(t.TempDir(), "inputs.pth")
	build := func(s *Scope) (n *testNet, x, y *Tensor) {
		n = &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, 7)}
		w1, b1, w2, b2 := n.param(0.5, hidden, inputs), n.param(0.5, hidden), n.param(0.5, classes, hidden),
			n.param(0.5, classes)
		n.layers = func(p *Builder, x Value) Value {
			return p.Linear(p.Activate(p.Linear(p.Flatten(x, 1, -1), w1, b1), ReLU, 0), w2, b2)
		}
		x = s.Zeros(Float32, CPU, rows, 1, 1, inputs)
		s.Normal(x, 0.3, 1, n.random)
		labels := make([]int64, rows)
		for k := range labels {
			labels[k] = int64(k % classes)
		}
		return n, x, From(s, labels, rows)
	}
	within(t, func(s *Scope) {
		n, x, y := build(s)
		set := &weights.Set{}
		for name, tensor := range map[string]*Tensor{"x": x, "y": y, "w1": n.params[0], "b1": n.params[1],
			"w2": n.params[2], "b2": n.params[3]} {
			w, err := tensor.Weights(name)
			require.NoError(t, err)
			set.Tensors = append(set.Tensors, w)
		}
		require.NoError(t, weights.Write(files.OS{}, path, set))
	})
	parts := []int{1, 7, 12}
	want := pythonLines[pytorchSquares](t, "squares.py", parts, path)
	for k, part := range parts {
		within(t, func(s *Scope) {
			n, x, y := build(s)
			f, err := Train(n.program(t, ProgramOptions{}), n.still(),
				Batches{Inputs: x, Labels: y, Size: rows, Part: part, Squares: true})
			require.NoError(t, err)
			require.InEpsilonSlice(t, want[k].Squares, []float64{f.Squares.Part, f.Squares.Whole}, 1e-5,
				"parts of %d", part)
			if part == 1 {
				_, variance := f.Squares.moments()
				require.InEpsilon(t, want[k].Variance, variance, 1e-5)
			}
		})
	}
}

// The scale of the loss does not change the squares. A skipped step has none.
func TestSquaresWithAScaledLoss(t *testing.T) {
	for scale, is := range map[float64]bool{1024: true, math.MaxFloat64: false} {
		within(t, func(s *Scope) {
			plain, scaled := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
			x, y := plain.examples(t, 12, 10, 3)
			want, err := Train(plain.program(t, ProgramOptions{}), plain.adam(false),
				Batches{Inputs: x, Labels: y, Size: 12, Squares: true})
			require.NoError(t, err)
			got, err := Train(scaled.program(t, ProgramOptions{}), scaled.adam(false),
				Batches{Inputs: x, Labels: y, Size: 12, Squares: true, Scaler: &Scaler{Scale: scale, Interval: 10}})
			require.NoError(t, err)
			if !is {
				require.Zero(t, got.Squares)
				return
			}
			require.InEpsilon(t, want.Squares.Part, got.Squares.Part, 1e-5)
			require.InEpsilon(t, want.Squares.Whole, got.Squares.Whole, 1e-5)
		})
	}
}

// squaresPart measures batches that processes share. Some processes have no row.
func squaresPart(t *testing.T, s *Scope, p *Peers) any {
	var all []Figures
	for _, c := range []struct{ rows, part int }{{16, 0}, {5, 0}, {2, 0}, {12, 6}} {
		n := linearNet(s, 6, 3)
		x := s.Zeros(Float32, CPU, c.rows, 1, 1, 6)
		s.Normal(x, 0.5, 1, n.random)
		labels := make([]int64, c.rows)
		for k := range labels {
			labels[k] = int64(k % 3)
		}
		f, err := Train(n.program(t, ProgramOptions{}), n.still(), Batches{Inputs: x, Labels: From(s, labels, c.rows),
			Size: c.rows, Part: c.part, Peers: p, Random: n.random, Squares: true})
		require.NoError(t, err)
		all = append(all, f)
	}
	return all
}

// The rows of each process are a part: two processes measure the same as one process that takes halves.
func TestSquaresBetweenProcesses(t *testing.T) {
	needsPeers(t)
	one := together[[]Figures](t, "squares", 1)[0]
	for _, size := range []int{2, 3} {
		all := together[[]Figures](t, "squares", size)
		for rank := range all {
			for k, f := range all[rank] {
				require.Equal(t, all[0][k].Squares, f.Squares, "process %d has the same bits as the first", rank)
				require.Positive(t, f.Exchange)
				require.InEpsilon(t, one[k].Squares.Whole, f.Squares.Whole, 1e-5)
				require.Equal(t, one[k].Squares.Rows, f.Squares.Rows)
			}
		}
		require.InEpsilon(t, map[int]float64{2: 2 / (1.0/3 + 1.0/2), 3: 3 / (1.0/2 + 1.0/2 + 1)}[size],
			all[0][1].Squares.PartRows, 1e-12, "five rows")
		require.Equal(t, 1.0, all[0][2].Squares.PartRows, "two rows")
		require.InEpsilon(t, 6.0/float64(size), all[0][3].Squares.PartRows, 1e-12, "parts of six rows")
		if size == 2 {
			for _, k := range []int{0, 1, 2} {
				require.InEpsilon(t, one[k].Squares.Part, all[0][k].Squares.Part, 1e-5)
			}
		}
	}
}
