package torch

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// brainRound is half the distance between neighbours in bfloat16, relative to them, plus a margin for sums in float32.
const brainRound = 1.0/256 + 1e-5

// bfloat16 rounds the factors of a product and its result, and nothing else.
func TestBrainRoundsWhatIsMultiplied(t *testing.T) {
	rounded := func(s *Scope, x *Tensor) *Tensor { return s.To(s.To(x, BFloat16, CPU), Float64, CPU) }
	for name, conv := range map[string]bool{"convolution": true, "linear": false} {
		within(t, func(s *Scope) {
			n := &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, 7)}
			var b Builder
			var out Value
			var want *Tensor
			x := s.Zeros(Float32, CPU, 4, 24)
			if conv {
				x = s.Zeros(Float32, CPU, 4, 3, 10, 10)
			}
			s.Normal(x, 0, 1, n.random)
			if conv {
				w, bias := n.param(0.3, 8, 3, 3, 3), n.param(0.3, 8)
				out = b.Conv2D(b.Input(), w, bias, padded)
				want = conv2D(s, rounded(s, x), rounded(s, w), rounded(s, bias), 1)
			} else {
				w, bias := n.param(0.3, 8, 24), n.param(0.3, 8)
				out = b.Linear(b.Input(), w, bias)
				want = s.Linear(rounded(s, x), rounded(s, w), rounded(s, bias))
			}
			got := s.NewProgram(&b, out, ProgramOptions{Precision: Brain}).Forward(s, x, true, nil)
			info, err := got.Info()
			require.NoError(t, err)
			require.Equal(t, Float32, info.DType)
			exact, values := floats(t, want), floats(t, got)
			for k := range exact {
				allowed := brainRound*math.Abs(exact[k]) + 1e-6
				if conv && !hasBrain() { // sums are rounded too
					allowed = brainSumTol * max(slices.Max(exact), -slices.Min(exact))
				}
				require.InDelta(t, exact[k], values[k], allowed, name)
			}
			require.Equal(t, floats(t, s.To(got, BFloat16, CPU)), values, "the result is rounded")
		})
	}
}

// Tolerances of bfloat16 over fifty steps. It has two significant digits, and the small network starts at 2.3 nats.
const (
	brainLossTol     = 0.05 // nats, each step
	brainGradientTol = 0.05 // share of a tensor's largest gradient, in the first step
	brainAccuracyTol = 0.05 // share of the images
	// Without instructions for bfloat16, LibTorch 1.13 also sums in it, and single gradients say little.
	brainSumTol = 0.02 // share of the largest value
)

func TestBrainTrainsAsSingleDoes(t *testing.T) {
	for _, fast := range []bool{false, true} {
		var losses [2][]float64
		var right [2]float64
		var gradients [2]map[string][]float64
		for k, precision := range []Precision{Single, Brain} {
			within(t, func(s *Scope) {
				n := newTestNet(t, s, Float32, 12, 4)
				x, y := n.examples(t, 160, 14, 4)
				p, o := n.program(t, ProgramOptions{Fast: fast, Precision: precision}), n.adam(fast)
				gradients[k] = n.step(t, p, x, y)
				for range 5 {
					f, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: 16})
					require.NoError(t, err)
					losses[k] = append(losses[k], f.Losses...)
				}
				f, err := Evaluate(p, Batches{Inputs: x, Labels: y, Size: 160})
				require.NoError(t, err)
				right[k] = float64(f.Correct[0]) / 160
				for _, slot := range o.Slots {
					for _, kept := range []*Tensor{slot.Param, slot.First, slot.Second, s.Grad(slot.Param)} {
						info, err := kept.Info()
						require.NoError(t, err)
						require.Equal(t, Float32, info.DType)
					}
				}
			})
		}
		require.Len(t, losses[1], 50)
		worst := 0.0
		for k := range losses[0] {
			worst = max(worst, math.Abs(losses[0][k]-losses[1][k]))
		}
		t.Logf("measured: fast %v: over 50 steps the losses in bfloat16 are within %.2g nats of those in float32, "+
			"which go from %.2f to %.2f; %.1f%% and %.1f%% are right in the end",
			fast, worst, losses[0][0], losses[0][49], 100*right[1], 100*right[0])
		require.Positive(t, worst, "it is worked out otherwise")
		require.Less(t, worst, brainLossTol)
		require.InDelta(t, right[0], right[1], brainAccuracyTol)
		require.Less(t, losses[1][49], losses[1][0]/2, "it learns")
		for name, want := range gradients[0] {
			if hasBrain() && slices.Max(want) > 1e-6 { // except for a bias before a normalisation
				require.Less(t, distance(gradients[1][name], want), brainGradientTol, name)
			}
		}
	}
}

