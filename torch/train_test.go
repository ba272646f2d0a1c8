package torch

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func snapshot(t *testing.T, n *testNet, o *Optimizer) [][]float64 {
	var all [][]float64
	for _, slot := range o.Slots {
		all = append(all, floats(t, slot.Param), floats(t, slot.First), floats(t, slot.Second))
	}
	for _, norm := range n.norms {
		all = append(all, floats(t, norm.Mean), floats(t, norm.Var), floats(t, norm.Seen))
	}
	return append(all, floats(t, o.Steps))
}

func TestManyStepsInOneCallAreTheSameSteps(t *testing.T) {
	for _, fast := range []bool{false, true} {
		within(t, func(s *Scope) {
			one, many, hand := newTestNet(t, s, Float32, 8, 3), newTestNet(t, s, Float32, 8, 3),
				newTestNet(t, s, Float32, 8, 3)
			x, y := one.examples(t, 26, 10, 3)
			p, o := one.program(t, ProgramOptions{Fast: fast}), one.adam(fast)
			all, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: 8})
			require.NoError(t, err)
			require.Len(t, all.Losses, 4, "the last batch is short")

			p2, o2, p3, o3 := many.program(t, ProgramOptions{Fast: fast}), many.adam(fast),
				hand.program(t, ProgramOptions{Fast: fast}), hand.adam(fast)
			for k := range 4 {
				rows := min(8, 26-8*k)
				xk, yk := s.Narrow(x, 0, 8*k, rows), s.Narrow(y, 0, 8*k, rows)
				f, err := Train(p2, o2, Batches{Inputs: xk, Labels: yk, Size: 8})
				require.NoError(t, err)
				require.Equal(t, all.Losses[k], f.Losses[0])
				require.Equal(t, all.Correct[k], f.Correct[0])

				require.NoError(t, o3.ZeroGrad())
				loss := s.CrossEntropy(p3.Forward(s, xk, true, nil), yk)
				s.Backward(loss)
				require.NoError(t, o3.Step())
			}
			require.Equal(t, snapshot(t, one, o), snapshot(t, many, o2))
			require.Equal(t, snapshot(t, one, o), snapshot(t, hand, o3))
		})
	}
}

func TestOrderPicksRows(t *testing.T) {
	within(t, func(s *Scope) {
		a, b := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
		x, y := a.examples(t, 12, 10, 3)
		order := s.Permutation(12, s.NewGenerator(CPU, 5))
		oa, ob := a.adam(false), b.adam(false)
		fa, err := Train(a.program(t, ProgramOptions{}), oa, Batches{Inputs: x, Labels: y, Order: order, Size: 5})
		require.NoError(t, err)
		fb, err := Train(b.program(t, ProgramOptions{}), ob,
			Batches{Inputs: s.IndexSelect(x, 0, order), Labels: s.IndexSelect(y, 0, order), Size: 5})
		require.NoError(t, err)
		require.Equal(t, fa, fb)
		require.Equal(t, snapshot(t, a, oa), snapshot(t, b, ob))
	})
}

func TestTrainingLearns(t *testing.T) {
	require.NoError(t, SetThreads(1))
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	for _, fast := range []bool{false, true} {
		within(t, func(s *Scope) {
			n := newTestNet(t, s, Float32, 8, 3)
			x, y := n.examples(t, 96, 10, 3)
			p, o := n.program(t, ProgramOptions{Fast: fast}), n.adam(fast)
			for range 30 {
				_, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: 16})
				require.NoError(t, err)
			}
			f, err := Evaluate(p, Batches{Inputs: x, Labels: y, Size: 96})
			require.NoError(t, err)
			require.Greater(t, f.Correct[0], 90)
			require.Less(t, f.Losses[0], 0.3)
		})
	}
}

