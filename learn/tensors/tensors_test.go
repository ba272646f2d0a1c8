package tensors_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/learn"
	"graft/learn/dense"
	"graft/learn/tensors"
	"graft/torch"
)

func network(t testing.TB, inputs, width int) *dense.Network {
	n, err := dense.New(inputs, rand.New(rand.NewPCG(1, 1)), dense.Full{Width: width}, dense.ReLU{},
		dense.Full{Width: width}, dense.Tanh{}, dense.Full{Width: 5})
	require.NoError(t, err)
	return n
}

func numbers(count int) []float64 {
	random, all := rand.New(rand.NewPCG(2, 2)), make([]float64, count)
	for k := range all {
		all[k] = random.NormFloat64()
	}
	return all
}

// Outputs and gradients equal package dense's results, for batches of any size.
func TestBatchesAreThoseOfGo(t *testing.T) {
	n := network(t, 7, 16)
	large, err := tensors.Batches(torch.CPU)(n)
	require.NoError(t, err)
	small, err := dense.Batches(n)
	require.NoError(t, err)
	for _, count := range []int{3, 200, 0, 1} {
		x, slopes := numbers(7*count), numbers(5*count)
		require.InDeltaSlice(t, append([]float64{0}, small.Forward(x)...),
			append([]float64{0}, large.Forward(x)...), 1e-12)
		want, got := n.NewGradients(), n.NewGradients()
		require.NoError(t, small.Backward(slopes, want))
		require.NoError(t, large.Backward(slopes, got))
		for k := range want {
			require.InDeltaSlice(t, want[k], got[k], 1e-10, "parameter %d of %d examples", k, count)
		}
	}
	duel, err := dense.New(3, rand.New(rand.NewPCG(1, 1)), dense.Full{Width: 3}, dense.Duel{})
	require.NoError(t, err)
	_, err = tensors.Batches(torch.CPU)(duel)
	require.ErrorContains(t, err, "layer 1 is dense.Duel; expected a fully connected layer, ReLU or tanh")
}

// A missing device gives an error, not a panic.
func TestErrorsOfLibTorchComeBack(t *testing.T) {
	large, err := tensors.Batches(torch.Device{CUDA: true, Index: 63})(network(t, 7, 16))
	require.NoError(t, err)
	require.Len(t, large.Forward(numbers(7*3)), 5*3)
	require.ErrorContains(t, large.Backward(numbers(5*3), network(t, 7, 16).NewGradients()), "make tensor")
}

// A set agent learns the same in Go and through LibTorch, up to rounding.
func TestAgentsLearnAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var examples []learn.Example
	for range 100 {
		examples = append(examples, learn.Example{Observation: learn.Observation{Values: numbers(1 + 2*3)},
			Actions: []int{random.IntN(4)}})
	}
	loss := func(batches func(*dense.Network) (dense.Batcher, error)) float64 {
		m, err := learn.NewSet(learn.SetOptions{Globals: 1, Features: 2, Batches: batches}, rand.New(rand.NewPCG(4, 4)))
		require.NoError(t, err)
		l, err := learn.Imitate(m, examples, learn.ImitationOptions{Epochs: 3}, rand.New(rand.NewPCG(5, 5)))
		require.NoError(t, err)
		return l
	}
	require.InDelta(t, loss(nil), loss(tensors.Batches(torch.CPU)), 1e-8)
}

// BenchmarkBatch compares a gradient of 1,024 examples in Go and through LibTorch.
func BenchmarkBatch(b *testing.B) {
	for _, width := range []int{32, 256} {
		n, x, slopes := network(b, 17, width), numbers(17*1024), numbers(5*1024)
		for name, make := range map[string]func(*dense.Network) (dense.Batcher, error){"go": dense.Batches,
			"libtorch": tensors.Batches(torch.CPU)} {
			b.Run(name+map[int]string{32: "/narrow", 256: "/wide"}[width], func(b *testing.B) {
				batch, err := make(n)
				require.NoError(b, err)
				gradients := n.NewGradients()
				for b.Loop() {
					batch.Forward(x)
					require.NoError(b, batch.Backward(slopes, gradients))
				}
			})
		}
	}
}
