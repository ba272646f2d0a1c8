package torch

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// known is an operator on a few numbers, with the result from its definition.
type known struct {
	call func(s *Scope) *Tensor
	want []float64
}

// m returns a matrix of two rows.
func m(s *Scope, values ...float32) *Tensor { return From(s, values, 2, len(values)/2) }

func checkKnown(t *testing.T, cases map[string]known) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			within(t, func(s *Scope) {
				got := c.call(s)
				require.NoError(t, s.Err())
				require.InDeltaSlice(t, c.want, floats(t, got), 1e-6)
			})
		})
	}
}

func TestSurgeryOperators(t *testing.T) {
	checkKnown(t, map[string]known{
		"spread": {func(s *Scope) *Tensor {
			index := func(values ...int64) *Tensor { return From(s, values, len(values)) }
			return s.Spread(m(s, 1, 2, 3, 4), Sources{Rows: index(1, 0), Scale: From(s, []float64{1, 10}, 2),
				Columns: index(0, 1, 1), Copies: From(s, []float64{1, 2, 2}, 3), First: From(s, []float64{1, 1, 0}, 3)})
		}, []float64{3, 2, 2, 10, 10, 10}},
		"spread of nothing": {func(s *Scope) *Tensor { return s.Spread(m(s, 1, 2), Sources{}) }, []float64{1, 2}},
		"index add": {func(s *Scope) *Tensor {
			x := m(s, 1, 2, 3, 4)
			s.IndexAdd(x, 1, From(s, []int64{1}, 1), From(s, []float32{10, 20}, 2, 1), 2)
			return x
		}, []float64{1, 22, 3, 44}},
		"dirac": {func(s *Scope) *Tensor {
			x := s.Zeros(Float32, CPU, 2, 1, 1, 3) // two groups, a kernel of 1 x 3
			s.Dirac(x)
			return x
		}, []float64{0, 1, 0, 0, 1, 0}},
		"pad":  {func(s *Scope) *Tensor { return s.Pad(m(s, 1, 2), 1, 0) }, []float64{0, 1, 0, 2}},
		"crop": {func(s *Scope) *Tensor { return s.Pad(m(s, 1, 2, 3, 4), -1, 0) }, []float64{2, 4}},
	})
}