// A step with a teacher follows the loss that this test writes out, at the rows that the order picks, with a decreasing
// share.
func TestLessonsAreTheirFormula(t *testing.T) {
	const temperature, share, past, length = 3.0, 0.8, 1, 4
	within(t, func(s *Scope) {
		one, hand := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
		x, y := one.examples(t, 12, 10, 3)
		lessons := s.Scale(s.Reshape(s.To(arange(s, 36), Float32, CPU), 12, 3), 0.1, -1.5)
		order := s.Permutation(12, s.NewGenerator(CPU, 5))
		sgd := OptimizerOptions{Rule: SGD, LR: 0.1, Momentum: 0.9}
		o, oh := s.NewOptimizer(Group{Params: one.params, OptimizerOptions: sgd}),
			s.NewOptimizer(Group{Params: hand.params, OptimizerOptions: sgd})
		_, err := Train(one.program(t, ProgramOptions{}), o, Batches{Inputs: x, Labels: y, Order: order, Size: 6,
			Teacher: Teacher{Logits: lessons, Temperature: temperature, Share: share, Past: past, Length: length}})
		require.NoError(t, err)
		p := hand.program(t, ProgramOptions{})
		soft := func(logits *Tensor) *Tensor { return s.Softmax(s.Scale(logits, 1/temperature, 0), 1) }
		for k := range 2 {
			rows := s.Narrow(order, 0, 6*k, 6)
			require.NoError(t, oh.ZeroGrad())
			logits, lesson := p.Forward(s, s.IndexSelect(x, 0, rows), true, nil), soft(s.IndexSelect(lessons, 0, rows))
			apart := s.Sum(s.Mul(lesson, s.Sub(s.Log(lesson), s.Log(soft(logits)))))
			part := share * float64(length-past-k) / length
			s.Backward(s.Add(s.Scale(s.CrossEntropy(logits, s.IndexSelect(y, 0, rows)), 1-part, 0),
				s.Scale(apart, part*temperature*temperature/6, 0)))
			require.NoError(t, oh.Step())
		}
		for k, slot := range oh.Slots {
			require.InDeltaSlice(t, floats(t, slot.Param), floats(t, o.Slots[k].Param), 1e-5)
		}
		_, err = Train(p, oh, Batches{Inputs: x, Labels: y, Size: 6,
			Teacher: Teacher{Logits: s.Narrow(lessons, 1, 0, 2), Temperature: 1, Share: 0.5}})
		require.ErrorContains(t, err, "the teacher gives")
	})
}

// Optimizers equal their formulas in float64.
func TestOptimizersFollowTheirFormulas(t *testing.T) {
	const steps, lr, decay = 5, 0.1, 0.01
	grad := func(p float64, k int) float64 { return p*p + float64(k) - 2 }
	cases := map[string]struct {
		options OptimizerOptions
		formula func(p, m, v, g float64, k int) (float64, float64, float64)
	}{
		"sgd": {OptimizerOptions{Rule: SGD, WeightDecay: decay},
			func(p, m, v, g float64, k int) (float64, float64, float64) {
				return p - lr*(g+decay*p), m, v
			}},
		"momentum": {OptimizerOptions{Rule: SGD, Momentum: 0.9, Dampening: 0.1},
			func(p, m, v, g float64, k int) (float64, float64, float64) {
				if m = 0.9*m + 0.9*g; k == 0 {
					m = g
				}
				return p - lr*m, m, v
			}},
		"nesterov": {OptimizerOptions{Rule: SGD, Momentum: 0.9, Nesterov: true},
			func(p, m, v, g float64, k int) (float64, float64, float64) {
				m = 0.9*m + g
				return p - lr*(g+0.9*m), m, v
			}},
		"adam": {OptimizerOptions{Rule: Adam, WeightDecay: decay},
			func(p, m, v, g float64, k int) (float64, float64, float64) {
				return adamFormula(p, m, v, g+decay*p, k, lr)
			}},
		"adamw": {OptimizerOptions{Rule: AdamW, WeightDecay: decay},
			func(p, m, v, g float64, k int) (float64, float64, float64) {
				return adamFormula(p*(1-lr*decay), m, v, g, k, lr)
			}},
	}
	for name, c := range cases {
		for _, fused := range []bool{false, true} {
			within(t, func(s *Scope) {
				p, m, v := 0.75, 0.0, 0.0
				param := s.RequireGrad(From(s, []float32{0.75}, 1), true)
				c.options.LR, c.options.Fused = lr, fused
				o := s.NewOptimizer(Group{Params: []*Tensor{param}, OptimizerOptions: c.options})
				for k := range steps {
					g := grad(p, k)
					s.SetGrad(param, From(s, []float32{float32(g)}, 1))
					require.NoError(t, o.Step())
					p, m, v = c.formula(p, m, v, g, k)
				}
				require.InDelta(t, p, floats(t, param)[0], 2e-6, "%s, fused %v", name, fused)
				require.Equal(t, []float64{steps}, floats(t, o.Steps))
			})
		}
	}
}

func adamFormula(p, m, v, g float64, k int, lr float64) (float64, float64, float64) {
	m, v = 0.9*m+0.1*g, 0.999*v+0.001*g*g
	mhat, vhat := m/(1-math.Pow(0.9, float64(k+1))), v/(1-math.Pow(0.999, float64(k+1)))
	return p - lr*mhat/(math.Sqrt(vhat)+1e-8), m, v
}

