package torch

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// testNet is a small convolutional classifier with its weights, in one scope.
type testNet struct {
	s      *Scope
	params []*Tensor
	norms  []BatchNorm
	layers func(b *Builder, x Value) Value
	dtype  DType
	device Device // zero is the CPU
	random *Generator
}

// square returns the window of a pool with equal height and width.
func square(n int) Plane { return Plane{Kernel: [2]int{n, n}} }

// padded is a convolution that keeps the size of images for a kernel of 3.
var padded = Plane{Padding: [2]int{1, 1}}

func newTestNet(t *testing.T, s *Scope, dtype DType, channels, classes int) *testNet {
	return newTestNetOn(t, s, CPU, dtype, channels, classes)
}

func newTestNetOn(t *testing.T, s *Scope, device Device, dtype DType, channels, classes int) *testNet {
	n := &testNet{s: s, dtype: dtype, device: device, random: s.NewGenerator(CPU, 7)}
	w1, b1 := n.param(0.3, channels, 3, 3, 3), n.param(0.3, channels)
	w2, b2 := n.param(0.1, channels, channels, 3, 3), n.param(0.1, channels)
	w3, b3 := n.param(0.2, classes, channels), n.param(0.2, classes)
	n1, n2 := n.norm(channels), n.norm(channels)
	n.layers = func(b *Builder, x Value) Value {
		x = b.Activate(b.BatchNorm(b.Conv2D(x, w1, b1, Plane{}), n1), ReLU, 0)
		x = b.AvgPool2D(x, square(2))
		x = b.Activate(b.BatchNorm(b.Conv2D(x, w2, b2, padded), n2), ReLU, 0)
		return b.Linear(b.Flatten(b.AdaptiveAvgPool2D(x, 1, 1), 1, -1), w3, b3)
	}
	require.NoError(t, s.Err())
	return n
}

func (n *testNet) param(bound float64, shape ...int) *Tensor {
	p := n.s.Zeros(Float32, CPU, shape...)
	n.s.Uniform(p, -bound, bound, n.random)
	p = n.s.RequireGrad(n.s.Detach(n.s.To(p, n.dtype, n.device)), true)
	n.params = append(n.params, p)
	return p
}

func (n *testNet) norm(channels int) BatchNorm {
	b := BatchNorm{Weight: n.param(1, channels), Bias: n.param(0.5, channels),
		Mean: n.s.Zeros(n.dtype, n.device, channels), Var: n.s.Full(1, n.dtype, n.device, channels),
		Seen: n.s.Zeros(Int64, n.device), Momentum: 0.1, Eps: 1e-5}
	n.norms = append(n.norms, b)
	return b
}

func (n *testNet) program(t *testing.T, o ProgramOptions) *Program {
	var b Builder
	p := n.s.NewProgram(&b, n.layers(&b, b.Input()), o)
	require.NoError(t, n.s.Err())
	return p
}

func (n *testNet) adam(fused bool) *Optimizer {
	return n.s.NewOptimizer(Group{Params: n.params,
		OptimizerOptions: OptimizerOptions{Rule: Adam, LR: 0.01, Fused: fused}})
}

// examples returns images and their labels. The class of an image is the place of its brightest stripe.
func (n *testNet) examples(t *testing.T, rows, size, classes int) (x, y *Tensor) {
	x = n.s.Zeros(Float32, CPU, rows, 3, size, size)
	n.s.Normal(x, 0, 0.5, n.random)
	values, err := Values[float32](x)
	require.NoError(t, err)
	labels := make([]int64, rows)
	for k := range labels {
		labels[k] = int64(k * 7 % classes)
		for j := range size {
			values[k*3*size*size+int(labels[k])*size+j] += 2
		}
	}
	return n.s.To(From(n.s, values, rows, 3, size, size), n.dtype, CPU), From(n.s, labels, rows)
}

// arange returns the int64 values 0 to n-1.
func arange(s *Scope, n int) *Tensor {
	values := make([]int64, n)
	for k := range values {
		values[k] = int64(k)
	}
	return From(s, values, n)
}

func floats(t *testing.T, x *Tensor) []float64 {
	t.Helper()
	var out []float64
	require.NoError(t, With(func(s *Scope) error {
		values, err := Values[float64](s.To(x, Float64, CPU))
		out = values
		return err
	}))
	return out
}

// distance returns the largest difference relative to the largest value of want.
func distance(got, want []float64) float64 {
	var worst, scale float64
	for k := range want {
		scale = math.Max(scale, math.Abs(want[k]))
		worst = math.Max(worst, math.Abs(got[k]-want[k]))
	}
	if scale == 0 {
		return worst
	}
	return worst / scale
}

func within(t *testing.T, body func(s *Scope)) {
	t.Helper()
	require.NoError(t, With(func(s *Scope) error { body(s); return s.Err() }))
}
