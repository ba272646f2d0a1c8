package bilstm_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/original/bilstm"
	"graft/original/vocab"
	"graft/torch"
	"graft/torch/weights"
)

// drawn is a tensor of normal numbers.
func drawn(t *testing.T, random *rand.Rand, name string, shape ...int64) weights.Tensor {
	count := int64(1)
	for _, size := range shape {
		count *= size
	}
	values := make([]float32, count)
	for k := range values {
		values[k] = float32(random.NormFloat64())
	}
	w, err := weights.FromFloat32s(name, shape, values)
	require.NoError(t, err)
	return w
}

const in, hidden, tokens = 5, 7, 4

// biLSTM is the weights of an encoder, in PyTorch's order.
func biLSTM(t *testing.T, seed uint64) *weights.Set {
	random := rand.New(rand.NewPCG(seed, 0))
	set := &weights.Set{}
	for _, ending := range []string{"", "_reverse"} {
		set.Tensors = append(set.Tensors,
			drawn(t, random, "encoder.encoder.weight_ih_l0"+ending, 4*hidden, in), drawn(t, random, "encoder.encoder.weight_hh_l0"+ending, 4*hidden, hidden),
			drawn(t, random, "encoder.encoder.bias_ih_l0"+ending, 4*hidden), drawn(t, random, "encoder.encoder.bias_hh_l0"+ending, 4*hidden))
	}
	return set
}

func vocabulary(t *testing.T, size int) *vocab.Vocabulary {
	random := rand.New(rand.NewPCG(9, 0))
	vectors := make([][]float32, tokens)
	for k := range vectors {
		for range size {
			vectors[k] = append(vectors[k], float32(random.NormFloat64()))
		}
	}
	v, err := vocab.New([]vocab.Entry{{Key: "some", ID: 0}}, vectors)
	require.NoError(t, err)
	return v
}

// What is encoded is what LibTorch's bidirectional LSTM makes of it.
func TestEncodesAsLibTorch(t *testing.T) {
	v, set := vocabulary(t, in), biLSTM(t, 1)
	e, err := bilstm.NewEncoder(v, set)
	require.NoError(t, err)
	require.Equal(t, hidden, e.Hidden())
	read := []int{3, 0, 0, 2, 1, 3}
	vectors, encoded, err := e.Encode(read)
	require.NoError(t, err)
	var flat []float32
	for k, id := range read {
		require.Equal(t, v.Vectors[id], vectors[k])
		flat = append(flat, vectors[k]...)
	}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		lstm := torch.LSTM{Bidirectional: true}
		for _, w := range set.Tensors {
			lstm.Weights = append(lstm.Weights, torch.FromWeights(s, torch.CPU, w))
		}
		zeros := func() *torch.Tensor { return s.Zeros(torch.Float32, torch.CPU, 2, 1, hidden) }
		out, _, _ := s.LSTM(lstm, torch.From(s, flat, len(read), 1, in), zeros(), zeros())
		want, err := torch.Values[float32](out)
		require.NoError(t, err)
		for k := range encoded {
			require.InDeltaSlice(t, want[k*2*hidden:(k+1)*2*hidden], encoded[k], 1e-6)
		}
		return s.Err()
	}))
}

func TestTheStateGoesOnFromStepToStep(t *testing.T) {
	lstm, err := bilstm.ReadLSTM(biLSTM(t, 2), "encoder.encoder", "")
	require.NoError(t, err)
	require.Equal(t, in, lstm.In())
	sequence := vocabulary(t, in).Vectors
	whole, cells := lstm.Run(sequence)
	part, earlier := lstm.Run(sequence[:2])
	require.Equal(t, whole[:2], part)
	require.NotEqual(t, cells, earlier)
	none, _ := lstm.Run(nil)
	require.Empty(t, none)
}

func TestNoTokensAndNoSuchToken(t *testing.T) {
	e, err := bilstm.NewEncoder(vocabulary(t, in), biLSTM(t, 3))
	require.NoError(t, err)
	_, encoded, err := e.Encode(nil)
	require.NoError(t, err)
	require.Empty(t, encoded)
	for _, id := range []int{-1, tokens} {
		_, _, err = e.Encode([]int{0, id})
		require.ErrorContains(t, err, "there is no token")
	}
}

func TestWeightsThatDoNotFit(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	for name, c := range map[string]struct {
		change weights.Tensor // takes the place of the one of its name
		size   int            // of the vocabulary's vectors
		says   string
	}{
		"all is well":          {size: in},
		"another vocabulary":   {size: in + 1, says: "reads vectors of 5 numbers, and the vocabulary  has 6"},
		"a row too few":        {change: drawn(t, random, "encoder.encoder.weight_ih_l0", 4*hidden-1, in), says: "bias_ih_l0 has 28 numbers for the 27 rows"},
		"the ways are unlike":  {change: drawn(t, random, "encoder.encoder.weight_ih_l0_reverse", 4*hidden, in+1), says: "must be alike"},
		"a state too small":    {change: drawn(t, random, "encoder.encoder.weight_hh_l0", 4*hidden, hidden-1), says: "four times the state"},
		"another dimension":    {change: drawn(t, random, "encoder.encoder.weight_hh_l0", 4*hidden*hidden), says: "weight_hh_l0 is float32[196]; a policy has float32 in 2 dimensions there"},
		"empty":                {change: drawn(t, random, "encoder.encoder.bias_hh_l0", 0), says: "bias_hh_l0 is float32[0]"},
		"not there":            {change: weights.Tensor{Name: "encoder.encoder.bias_ih_l0"}, says: "there is no tensor encoder.encoder.bias_ih_l0"},
		"another type":         {change: weights.Tensor{Name: "encoder.encoder.bias_ih_l0", DType: weights.Float64, Shape: []int64{1}, Data: make([]byte, 8)}, says: "bias_ih_l0 is float64[1]"},
		"a number is infinite": {change: infinite(t), says: "numbers that are not finite"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.size == 0 {
				c.size = in
			}
			set := biLSTM(t, 5)
			for k, w := range set.Tensors {
				if w.Name == c.change.Name {
					set.Tensors[k] = c.change
				}
				if strings.HasPrefix(name, "not there") && w.Name == c.change.Name {
					set.Tensors[k].Name = "elsewhere"
				}
			}
			_, err := bilstm.NewEncoder(vocabulary(t, c.size), set)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}

func infinite(t *testing.T) weights.Tensor {
	values := make([]float32, 4*hidden)
	values[3] = float32(math.Inf(1))
	w, err := weights.FromFloat32s("encoder.encoder.bias_hh_l0_reverse", []int64{4 * hidden}, values)
	require.NoError(t, err)
	return w
}