// State that is copied to another optimizer continues bit for bit.
func TestOptimizerStateMovesToAnother(t *testing.T) {
	within(t, func(s *Scope) {
		a, b := newTestNet(t, s, Float32, 4, 3), newTestNet(t, s, Float32, 4, 3)
		x, y := a.examples(t, 16, 10, 3)
		pa, oa, pb, ob := a.program(t, ProgramOptions{}), a.adam(false), b.program(t, ProgramOptions{}), b.adam(false)
		batches := Batches{Inputs: x, Labels: y, Size: 4}
		_, err := Train(pa, oa, batches)
		require.NoError(t, err)
		for k := range oa.Slots {
			s.Copy(ob.Slots[k].Param, oa.Slots[k].Param)
			s.Copy(ob.Slots[k].First, oa.Slots[k].First)
			s.Copy(ob.Slots[k].Second, oa.Slots[k].Second)
		}
		s.Copy(ob.Steps, oa.Steps)
		for k := range a.norms {
			s.Copy(b.norms[k].Mean, a.norms[k].Mean)
			s.Copy(b.norms[k].Var, a.norms[k].Var)
			s.Copy(b.norms[k].Seen, a.norms[k].Seen)
		}
		for _, o := range []*Optimizer{oa, ob} {
			options := o.Options(0)
			options.LR = 0.002
			require.NoError(t, o.Configure(0, options))
		}
		fa, err := Train(pa, oa, batches)
		require.NoError(t, err)
		fb, err := Train(pb, ob, batches)
		require.NoError(t, err)
		require.Equal(t, fa, fb)
		require.Equal(t, snapshot(t, a, oa), snapshot(t, b, ob))
	})
}

func TestOptimizerOptionsListEveryFault(t *testing.T) {
	err := OptimizerOptions{LR: -1, Beta1: 2, Beta2: -1, Eps: -1, WeightDecay: -1, Momentum: -1,
		Nesterov: true}.Validate()
	for _, text := range []string{"unknown update rule", "lr is", "beta1", "beta2", "eps", "weight_decay",
		"momentum", "nesterov"} {
		require.ErrorContains(t, err, text)
	}
	within(t, func(s *Scope) {
		o := s.NewOptimizer(Group{OptimizerOptions: OptimizerOptions{Rule: Adam}})
		require.Equal(t, 1, o.Groups())
		require.Error(t, o.Configure(0, OptimizerOptions{Rule: SGD}))
		require.Error(t, o.Configure(0, OptimizerOptions{Rule: Adam, LR: -1}))
		require.Error(t, o.Configure(1, OptimizerOptions{Rule: Adam}))
	})
}

func TestGeneratorsRepeatAndResume(t *testing.T) {
	within(t, func(s *Scope) {
		x, y := s.Zeros(Float32, CPU, 100), s.Zeros(Float32, CPU, 100)
		g, same := s.NewGenerator(CPU, 42), s.NewGenerator(CPU, 42)
		s.Normal(x, 0, 1, g)
		s.Normal(y, 0, 1, same)
		require.Equal(t, floats(t, x), floats(t, y))
		state, err := g.State()
		require.NoError(t, err)
		again, err := same.State()
		require.NoError(t, err)
		require.True(t, bytes.Equal(state, again))
		want := append(floats(t, s.Permutation(50, g)), floats(t, s.Permutation(20, g))...)
		s.Normal(x, 0, 1, g)
		require.NoError(t, g.Restore(state))
		require.Equal(t, want, append(floats(t, s.Permutation(50, g)), floats(t, s.Permutation(20, g))...))
		require.Error(t, g.Restore([]byte("short")))
	})
}

func TestDropoutInAProgramDrawsFromItsGenerator(t *testing.T) {
	within(t, func(s *Scope) {
		var b Builder
		p := s.NewProgram(&b, b.Dropout(b.Input(), 0.25), ProgramOptions{})
		x := s.Full(3, Float32, CPU, 1000)
		a, c := floats(t, p.Forward(s, x, true, s.NewGenerator(CPU, 9))),
			floats(t, p.Forward(s, x, true, s.NewGenerator(CPU, 9)))
		require.Equal(t, a, c)
		zeros := 0
		for _, v := range a {
			require.True(t, v == 0 || math.Abs(v-4) < 1e-6)
			if v == 0 {
				zeros++
			}
		}
		require.InDelta(t, 250, zeros, 60)
		require.Equal(t, floats(t, x), floats(t, p.Forward(s, x, false, nil)))
	})
}

// residentMB returns the memory of this process as the system counts it.
func residentMB(t *testing.T) float64 {
	data, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	require.NoError(t, err)
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// After the first steps, resident memory grows by less than 1 MB per 300 steps, or per 1000 with GRAFT_LONG. No garbage
// collection is forced.
func TestMemoryIsFlatOverManySteps(t *testing.T) {
	// Steps this small gain nothing from a second thread, and wait for it if other tests run at the same time.
	require.NoError(t, SetThreads(1))
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	steps := 300
	if long {
		steps = 1000
	}
	for _, fast := range []bool{false, true} {
		within(t, func(s *Scope) {
			n := newTestNet(t, s, Float32, 8, 3)
			x, y := n.examples(t, 32, 12, 3)
			p, o := n.program(t, ProgramOptions{Fast: fast}), n.adam(fast)
			var after [5]float64
			for k := range after {
				for range steps {
					_, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: 32})
					require.NoError(t, err)
				}
				after[k] = residentMB(t)
			}
			t.Logf("fast %v: resident MB after each %d steps: %.1f", fast, steps, after)
			require.Less(t, (after[4]-after[0])/4, 1.0, "resident MB after each %d steps: %v", steps, after)
		})
	}
}

