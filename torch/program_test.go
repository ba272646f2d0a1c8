package torch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wangkuiyi/gotorch"
	"github.com/wangkuiyi/gotorch/nn/functional"
)

// Tolerances of the fast path against float64. A float32 sum over thousands of
// pixels is good to some 1e-6 of its largest term; LibTorch's own float32
// gradients are off by up to 8e-5 here.
const (
	fastForwardTol  = 1e-5
	fastGradientTol = 1e-4
)

// step runs forward and backward once and returns logits, gradients and the
// running statistics.
func (n *testNet) step(t *testing.T, p *Program, x, y *Tensor) map[string][]float64 {
	out := map[string][]float64{}
	logits := p.Forward(n.s, x, true, nil)
	n.s.Backward(n.s.CrossEntropy(logits, y))
	out["logits"] = floats(t, logits)
	for k, param := range n.params {
		out[fmt.Sprintf("gradient %d", k)] = floats(t, n.s.Grad(param))
		n.s.SetGrad(param, nil)
	}
	for k, norm := range n.norms {
		out[fmt.Sprintf("mean %d", k)], out[fmt.Sprintf("var %d", k)] = floats(t, norm.Mean), floats(t, norm.Var)
	}
	out["eval"] = floats(t, p.Forward(n.s, x, false, nil))
	n.s.NoGrad(func() { out["eval without gradients"] = floats(t, p.Forward(n.s, x, false, nil)) })
	return out
}

func TestFastPathEqualsFloat64(t *testing.T) {
	for _, channels := range []int{1, 5, 16, 24, 32, 40, 64, 83} {
		for _, size := range []int{9, 10, 17} {
			t.Run(fmt.Sprintf("%d channels, %d pixels", channels, size), func(t *testing.T) {
				within(t, func(s *Scope) {
					exact, fast := newTestNet(t, s, Float64, channels, 4), newTestNet(t, s, Float32, channels, 4)
					x, y := exact.examples(t, 11, size, 4)
					x32 := s.To(x, Float32, CPU)
					p := fast.program(t, ProgramOptions{Fast: true})
					require.Equal(t, 2, p.Fused())
					want := exact.step(t, exact.program(t, ProgramOptions{}), s.To(x32, Float64, CPU), y)
					got := fast.step(t, p, x32, y)
					for name := range want {
						tol := fastForwardTol
						if strings.HasPrefix(name, "gradient") {
							tol = fastGradientTol
						}
						// The gradient of a bias before a normalisation is only rounding.
						if slices.Max(want[name]) < 1e-12 {
							require.Less(t, slices.Max(got[name]), 1e-6, name)
							continue
						}
						require.Less(t, distance(got[name], want[name]), tol, name)
					}
				})
			})
		}
	}
}

// conv2D convolves with gotorch's operator.
func conv2D(s *Scope, x, weight, bias *Tensor, padding int64) *Tensor {
	return s.borrow("conv2d", func() gotorch.Tensor {
		both := func(n int64) []int64 { return []int64{n, n} }
		return functional.Conv2d(x.gotorch(), weight.gotorch(), bias.gotorch(), both(1), both(padding), both(1), 1)
	}, x, weight, bias)
}

// byHand runs the test network operator by operator.
func byHand(n *testNet, x *Tensor) *Tensor {
	s, p := n.s, n.params
	layer := func(x, weight, bias *Tensor, padding int64, b BatchNorm) *Tensor {
		x = conv2D(s, x, weight, bias, padding)
		return s.ReLU(s.borrow("batch_norm", func() gotorch.Tensor {
			return functional.BatchNorm(x.gotorch(), b.Mean.gotorch(), b.Var.gotorch(), b.Weight.gotorch(),
				b.Bias.gotorch(), true, b.Momentum, b.Eps)
		}, x))
	}
	h := s.AvgPool2D(layer(x, p[0], p[1], 0, n.norms[0]), square(2))
	h = layer(h, p[2], p[3], 1, n.norms[1])
	h = s.borrow("pool", func() gotorch.Tensor { return functional.AdaptiveAvgPool2d(h.gotorch(), []int64{1, 1}) }, h)
	return s.Linear(s.Reshape(h, x.Shape()[0], -1), p[4], p[5])
}

func TestDefaultProgramHasTheBitsOfTheOperators(t *testing.T) {
	for _, size := range []int{8, 11, 20} {
		within(t, func(s *Scope) {
			a, b := newTestNet(t, s, Float32, 12, 4), newTestNet(t, s, Float32, 12, 4)
			x, y := a.examples(t, 9, size, 4)
			logits, want := a.program(t, ProgramOptions{}).Forward(s, x, true, nil), byHand(b, x)
			require.Equal(t, floats(t, want), floats(t, logits))
			s.Backward(s.CrossEntropy(logits, y))
			s.Backward(s.CrossEntropy(want, y))
			for k := range a.params {
				require.Equal(t, floats(t, s.Grad(b.params[k])), floats(t, s.Grad(a.params[k])), k)
			}
		})
	}
}

