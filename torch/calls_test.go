package torch

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func call(op, result string, args ...Argument) Call {
	return Call{Operator: op, Where: "body.0", Results: []string{result}, Arguments: args}
}

func TestCallsComputeWhatTheirOperatorsDo(t *testing.T) {
	x := Argument{"self", Ref("x")}
	cases := map[string]struct {
		calls []Call
		want  []float64
	}{
		"a scalar as the other operand": {[]Call{call("add.Tensor", "y", x, Argument{"other", 1.5})},
			[]float64{2.5, 3.5, 4.5, 5.5}},
		"a list of results": {[]Call{{Operator: "chunk.default",
			Arguments: []Argument{x, {"chunks", int64(2)}, {"dim", int64(1)}}, Results: []string{"a", "b"}},
			call("cat.default", "y", Argument{"tensors", []any{Ref("b"), Ref("a")}}, Argument{"dim", int64(1)})},
			[]float64{2, 1, 4, 3}},
		"sizes": {[]Call{call("sym_size.int", "n", x, Argument{"dim", int64(0)}),
			call("operator.mul", "m", Argument{"a", Ref("n")}, Argument{"b", int64(2)}),
			call("reshape.default", "y", x, Argument{"shape", []any{Ref("m")}})}, []float64{1, 2, 3, 4}},
		"dropout in eval mode": {[]Call{call("dropout.default", "y", Argument{"input", Ref("x")}, Argument{"p", 0.5})},
			[]float64{1, 2, 3, 4}},
		"attention over one place": {[]Call{call("scaled_dot_product_attention.default", "y",
			Argument{"query", Ref("x")}, Argument{"key", Ref("x")}, Argument{"value", Ref("x")},
			Argument{"is_causal", true}, Argument{"scale", 0.0})}, []float64{1, 2, 2, 3}},
		"attention of a query without keys": {maskedAttention, []float64{1, 2, 0, 0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, With(func(s *Scope) error {
				p := s.NewCalls(CallList{Input: "x", Output: "y", Calls: c.calls}, ProgramOptions{})
				y := p.Forward(s, From(s, []float64{1, 2, 3, 4}, 2, 2), false, nil)
				got, err := Values[float64](s.To(y, Float64, CPU))
				require.NoError(t, err)
				assert.InDeltaSlice(t, c.want, got, 1e-12)
				return nil
			}))
		})
	}
}

// maskedAttention masks all keys of the second query.
var maskedAttention = []Call{call("le.Scalar", "mask", Argument{"self", Ref("x")}, Argument{"other", 1.5}),
	call("scaled_dot_product_attention.default", "y", Argument{"query", Ref("x")}, Argument{"key", Ref("x")},
		Argument{"value", Ref("x")}, Argument{"attn_mask", Ref("mask")})}

func TestAttentionWithoutKeysHasGradients(t *testing.T) {
	require.NoError(t, With(func(s *Scope) error {
		x := s.RequireGrad(From(s, []float64{1, 2, 3, 4}, 2, 2), true)
		p := s.NewCalls(CallList{Input: "x", Output: "y", Calls: maskedAttention}, ProgramOptions{})
		s.Backward(s.Mean(p.Forward(s, x, true, nil)))
		got, err := Values[float64](s.Grad(x))
		require.NoError(t, err)
		assert.Equal(t, []float64{0.25, 0.25, 0, 0}, got)
		return nil
	}))
}