// An optimizer that starts with another's state takes the same step as the other.
func TestOptimizerBeginsWithState(t *testing.T) {
	for _, rule := range []Rule{SGD, Adam, AdamW} {
		require.NoError(t, With(func(s *Scope) error {
			o := OptimizerOptions{Rule: rule, LR: 0.1, Momentum: 0.9}
			values := []float32{1, -2, 3}
			param := func() *Tensor { return s.RequireGrad(From(s, values, 3), true) }
			a, b := param(), param()
			one := s.NewOptimizer(Group{Params: []*Tensor{a}, OptimizerOptions: o})
			step := func(opt *Optimizer, p *Tensor, k float64) {
				s.SetGrad(p, s.Full(k, Float32, CPU, 3))
				require.NoError(t, opt.Step())
			}
			step(one, a, 1)
			s.Copy(b, s.Detach(a))
			state := State{First: s.Clone(one.Slots[0].First), Steps: 1}
			if rule != SGD {
				state.Second = s.Clone(one.Slots[0].Second)
			}
			other := s.NewOptimizer(Group{Params: []*Tensor{param()}, OptimizerOptions: o},
				Group{Params: []*Tensor{b}, State: []State{state}, OptimizerOptions: o})
			require.Equal(t, []int{0, 1}, []int{other.GroupOf(0), other.GroupOf(1)})
			step(one, a, -0.5)
			step(other, b, -0.5)
			want, err := Values[float32](a)
			require.NoError(t, err)
			got, err := Values[float32](b)
			require.NoError(t, err)
			require.Equal(t, want, got)
			return s.Err()
		}))
	}
}

// A program or an optimizer that is closed early says so when it is used, and may be closed twice.
func TestCloseBeforeTheScope(t *testing.T) {
	require.NoError(t, With(func(s *Scope) error {
		p := s.RequireGrad(s.Zeros(Float32, CPU, 2), true)
		o := s.NewOptimizer(Group{Params: []*Tensor{p}, OptimizerOptions: OptimizerOptions{Rule: SGD}})
		o.Close()
		o.Close()
		require.ErrorIs(t, o.Step(), ErrClosed)
		var b Builder
		program := s.NewProgram(&b, b.Activate(b.Input(), ReLU, 0), ProgramOptions{})
		program.Close()
		program.Close()
		require.ErrorIs(t, With(func(inner *Scope) error {
			program.Forward(inner, p, false, nil)
			return nil
		}), ErrClosed)
		return s.Err()
	}))
}

// The loss of a batch is the mean over the labels that are not ignored, also if parts of the batch have different
// numbers of them.
func TestLabelsThatDoNotCount(t *testing.T) {
	within(t, func(s *Scope) {
		const rows = 22
		after := map[int][]float64{}
		for _, part := range []int{0, 1, 4} {
			n, p := tokenLearner(t, s)
			x, _ := n.examples(t, rows, 10, 3)
			y := tokenLabels(s, rows)
			o := s.NewOptimizer(Group{Params: n.params, OptimizerOptions: OptimizerOptions{Rule: SGD, LR: 0.5}})
			logits := p.Forward(s, x, false, nil)
			f, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: rows, Part: part, Ignores: true})
			require.NoError(t, err)
			want, right := meanLoss(t, floats(t, logits), y)
			require.InEpsilon(t, want, f.Losses[0], 1e-5)
			require.Equal(t, []int{right}, f.Correct)
			after[part] = floats(t, n.params[0])
		}
		for _, part := range []int{1, 4} {
			require.InDeltaSlice(t, after[0], after[part], 1e-6)
		}
	})
}

// meanLoss returns the mean over the labels that are not ignored, and the number of correct predictions.
func meanLoss(t *testing.T, logits []float64, labels *Tensor) (loss float64, right int) {
	values, err := Values[int64](labels)
	require.NoError(t, err)
	count := 0
	for k, label := range values {
		if label < 0 {
			continue
		}
		of, sum := logits[3*k:3*k+3], 0.0
		for _, v := range of {
			sum += math.Exp(v)
		}
		loss += math.Log(sum) - of[label]
		if of[label] == slices.Max(of) {
			right++
		}
		count++
	}
	return loss / float64(count), right
}