func TestOperatorsDoWhatTheySay(t *testing.T) {
	checkKnown(t, map[string]known{
		"add": {func(s *Scope) *Tensor { return s.Add(m(s, 1, 2), m(s, 10, 20)) }, []float64{11, 22}},
		"add broadcasts": {func(s *Scope) *Tensor { return s.Add(m(s, 1, 2, 3, 4), From(s, []float32{10, 20}, 2)) },
			[]float64{11, 22, 13, 24}},
		"sub": {func(s *Scope) *Tensor { return s.Sub(m(s, 1, 2), m(s, 10, 20)) }, []float64{-9, -18}},
		"mul": {func(s *Scope) *Tensor { return s.Mul(m(s, 3, 2), m(s, 10, 20)) }, []float64{30, 40}},
		"div": {func(s *Scope) *Tensor { return s.Div(m(s, 3, 2), m(s, 2, 8)) }, []float64{1.5, 0.25}},
		"mm":  {func(s *Scope) *Tensor { return s.MM(m(s, 1, 2, 3, 4), m(s, 5, 6, 7, 8)) }, []float64{19, 22, 43, 50}},
		"matmul of batches": {func(s *Scope) *Tensor {
			return s.MatMul(From(s, []float32{1, 2, 3, 4}, 2, 1, 2), From(s, []float32{1, 1}, 2))
		}, []float64{3, 7}},
		"relu":    {func(s *Scope) *Tensor { return s.ReLU(m(s, -1, 2)) }, []float64{0, 2}},
		"sigmoid": {func(s *Scope) *Tensor { return s.Sigmoid(m(s, 0, 1)) }, []float64{0.5, 1 / (1 + math.Exp(-1))}},
		"tanh":    {func(s *Scope) *Tensor { return s.Tanh(m(s, 0, 1)) }, []float64{0, math.Tanh(1)}},
		"softmax": {func(s *Scope) *Tensor { return s.Softmax(m(s, 0, float32(math.Log(3))), 0) },
			[]float64{0.25, 0.75}},
		"log softmax": {func(s *Scope) *Tensor { return s.LogSoftmax(m(s, 0, float32(math.Log(3))), 0) },
			[]float64{math.Log(0.25), math.Log(0.75)}},
		"sum":       {func(s *Scope) *Tensor { return s.Sum(m(s, 1, 2, 3, 4)) }, []float64{10}},
		"mean":      {func(s *Scope) *Tensor { return s.Mean(m(s, 1, 2, 3, 4)) }, []float64{2.5}},
		"transpose": {func(s *Scope) *Tensor { return s.Transpose(m(s, 1, 2, 3, 4), 0, 1) }, []float64{1, 3, 2, 4}},
		"index select": {func(s *Scope) *Tensor {
			return s.IndexSelect(m(s, 1, 2, 3, 4), 0, From(s, []int64{1, 1}, 2))
		}, []float64{3, 4, 3, 4}},
		"reshape": {func(s *Scope) *Tensor { return s.Reshape(s.Reshape(m(s, 1, 2, 3, 4), 1, 2, -1), -1) },
			[]float64{1, 2, 3, 4}},
		"narrow": {func(s *Scope) *Tensor { return s.Narrow(m(s, 1, 2, 3, 4), 1, 1, 1) }, []float64{2, 4}},
		"cat":    {func(s *Scope) *Tensor { return s.Cat(1, m(s, 1, 2), m(s, 3, 4)) }, []float64{1, 3, 2, 4}},
		"embedding": {func(s *Scope) *Tensor { return s.Embedding(m(s, 1, 2, 3, 4), From(s, []int64{1, 0, 1}, 3)) },
			[]float64{3, 4, 1, 2, 3, 4}},
		"scale":       {func(s *Scope) *Tensor { return s.Scale(m(s, 1, 2), 2, -1) }, []float64{1, 3}},
		"neg exp log": {func(s *Scope) *Tensor { return s.Log(s.Exp(s.Neg(m(s, 1, 2)))) }, []float64{-1, -2}},
		"sqrt":        {func(s *Scope) *Tensor { return s.Sqrt(m(s, 4, 9)) }, []float64{2, 3}},
		"to int64":    {func(s *Scope) *Tensor { return s.To(m(s, 1.7, -1.7), Int64, CPU) }, []float64{1, -1}},
		"linear": {func(s *Scope) *Tensor {
			return s.Linear(m(s, 1, 2, 3, 4), m(s, 1, 0, 1, 1), From(s, []float32{10, 20}, 2))
		}, []float64{11, 23, 13, 27}},
		"linear, no bias": {func(s *Scope) *Tensor { return s.Linear(m(s, 1, 2, 3, 4), m(s, 1, 0, 1, 1), nil) },
			[]float64{1, 3, 3, 7}},
		"average pool": {func(s *Scope) *Tensor {
			return s.AvgPool2D(From(s, []float32{1, 2, 3, 4}, 1, 1, 2, 2), square(2))
		}, []float64{2.5}},
		"cross entropy": {func(s *Scope) *Tensor { return s.CrossEntropy(m(s, 0, 0, 0, 0), From(s, []int64{0, 1}, 2)) },
			[]float64{math.Log(2)}},
		"clone is apart": {func(s *Scope) *Tensor {
			a := m(s, 1, 2)
			b := s.Clone(a)
			s.Fill(a, 9)
			return b
		}, []float64{1, 2}},
		"copy in place": {func(s *Scope) *Tensor {
			a := m(s, 1, 2)
			s.Copy(s.Narrow(a, 0, 1, 1), From(s, []float32{7}, 1, 1))
			return a
		}, []float64{1, 7}},
		"gradient": {func(s *Scope) *Tensor {
			x := s.RequireGrad(m(s, 1, 3), true)
			s.Backward(s.Sum(s.Mul(x, x)))
			return s.Grad(x)
		}, []float64{2, 6}},
		"gradient stops at detach": {func(s *Scope) *Tensor {
			x := s.RequireGrad(m(s, 1, 3), true)
			s.Backward(s.Sum(s.Mul(x, s.Detach(x))))
			return s.Grad(x)
		}, []float64{1, 3}},
		"gradient that was set": {func(s *Scope) *Tensor {
			x := s.RequireGrad(m(s, 1, 3), true)
			s.SetGrad(x, m(s, 5, 5))
			s.Backward(s.Sum(x))
			return s.Grad(x)
		}, []float64{6, 6}},
	})
}