func TestNumberOfThreadsChangesNoBitOfTheFastLayers(t *testing.T) {
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	var want map[string][]float64
	for _, threads := range []int{1, 2, 3, 7} {
		require.NoError(t, SetThreads(threads))
		within(t, func(s *Scope) {
			var b Builder
			n := &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, 3)}
			norm := n.norm(20)
			p := s.NewProgram(&b, b.Flatten(b.AvgPool2D(b.Activate(b.BatchNorm(b.Input(), norm), ReLU, 0), square(3)),
				1, -1), ProgramOptions{Fast: true})
			x := s.RequireGrad(s.Zeros(Float32, CPU, 33, 20, 7, 8), true)
			s.NoGrad(func() { s.Normal(x, 1, 2, n.random) })
			n.params = append(n.params, x)
			got := n.step(t, p, x, s.Zeros(Int64, CPU, 33))
			if want == nil {
				want = got
			}
			require.Equal(t, want, got)
		})
	}
}

// Random chains of layers compute the same with and without fusion.
func TestFusionKeepsRandomPrograms(t *testing.T) {
	for seed := range uint64(60) {
		within(t, func(s *Scope) {
			var results [2][]float64
			for k, fast := range []bool{false, true} {
				random := rand.New(rand.NewPCG(seed, 1))
				n := &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, int64(seed))}
				var b Builder
				out := randomChain(n, &b, random)
				x := s.Zeros(Float32, CPU, 6, 5, 12, 12)
				s.Normal(x, 0, 1, n.random)
				p := s.NewProgram(&b, out, ProgramOptions{Fast: fast})
				train := p.Forward(s, x, true, nil)
				s.Backward(s.Mean(s.Mul(train, train)))
				for _, param := range n.params {
					if _, err := s.Grad(param).Info(); err == nil { // not every norm is used
						results[k] = append(results[k], floats(t, s.Grad(param))...)
					}
				}
				s.NoGrad(func() {
					results[k] = append(append(results[k], floats(t, train)...),
						floats(t, p.Forward(s, x, false, nil))...)
				})
			}
			require.NoError(t, s.Err(), "seed %d", seed)
			require.Less(t, distance(results[1], results[0]), 1e-4, "seed %d", seed)
		})
	}
}

func randomChain(n *testNet, b *Builder, random *rand.Rand) Value {
	x := b.Input()
	for range 3 + random.IntN(6) {
		switch random.IntN(7) {
		case 0:
			x = b.BatchNorm(x, n.norm(5))
		case 1:
			x = b.Activate(b.BatchNorm(x, n.norm(5)), ReLU, 0)
		case 2:
			x = b.Conv2D(x, n.param(0.3, 5, 5, 3, 3), nil, padded)
		case 3:
			x = b.Add(b.Activate(x, Activation(1+random.IntN(9)), 0.1), x)
		case 4:
			y := b.BatchNorm(x, n.norm(5))
			x = b.Add(b.Activate(y, ReLU, 0), y) // two readers: must not be fused
		case 5:
			x = b.Cat(0, b.Activate(b.BatchNorm(x, n.norm(5)), ReLU, 0), x)
			x = b.Conv2D(x, n.param(0.3, 5, 5, 1, 1), n.param(1, 5), Plane{})
		case 6: // no weights, and a bias that the mean cancels
			x = b.Conv2D(x, n.param(0.3, 5, 5, 1, 1), n.param(1, 5), Plane{})
			x = b.BatchNorm(x, BatchNorm{Mean: n.norm(5).Mean, Var: n.norms[len(n.norms)-1].Var, Momentum: 0.1,
				Eps: 1e-5})
		}
	}
	if random.IntN(2) == 0 {
		return b.AvgPool2D(b.Activate(b.BatchNorm(x, n.norm(5)), ReLU, 0), square(2+random.IntN(2)))
	}
	return x
}

func TestNaNPassesThroughThePool(t *testing.T) {
	within(t, func(s *Scope) {
		var b Builder
		p := s.NewProgram(&b, b.AvgPool2D(b.Input(), square(2)), ProgramOptions{})
		x := s.Full(math.NaN(), Float32, CPU, 1, 1, 2, 2)
		require.True(t, math.IsNaN(floats(t, p.Forward(s, x, false, nil))[0]))
	})
}

func TestEveryFunctionOfTheBorderIsListed(t *testing.T) {
	header, err := os.ReadFile("graft.h")
	require.NoError(t, err)
	list, err := os.ReadFile("symbols.h")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`\b(graft_[a-z0-9_]+)\(`).FindAllStringSubmatch(string(header), -1) {
		require.Contains(t, string(list), "X("+m[1]+")")
	}
}