// Evaluation uses the precision of training.
func TestBrainEvaluates(t *testing.T) {
	within(t, func(s *Scope) {
		n := newTestNet(t, s, Float32, 12, 4)
		x, y := n.examples(t, 30, 14, 4)
		evaluate := func(precision Precision) float64 {
			p := n.program(t, ProgramOptions{Precision: precision})
			f, err := Evaluate(p, Batches{Inputs: x, Labels: y, Size: 30})
			require.NoError(t, err)
			s.NoGrad(func() {
				require.Equal(t, floats(t, s.CrossEntropy(p.Forward(s, x, false, nil), y))[0], f.Losses[0])
			})
			return f.Losses[0]
		}
		single, brain := evaluate(Single), evaluate(Brain)
		require.NotEqual(t, single, brain)
		require.InDelta(t, single, brain, brainLossTol)
	})
}

// The gradient of a weight that two layers share contains both their parts.
func TestBrainSharesARoundedWeight(t *testing.T) {
	within(t, func(s *Scope) {
		n := &testNet{s: s, dtype: Float32, random: s.NewGenerator(CPU, 7)}
		w := n.param(0.5, 6, 6)
		x := s.Zeros(Float32, CPU, 5, 6)
		s.Normal(x, 0, 1, n.random)
		var gradients [2][]float64
		for k, precision := range []Precision{Single, Brain} {
			var b Builder
			p := s.NewProgram(&b, b.Linear(b.Linear(b.Input(), w, nil), w, nil), ProgramOptions{Precision: precision})
			s.Backward(s.Sum(p.Forward(s, x, true, nil)))
			gradients[k] = floats(t, s.Grad(w))
			s.SetGrad(w, nil)
		}
		require.Less(t, distance(gradients[1], gradients[0]), brainGradientTol)
	})
}

// On the steady path, the number of threads changes no bit in bfloat16.
func TestThreadsChangeNoBitInBrain(t *testing.T) {
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	for _, fast := range []bool{false, true} {
		var want [][]float64
		for _, threads := range []int{1, 2, 3} {
			require.NoError(t, SetThreads(threads))
			within(t, func(s *Scope) {
				n := newTestNet(t, s, Float32, 32, 4)
				x, y := n.examples(t, 32*5, 32, 4)
				p, o := n.program(t, ProgramOptions{Fast: fast, Steady: true, Precision: Brain}), n.adam(fast)
				f, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: 32})
				require.NoError(t, err)
				e, err := Evaluate(p, Batches{Inputs: x, Labels: y, Size: 32})
				require.NoError(t, err)
				got := append(snapshot(t, n, o), f.Losses, e.Losses)
				if want == nil {
					want = got
				}
				require.Equal(t, want, got, "fast %v, %d threads", fast, threads)
			})
		}
	}
}

// This test reports the time of a step in bfloat16 relative to float32. With AVX512-BF16 or AMX it may be shorter;
// without them it is longer.
func TestTimeInBrain(t *testing.T) {
	if !long {
		t.Skip("left out: times of steps in bfloat16, which take a minute on some processors; set GRAFT_LONG=1")
	}
	require.NoError(t, SetThreads(1))
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	text := ""
	for _, fast := range []bool{false, true} {
		within(t, func(s *Scope) {
			var programs [2]*Program
			var optimizers [2]*Optimizer
			var x, y *Tensor
			for k, precision := range []Precision{Single, Brain} {
				n := newTestNet(t, s, Float32, 32, 10)
				x, y = n.examples(t, 64*2, 32, 10)
				programs[k], optimizers[k] = n.program(t, ProgramOptions{Fast: fast, Precision: precision}),
					n.adam(fast)
			}
			var ratios []float64
			for range 6 {
				var took [2]time.Duration
				for k := range programs {
					began := time.Now()
					_, err := Train(programs[k], optimizers[k], Batches{Inputs: x, Labels: y, Size: 64})
					require.NoError(t, err)
					took[k] = time.Since(began)
				}
				ratios = append(ratios, float64(took[1])/float64(took[0]))
			}
			slices.Sort(ratios)
			text += fmt.Sprintf("; fast %v: %.2f", fast, ratios[len(ratios)/2])
		})
	}
	t.Logf("measured: time of a step in bfloat16 over float32, one thread, %s%s", vectors(), text)
}

// hasBrain reports whether the processor has instructions for bfloat16.
func hasBrain() bool { return !strings.Contains(vectors(), "without") }

// vectors describes the processor's support of bfloat16.
func vectors() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // without this file, assume no support
	for _, flag := range []string{"amx_bf16", "avx512_bf16"} {
		if bytes.Contains(text, []byte(" "+flag+" ")) {
			return "on a processor with " + flag
		}
	}
	return "on a processor without instructions for bfloat16"
}