func TestCallsAreChecked(t *testing.T) {
	x := Argument{"self", Ref("x")}
	for name, c := range map[string]struct {
		calls []Call
		want  string
	}{
		"an unknown operator":     {[]Call{call("system.default", "y", x)}, "unsupported operator"},
		"a random one":            {[]Call{call("rand_like.default", "y", x)}, "unsupported operator"},
		"one in place":            {[]Call{call("relu_.default", "y", x)}, "unsupported operator"},
		"a counter":               {[]Call{call("relu.default", "x", x)}, "duplicate value name"},
		"an unknown argument":     {[]Call{call("relu.default", "y", x, Argument{"slope", 1.0})}, "no argument slope"},
		"a missing argument":      {[]Call{call("matmul.default", "y", x)}, "argument other is missing"},
		"an argument twice":       {[]Call{call("relu.default", "y", x, x)}, "given twice"},
		"a value of another type": {[]Call{call("softmax.int", "y", x, Argument{"dim", "last"})}, "argument dim"},
		"what is computed later": {[]Call{call("relu.default", "y", Argument{"self", Ref("z")}),
			call("relu.default", "z", x)}, `computes "z"`},
		"an output without a maker": {nil, "no operator computes the output"},
	} {
		s := NewScope()
		s.NewCalls(CallList{Input: "x", Output: "y", Calls: c.calls}, ProgramOptions{})
		assert.ErrorContains(t, s.Err(), c.want, name)
		require.NoError(t, s.Close())
	}
}

func TestCallsNameTheOperatorThatFails(t *testing.T) {
	s := NewScope()
	defer s.Close()
	p := s.NewCalls(CallList{Input: "x", Output: "y", Calls: []Call{call("reshape.default", "y",
		Argument{"self", Ref("x")}, Argument{"shape", []any{int64(3)}})}}, ProgramOptions{})
	p.Forward(s, From(s, []float64{1, 2, 3, 4}, 2, 2), false, nil)
	assert.ErrorContains(t, s.Err(), "reshape in body.0 of Double[2, 2]")
}

func TestCallsAreTrainedAsPrograms(t *testing.T) {
	require.NoError(t, With(func(s *Scope) error {
		w := s.RequireGrad(From(s, []float32{0.1, -0.2, 0.3, 0.4, 0.5, -0.6}, 3, 2), true)
		counter := From(s, []int64{0}, 1)
		l := CallList{Input: "x", Output: "y", Names: []string{"w", "n"}, Tensors: []*Tensor{w, counter}, Calls: []Call{
			call("linear.default", "y", Argument{"input", Ref("x")}, Argument{"weight", Ref("w")}),
			{Operator: CountBatch, Arguments: []Argument{{"counter", Ref("n")}}, OnlyTraining: true},
		}}
		o := s.NewOptimizer(Group{Params: []*Tensor{w}, OptimizerOptions: OptimizerOptions{Rule: SGD, LR: 0.5}})
		b := Batches{Inputs: From(s, []float32{1, 0, 0, 1, 1, 1, 0, 0}, 4, 2),
			Labels: From(s, []int64{0, 1, 2, 0}, 4), Size: 2}
		p := s.NewCalls(l, ProgramOptions{})
		first, err := Train(p, o, b)
		require.NoError(t, err)
		for range 20 {
			_, err = Train(p, o, b)
			require.NoError(t, err)
		}
		last, err := Evaluate(p, b)
		require.NoError(t, err)
		assert.Less(t, last.Losses[0]+last.Losses[1], first.Losses[0]+first.Losses[1])
		batches, err := Values[int64](counter)
		require.NoError(t, err)
		assert.Equal(t, []int64{42}, batches, "train mode alone counts")
		return nil
	}))
}

// The fused GELU and its derivative equal the float64 results within a few roundings, at all sizes and in the tails.
func TestFastGELU(t *testing.T) {
	within(t, func(s *Scope) {
		values := []float64{0, 1e-8, -1e-8, 9, -9, 30, -30, 1e10, -1e10}
		for k := range 1000 {
			values = append(values, float64(k-500)/64) // exact in float32
		}
		for _, approximate := range []string{"none", "tanh"} {
			for _, count := range []int{1, 15, 16, 17, len(values)} {
				found := map[DType][][]float64{}
				for _, dtype := range []DType{Float64, Float32} {
					x := s.RequireGrad(s.To(From(s, values[:count], count), dtype, CPU), true)
					p := s.NewCalls(CallList{Input: "x", Output: "y", Names: []string{"w"}, Tensors: []*Tensor{x},
						Calls: []Call{
							call("add.Tensor", "a", Argument{"self", Ref("x")}, Argument{"other", Ref("w")}),
							call("gelu.default", "y", Argument{"self", Ref("a")}, Argument{"approximate", approximate}),
						}}, ProgramOptions{Fast: true})
					y := p.Forward(s, s.Zeros(dtype, CPU, count), true, nil)
					s.Backward(s.Sum(y))
					found[dtype] = [][]float64{floats(t, y), floats(t, s.Grad(x))}
				}
				for k := range found[Float32] {
					for at, want := range found[Float64][k] {
						got := found[Float32][k][at]
						require.InDelta(t, want, got, 3e-7*max(0.5, math.Abs(want)), "%s of %v, order %d", approximate,
							values[at], k)
					}
				}
			}
		}
	})
}

