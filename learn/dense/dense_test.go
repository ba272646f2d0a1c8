package dense

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Gradients equal finite differences for all layers, also for inputs with zeros.
func TestGradients(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	n, err := New(5, random, Full{Width: 7}, Tanh{}, Affine{Eps: 1e-5, Noise: 0.1}, LayerNorm{}, Full{Width: 6}, ReLU{},
		Full{Width: 4}, Duel{})
	require.NoError(t, err)
	require.Equal(t, 5*7+7+14+14+7*6+6+6*4+4, n.Count())
	x, weigh := make([]float64, 4*5), make([]float64, 4*3)
	for k := range x {
		if x[k] = random.NormFloat64(); k%3 == 0 {
			x[k] = 0
		}
	}
	for k := range weigh {
		weigh[k] = random.NormFloat64()
	}
	p := n.NewPass(4)
	value := func() float64 { return Dot(p.Forward(x), weigh) }
	value()
	got := n.NewGradients()
	inputs := make([]float64, len(x))
	p.BackwardTo(inputs, weigh, got)
	again := n.NewGradients()
	p.Backward(weigh, again)
	require.Equal(t, got, again)
	const h = 1e-6
	for at, was := range x {
		x[at] = was + h
		above := value()
		x[at] = was - h
		below := value()
		x[at] = was
		require.InDelta(t, (above-below)/(2*h), inputs[at], 1e-7, "input %d", at)
	}
	for k, param := range n.Params {
		for at := range param {
			was := param[at]
			param[at] = was + h
			above := value()
			param[at] = was - h
			below := value()
			param[at] = was
			require.InDelta(t, (above-below)/(2*h), got[k][at], 1e-7, "parameter %d, value %d", k, at)
		}
	}
}

func TestWhatIsNoNetwork(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, layers := range [][]Layer{nil, {Full{}}, {Full{Width: 1 << 30}}} {
		_, err := New(3, random, layers...)
		require.Error(t, err)
	}
	n, err := New(3, random, Full{Width: 2})
	require.NoError(t, err)
	require.ErrorContains(t, n.SetParams([][]float64{{1}}), "got 1 parameters; expected 2")
	require.ErrorContains(t, n.SetParams([][]float64{{1}, {1, 2}}),
		"set parameter 0 of a dense network: got 1 values, expected 6")
	gradients := n.NewGradients()
	gradients[1][1] = math.NaN()
	require.ErrorContains(t, (&Adam{Rate: 1}).Step(n.Params, gradients),
		"gradient of step 1: value 1 of parameter 1 is NaN")
}

// Adam reaches the minimum of a quadratic function.
func TestAdamDescends(t *testing.T) {
	params, a := [][]float64{{3, -4}}, &Adam{Rate: 0.05}
	for range 2000 {
		require.NoError(t, a.Step(params, [][]float64{{2 * (params[0][0] - 1), params[0][1]}}))
	}
	require.InDeltaSlice(t, []float64{1, 0}, params[0], 1e-3)
}

func BenchmarkForward(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	n, err := New(240, random, Full{Width: 160}, ReLU{}, Full{Width: 160}, ReLU{}, Full{Width: 121})
	if err != nil {
		b.Fatal(err)
	}
	x := make([]float64, 240)
	for k := range x {
		x[k] = random.NormFloat64()
	}
	p := n.NewPass(1)
	for b.Loop() {
		p.Forward(x)
	}
}

// RMSProp takes the steps of TensorFlow's formula, whose running mean starts at one.
func TestRMSPropSteps(t *testing.T) {
	params, r := [][]float64{{1}}, &RMSProp{Rate: 0.1}
	require.NoError(t, r.Step(params, [][]float64{{2}}))
	require.InDelta(t, 1-0.1*2/math.Sqrt(0.9+0.1*4), params[0][0], 1e-9)
	require.ErrorContains(t, r.Step(params, [][]float64{{math.NaN()}}), "gradient of step 2")
	for range 3000 {
		require.NoError(t, r.Step(params, [][]float64{{params[0][0] - 5}}))
	}
	require.InDelta(t, 5, params[0][0], 0.2)
}

// A tiled batch gives the same bits as its examples one by one.
func TestTilesHaveTheSameBits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	normal := func(n int) []float64 {
		list := make([]float64, n)
		for k := range list {
			list[k] = random.NormFloat64()
		}
		return list
	}
	shapes := [][3]int{{64, 64, 64}, {6, 20, 8}, {9, 13, 21}}
	for k := range 8 * 9 * 17 { // all small shapes
		shapes = append(shapes, [3]int{2 + k%8, 1 + k/8%9, 1 + k/72})
	}
	for _, shape := range shapes {
		batch, in, f := shape[0], shape[1], Full{Width: shape[2]}
		params, x, dy := [][]float64{normal(in * f.Width), normal(f.Width)}, normal(batch*in), normal(batch*f.Width)
		var s scratch
		y, want := make([]float64, batch*f.Width), make([]float64, batch*f.Width)
		dx, wantDX := make([]float64, batch*in), make([]float64, batch*in)
		grads, wantGrads := like(params), like(params)
		for b := range batch {
			row, out := x[b*in:][:in], want[b*f.Width:][:f.Width]
			f.Forward(params, row, out)
			f.Backward(params, wantGrads, row, out, dy[b*f.Width:][:f.Width], wantDX[b*in:][:in])
		}
		require.True(t, f.forwardBatch(params, batch, x, y))
		require.True(t, f.backwardBatch(&s, params, grads, batch, x, dy, dx))
		require.Equal(t, [][]float64{want, wantDX}, [][]float64{y, dx})
		require.Equal(t, wantGrads, grads)
		clear(x[:in])
		require.False(t, f.forwardBatch(params, batch, x, y), "zeros are skipped")
	}
}