func TestNoGradRecordsNothing(t *testing.T) {
	within(t, func(s *Scope) {
		x := s.RequireGrad(s.Zeros(Float32, CPU, 2), true)
		var y *Tensor
		s.NoGrad(func() { y = s.Exp(x) })
		info, err := y.Info()
		require.NoError(t, err)
		require.False(t, info.RequiresGrad)
		info, err = s.Exp(x).Info()
		require.NoError(t, err)
		require.True(t, info.RequiresGrad)
		_, err = s.Grad(x).Info()
		require.ErrorContains(t, err, "undefined")
	})
}

func TestHostArraysRoundTrip(t *testing.T) {
	within(t, func(s *Scope) {
		roundTrip(t, s, []uint8{0, 255, 3})
		roundTrip(t, s, []int8{-128, 0, 127})
		roundTrip(t, s, []int16{-5, 0, 500})
		roundTrip(t, s, []int32{-5, 0, 1 << 30})
		roundTrip(t, s, []int64{-5, 0, 1 << 60})
		roundTrip(t, s, []float32{-1.5, 0, 1e-30})
		roundTrip(t, s, []float64{-1.5, 0, 1e-300})
		roundTrip(t, s, []bool{true, false, true})
		roundTrip(t, s, []float32{})
		_, err := Values[int32](From(s, []float32{1}, 1))
		require.ErrorIs(t, err, ErrShape)
		_, err = From(s, []float32{1, 2}, 2).Item()
		require.ErrorContains(t, err, "exactly one value")
	})
	err := With(func(s *Scope) error { FromBytes(s, CPU, Float32, []byte{1, 2, 3}, 1); return nil })
	require.ErrorContains(t, err, "not a multiple of the size of float32")
}

func roundTrip[T Element](t *testing.T, s *Scope, data []T) {
	x := From(s, data, len(data))
	got, err := Values[T](x)
	require.NoError(t, err)
	require.Equal(t, data, got)
	raw, err := x.Bytes()
	require.NoError(t, err)
	again, err := Values[T](FromBytes(s, CPU, dtypeOf[T](), raw, len(data)))
	require.NoError(t, err)
	require.Equal(t, data, again)
}

func TestWeightsKeepEveryType(t *testing.T) {
	within(t, func(s *Scope) {
		for _, dtype := range stored {
			x := s.To(From(s, []float32{0, 1, 2, 3, 4, 5}, 2, 3), dtype, CPU)
			w, err := x.Weights("x")
			require.NoError(t, err)
			require.Equal(t, []int64{2, 3}, w.Shape)
			back := FromWeights(s, CPU, w)
			info, err := back.Info()
			require.NoError(t, err)
			require.Equal(t, dtype, info.DType)
			require.Equal(t, floats(t, x), floats(t, back))
		}
	})
	err := With(func(s *Scope) error { FromWeights(s, CPU, weights.Tensor{Name: "odd"}); return nil })
	require.ErrorContains(t, err, "odd")
}