// The product of the fast path and its gradients equal LibTorch's within rounding, with and without a bias.
func TestFastLinear(t *testing.T) {
	within(t, func(s *Scope) {
		const rows, in, out = 96, 130, 90 // enough multiplications for the fast path
		for _, biased := range []bool{false, true} {
			found := map[bool][][]float64{}
			for _, fast := range []bool{false, true} {
				random := s.NewGenerator(CPU, 3)
				drawn := func(shape ...int) *Tensor {
					x := s.Zeros(Float32, CPU, shape...)
					s.Normal(x, 0, 1, random)
					return s.RequireGrad(x, true)
				}
				x, weight, bias := drawn(rows/6, 6, in), drawn(out, in), drawn(out)
				arguments := []Argument{{"input", Ref("a")}, {"weight", Ref("weight")}}
				if biased {
					arguments = append(arguments, Argument{"bias", Ref("bias")})
				}
				p := s.NewCalls(CallList{Input: "x", Output: "y", Names: []string{"w", "weight", "bias"},
					Tensors: []*Tensor{x, weight, bias}, Calls: []Call{
						call("add.Tensor", "a", Argument{"self", Ref("x")}, Argument{"other", Ref("w")}),
						call("linear.default", "b", arguments...),
						call("tanh.default", "y", Argument{"self", Ref("b")}),
					}}, ProgramOptions{Fast: fast})
				y := p.Forward(s, s.Zeros(Float32, CPU, rows/6, 6, in), true, nil)
				s.Backward(s.Sum(s.Mul(y, y)))
				found[fast] = [][]float64{floats(t, y), floats(t, s.Grad(x)), floats(t, s.Grad(weight))}
				if biased {
					found[fast] = append(found[fast], floats(t, s.Grad(bias)))
				}
			}
			for k := range found[true] {
				require.InDeltaSlice(t, found[false][k], found[true][k], 2e-4, "number %d", k)
			}
		}
	})
}

// Values on which the processor traps, or that determine an operator's memory, are errors at run time, because a trial
// on zeros does not see them.
func TestCallsCheckTheirData(t *testing.T) {
	x := Argument{"self", Ref("x")}
	for name, c := range map[string]struct {
		calls []Call
		want  string
	}{
		"a remainder": {[]Call{call("remainder.Scalar", "y", x, Argument{"other", int64(-1)})},
			"the smallest whole number is divided by -1"},
		"a quotient": {[]Call{call("mul.Scalar", "zero", x, Argument{"other", int64(0)}),
			call("add.Scalar", "one", Argument{"self", Ref("zero")}, Argument{"other", int64(-1)}),
			call("div.Tensor_mode", "y", x, Argument{"other", Ref("one")}, Argument{"rounding_mode", "floor"})},
			"the smallest whole number is divided by -1"},
		"a mask": {[]Call{call("gt.Scalar", "m", x, Argument{"other", int64(0)}),
			call("index.Tensor", "y", x, Argument{"indices", []any{Ref("m")}})}, "a mask is an index"},
	} {
		s := NewScope()
		p := s.NewCalls(CallList{Input: "x", Output: "y", Calls: c.calls}, ProgramOptions{})
		require.NoError(t, s.Err(), name)
		p.Forward(s, From(s, []int64{math.MinInt64, 3}, 2), false, nil)
		assert.ErrorContains(t, s.Err(), c.want, name)
		require.NoError(t, s.Close())
	}
}
