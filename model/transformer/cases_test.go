package transformer

import (
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

const reference = "../../../shared/reference/transformers"

// choices is a configuration of the reference.
type choices struct {
	Vocab, Context, Width, Heads, Groups, Size, Hidden, Depth int
	Norm, Place, Position, MLP                                string
	Tied, Bias, Causal                                        bool
	Base, Scale                                               *float64
	Eps                                                       map[string]float64
	Dropout                                                   float64
}

func (c choices) config(dtype weights.DType) Config {
	out := Config{Vocabulary: c.Vocab, Context: c.Context, Width: c.Width,
		Heads: c.Heads, Groups: c.Groups, Size: c.Size, Hidden: c.Hidden, Depth: c.Depth,
		Norm: map[string]Norm{"layer": LayerNorm, "rms": RMSNorm}[c.Norm], Post: c.Place == "post", DType: dtype,
		Positions: map[string]Positions{"learned": Learned, "rotary_half": RotaryHalves, "rotary_pairs": RotaryPairs,
			"none": None}[c.Position], MLP: map[string]MLP{"gelu": GELU, "relu": ReLU, "swiglu": SwiGLU}[c.MLP],
		Untied: !c.Tied, NoBias: !c.Bias, Full: !c.Causal, Eps: c.Eps["default"], EpsOf: map[string]float64{},
		Dropout: c.Dropout}
	if c.Base != nil {
		out.Base = *c.Base
	}
	if c.Scale != nil {
		out.Scale = *c.Scale
	}
	for name, eps := range c.Eps {
		if name != "norm" {
			name = "blocks." + name
		}
		out.EpsOf[name] = eps
	}
	return out
}

type growth struct {
	Name, DType   string
	Before, After choices
	IDs           [][]int64
	LogitsBefore  []float64 `json:"logits_before"`
	LogitsAfter   []float64 `json:"logits_after"`
}

// growths returns the cases of the reference. It skips the test if the reference is missing.
func growths(t *testing.T) map[string]growth {
	paths, _ := filepath.Glob(filepath.Join(reference, "cases", "*.json"))
	if len(paths) == 0 {
		t.Skip("left out: transformers that grew; " + reference + " is not here")
	}
	all := map[string]growth{}
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "adam_") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var g growth
		require.NoError(t, json.Unmarshal(text, &g))
		all[strings.TrimSuffix(path, ".json")] = g
	}
	return all
}

func readState(t testing.TB, path string) *weights.Set {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(t, err)
	set, err := weights.ReadPTH(file, info.Size(), weights.Options{})
	require.NoError(t, err)
	return set
}

// complete adds the constants, which no state dict holds, to weights.
func complete(t testing.TB, g *graph.Graph, set *weights.Set) *weights.Set {
	drawn, err := g.Draw(1)
	require.NoError(t, err)
	out := &weights.Set{Tensors: set.Tensors}
	for k, tensor := range g.Tensors {
		if tensor.Role == graph.Constant {
			out.Tensors = append(out.Tensors, drawn.Tensors[k])
		}
	}
	return out
}

func logits(t testing.TB, g *graph.Graph, set *weights.Set, ids [][]int64) (values []float64) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := g.Bind(s, torch.CPU, set)
		require.NoError(t, err)
		p, err := n.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		var flat []int64
		for _, row := range ids {
			flat = append(flat, row...)
		}
		out := p.Forward(s, torch.From(s, flat, len(ids), len(ids[0])), false, nil)
		require.NoError(t, s.Err())
		values, err = torch.Values[float64](s.To(s.Detach(out), torch.Float64, torch.CPU))
		return err
	}))
	return values
}

// distance returns the largest difference divided by the largest value.
func distance(want, got []float64) float64 {
	worst, largest := 0.0, 0.0
	for k := range want {
		worst, largest = max(worst, math.Abs(want[k]-got[k])), max(largest, math.Abs(want[k]))
	}
	return worst / largest
}

func TestNetworksComputeAsTheReference(t *testing.T) {
	for path, g := range growths(t) {
		dtype, within := weights.Float64, 1e-12
		if g.DType == "float32" {
			dtype, within = weights.Float32, 2e-6
		}
		for _, side := range []struct {
			name   string
			of     choices
			logits []float64
		}{{"before", g.Before, g.LogitsBefore}, {"after", g.After, g.LogitsAfter}} {
			net, err := New(side.of.config(dtype))
			require.NoError(t, err, g.Name)
			got := logits(t, net, complete(t, net, readState(t, path+"."+side.name+".pt")), g.IDs)
			require.Len(t, got, len(side.logits))
			assert.Less(t, distance(side.logits, got), within, "%s %s", g.Name, side.name)
		}
	}
}
