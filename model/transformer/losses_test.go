package transformer

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// experiment holds PyTorch's training of a character-level GPT.
type experiment struct {
	text       []byte
	vocabulary map[byte]int64
	offsets    []int32
	float32s   []float64
	float64s   []float64
}

const (
	gptContext = 64
	gptBatch   = 32
)

func readExperiment(t *testing.T) experiment {
	folder := filepath.Join(reference, "chargpt")
	var x experiment
	var err error
	if x.text, err = os.ReadFile(filepath.Join(folder, "text.txt")); err != nil {
		t.Skip("left out: the losses of a GPT; " + folder + " is not here")
	}
	var setup struct{ Vocab []int }
	var losses struct {
		Float32 []float64 `json:"losses_float32"`
		Float64 []float64 `json:"losses_float64_first_200"`
	}
	for name, into := range map[string]any{"setup.json": &setup, "losses.json": &losses} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, into))
	}
	x.vocabulary = map[byte]int64{}
	for k, b := range setup.Vocab {
		x.vocabulary[byte(b)] = int64(k)
	}
	data, err := os.ReadFile(filepath.Join(folder, "offsets.i32"))
	require.NoError(t, err)
	for k := 0; k < len(data); k += 4 {
		x.offsets = append(x.offsets, int32(binary.LittleEndian.Uint32(data[k:])))
	}
	x.float32s, x.float64s = losses.Float32, losses.Float64
	return x
}

// batch returns the batch of a step: windows of the text, and the tokens one place further.
func (x experiment) batch(s *torch.Scope, step int) (in, labels *torch.Tensor) {
	var tokens, next []int64
	for _, at := range x.offsets[step*gptBatch:][:gptBatch] {
		for k := range gptContext {
			tokens = append(tokens, x.vocabulary[x.text[int(at)+k]])
			next = append(next, x.vocabulary[x.text[int(at)+k+1]])
		}
	}
	return torch.From(s, tokens, gptBatch, gptContext), torch.From(s, next, gptBatch, gptContext)
}

// gptNames maps the reference's module names to graft's names.
var gptNames = strings.NewReplacer("attn.qkv", "qkv", "attn.proj", "o", "mlp.fc", "up", "mlp.proj", "down")

func gptOf(t testing.TB, dtype weights.DType) *graph.Graph {
	g, err := New(Config{Vocabulary: 86, Context: gptContext, Width: 128, Heads: 4, Depth: 4, Stacked: true,
		DType: dtype})
	require.NoError(t, err)
	return g
}

// train returns the losses of the first steps.
func (x experiment) train(t *testing.T, dtype weights.DType, steps int) (losses []float64) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		g := gptOf(t, dtype)
		set := readState(t, filepath.Join(reference, "chargpt", "initial.pt"))
		given := map[string]weights.Tensor{}
		for _, w := range set.Tensors {
			given[gptNames.Replace(w.Name)] = w
		}
		tensors := map[string]*torch.Tensor{}
		for _, tensor := range g.Tensors {
			w, ok := given[tensor.Name]
			require.True(t, ok, tensor.Name)
			tensors[tensor.Name] = torch.FromWeights(s, torch.CPU, w)
			if dtype == weights.Float64 {
				tensors[tensor.Name] = s.To(tensors[tensor.Name], torch.Float64, torch.CPU)
			}
		}
		n, err := g.BindTensors(s, tensors)
		require.NoError(t, err)
		p, err := n.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		var params []*torch.Tensor
		for _, name := range n.Trained() {
			params = append(params, n.Tensor(name))
		}
		o := s.NewOptimizer(torch.Group{Params: params, OptimizerOptions: torch.OptimizerOptions{Rule: torch.AdamW,
			LR: 1e-3, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.01}})
		for step := range steps {
			err := torch.With(func(inner *torch.Scope) error {
				in, labels := x.batch(inner, step)
				f, err := torch.Train(p, o, torch.Batches{Inputs: in, Labels: labels, Size: gptBatch})
				losses = append(losses, f.Losses...)
				return err
			})
			require.NoError(t, err)
		}
		return nil
	}))
	return losses
}

// The tolerances are twice the differences that rounding makes between two runs of PyTorch itself.
func TestLossesOfAGPTAreThoseOfPyTorch(t *testing.T) {
	x := readExperiment(t)
	steps, exact := 10, 5 // a step takes an eighth of a second
	if os.Getenv("GRAFT_LONG") != "" {
		steps, exact = 50, 50
	}
	got := x.train(t, weights.Float32, steps)
	for k, bar := range map[int]float64{10: 2e-6, 20: 5e-5, 50: 1e-3} {
		if k > steps {
			continue
		}
		worst := 0.0
		for step := range k {
			worst = max(worst, math.Abs(got[step]-x.float32s[step]))
		}
		assert.Less(t, worst, bar, "the first %d steps", k)
	}
	for step, loss := range x.train(t, weights.Float64, exact) {
		assert.InDelta(t, x.float64s[step], loss, 1e-9, "step %d in float64", step)
	}
}
