package model_test

import (
	stdbytes "bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/torch"
	"graft/torch/weights"
)

// reference is the folder of published files, outside of the repository.
const reference = "../../shared/reference/adaptation"

func published(t *testing.T, path string, into any) {
	text, err := os.ReadFile(filepath.Join(reference, path))
	if err != nil {
		t.Skip("left out: the published networks are not beside the repository")
	}
	require.NoError(t, json.Unmarshal(text, into))
}

// shapes is a JSON object that keeps the order of its keys.
type shapes []struct {
	Name  string
	Shape []int
}

func (s *shapes) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(stdbytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var shape []int
		if err := dec.Decode(&shape); err != nil {
			return err
		}
		*s = append(*s, struct {
			Name  string
			Shape []int
		}{name.(string), shape})
	}
	return nil
}

func TestOriginalNetworksAreThePublishedOnes(t *testing.T) {
	var all map[string]struct {
		Blocks, Params int
		Layers         []string
		StateDict      shapes `json:"state_dict"`
		Repr           string
	}
	published(t, "golden/models.json", &all)
	require.Len(t, all, 7)
	for name, want := range all {
		n := fromZoo(t, name)
		assert.Equal(t, want.Repr, n.String())
		assert.Equal(t, want.Params, n.Parameters(), name)
		assert.Equal(t, want.Blocks, originalBlocks(n), name)
		var layers []string
		for _, l := range n.Leaves() {
			layers = append(layers, l.Layer.String())
		}
		assert.Equal(t, want.Layers, layers, name)
		var state shapes
		for _, e := range n.State() {
			state = append(state, shapes{{e.Name, append([]int{}, e.Slot.Shape...)}}...)
		}
		assert.Equal(t, want.StateDict, state, name)
	}
}

// originalBlocks counts blocks without nested blocks.
func originalBlocks(n *model.Network) int {
	count := 0
	n.Walk(func(_ string, m model.Module) bool {
		c, ok := m.(*model.Container)
		if ok && c.Mark == model.Original {
			count++
			return false
		}
		return true
	})
	return count
}

func readWeights(t *testing.T, path string) *weights.Set {
	set, err := weights.Read(files.OS{}, filepath.Join(reference, path), weights.Options{})
	require.NoError(t, err)
	return set
}

// logitTolerance is relative to the largest logit. The order of PyTorch's sums depends on the processor.
const logitTolerance = 1e-5

func TestPublishedWeightsGiveThePublishedLogits(t *testing.T) {
	var all map[string]struct {
		Weights string
		Eval    [][]float64 `json:"eval_logits"`
		Train   [][]float64 `json:"train_logits"`
	}
	published(t, "golden/cnn.json", &all)
	require.Len(t, all, 2)
	batch, ok := readWeights(t, "golden/cnn_batch.safetensors").Find("x")
	require.True(t, ok)
	for name, want := range all {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n := fromZoo(t, name)
			require.NoError(t, n.Materialize(s, model.Placement{}))
			require.NoError(t, n.Load(readWeights(t, filepath.Join("starting_weights", want.Weights, "weights.pth"))))
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			x := torch.FromWeights(s, torch.CPU, batch)
			assertLogits(t, want.Eval, p.Forward(s, x, false, nil))
			assertLogits(t, want.Train, p.Forward(s, x, true, nil))
			return s.Err()
		}))
	}
}

func assertLogits(t *testing.T, want [][]float64, logits *torch.Tensor) {
	var flat []float64
	for _, row := range want {
		flat = append(flat, row...)
	}
	got, err := torch.Values[float32](logits)
	require.NoError(t, err)
	require.Len(t, got, len(flat))
	assert.Less(t, difference(got, flat), logitTolerance)
}
