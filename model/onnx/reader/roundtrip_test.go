package reader

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/graph"
	"graft/model/onnx"
	"graft/torch"
	"graft/torch/weights"
)

func TestModelsOfGraftAreRead(t *testing.T) {
	for _, name := range []string{"ConvNet2", "ResNet18", "MobileNetV2"} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := model.Zoo(name, model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10})
			require.NoError(t, err)
			require.NoError(t, n.Materialize(s,
				model.Placement{Device: torch.CPU, Random: s.NewGenerator(torch.CPU, 1)}))
			set, err := n.Save()
			require.NoError(t, err)
			data, err := onnx.Encode(n, set, onnx.Options{})
			require.NoError(t, err)
			net, err := readModel(data)
			require.NoError(t, err, name)
			bound, err := net.Graph.Bind(s, torch.CPU, net.Weights)
			require.NoError(t, err)
			p, err := bound.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			own, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			s.NoGrad(func() {
				x := s.Zeros(torch.Float32, torch.CPU, 2, 3, 32, 32)
				s.Normal(x, 0, 1, s.NewGenerator(torch.CPU, 2))
				got, err := torch.Values[float32](p.Forward(s, x, false, nil))
				require.NoError(t, err)
				want, err := torch.Values[float32](own.Forward(s, x, false, nil))
				require.NoError(t, err)
				assert.InDeltaSlice(t, want, got, 1e-5, name)
			})
			return nil
		}))
	}
}

// A network that runs as a graph computes the same after export and import.
func TestGraphsOfGraftAreRead(t *testing.T) {
	for _, e := range model.ZooEntries() {
		// too large for a test
		if !e.IsGraph() || slices.Contains([]string{"GPT2", "BERTBase", "ViTSmall", "ViTSmall32", "MixerSmall",
			"ConvNeXtTiny"}, e.Name) {
			continue
		}
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := model.Zoo(e.Name, model.ZooOptions{})
			require.NoError(t, err)
			set, err := n.Graph.Draw(1)
			require.NoError(t, err)
			data, err := onnx.Encode(n, set, onnx.Options{})
			require.NoError(t, err)
			net, err := readModel(data)
			require.NoError(t, err, e.Name)
			var logits [2][]float32
			in := n.Graph.Input
			dtype, _ := torch.TypeOf(in.DType)
			dims := in.Dims()
			dims[0] = 3
			x := s.Zeros(torch.Float32, torch.CPU, dims...)
			s.Uniform(x, 0, 2, s.NewGenerator(torch.CPU, 2))
			x = s.To(x, dtype, torch.CPU)
			for k, g := range []*graph.Graph{n.Graph, net.Graph} {
				if k == 1 {
					set = net.Weights
				}
				bound, err := g.Bind(s, torch.CPU, set)
				require.NoError(t, err)
				p, err := bound.Program(s, torch.ProgramOptions{})
				require.NoError(t, err)
				s.NoGrad(func() { logits[k], err = torch.Values[float32](p.Forward(s, x, false, nil)) })
				require.NoError(t, err, e.Name)
			}
			assert.InDeltaSlice(t, logits[0], logits[1], 2e-5, e.Name)
			return nil
		}))
	}
}

// Arguments that change the result reach the model, and reading it returns the same logits.
func TestArgumentsAreExported(t *testing.T) {
	for name, lines := range map[string][]string{
		"a softplus with beta":        {"y = softplus.default(self=%x, beta=3.0, threshold=1.0)"},
		"limits that are tensors":     {"l = mul.Tensor(self=%x, other=0.5)", "y = clamp.Tensor(self=%x, min=%l)"},
		"one limit":                   {"y = clamp.default(self=%x, max=0.5)"},
		"an upscale by a factor":      {nearest + "output_size=none, scale_factors=[1.7, 0.6])"},
		"an upscale to a size":        {nearest + "output_size=[15, 7], scale_factors=none)"},
		"linear pixels by a factor":   {linear + "output_size=none, align_corners=false, scale_factors=[1.7, 1.3])"},
		"linear pixels with corners":  {linear + "output_size=[15, 7], align_corners=true, scale_factors=none)"},
		"a result from an activation": {"y = leaky_relu.default(self=%x, negative_slope=-0.2)"},
		"queries without keys": {"m = gt.Scalar(self=%x, other=9.0)",
			"y = scaled_dot_product_attention.default(query=%x, key=%x, value=%x, attn_mask=%m)"},
		"grouped queries, and values of another size": {"k = slice.Tensor(self=%x, dim=1, start=1, end=2)",
			"v = slice.Tensor(self=%k, dim=3, start=2, end=6)",
			"y = scaled_dot_product_attention.default(query=%x, key=%k, value=%v, enable_gqa=true)"},
		"counts of truths": {"m = gt.Scalar(self=%x, other=0.1)", "y = sum.dim_IntList(self=%m, dim=[-1])"},
		"integers times a real number": {"m = gt.Scalar(self=%x, other=0.1)", "s = sum.dim_IntList(self=%m, dim=[-1])",
			"r = mul.Tensor(self=%s, other=1.0)", "y = mean.dim(self=%r, dim=[-1])"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &graph.Graph{Name: "Net", Output: "y", Modules: []graph.Module{{Class: "Net"}},
				Input: graph.Input{Value: "x", DType: weights.Float32,
					Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}, {N: 9}, {N: 9}}}}
			for _, line := range lines {
				n, err := graph.ParseNode(line)
				require.NoError(t, err)
				g.Nodes = append(g.Nodes, n)
			}
			n, err := model.FromGraph(g)
			require.NoError(t, err)
			data, err := onnx.Encode(n, &weights.Set{}, onnx.Options{})
			require.NoError(t, err)
			net, err := readModel(data)
			require.NoError(t, err)
			assert.InDeltaSlice(t, logitsOf(t, g, &weights.Set{}), logitsOf(t, net.Graph, net.Weights), 1e-5)
		})
	}
}

const (
	linear  = "y = upsample_bilinear2d.vec(input=%x, "
	nearest = "y = upsample_nearest2d.vec(input=%x, "
)

// logitsOf returns the logits for three random images.
func logitsOf(t *testing.T, g *graph.Graph, set *weights.Set) (logits []float32) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		bound, err := g.Bind(s, torch.CPU, set)
		require.NoError(t, err)
		p, err := bound.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		x := s.Zeros(torch.Float32, torch.CPU, 3, 3, 9, 9)
		s.Normal(x, 0, 1, s.NewGenerator(torch.CPU, 2))
		s.NoGrad(func() {
			logits, err = torch.Values[float32](s.To(p.Forward(s, x, false, nil), torch.Float32, torch.CPU))
		})
		return err
	}))
	return logits
}

// An export error lists the operators without a form in ONNX and says what to do.
func TestGraphsWithoutAFormAreRefused(t *testing.T) {
	b := graph.NewBuilder("Net", graph.Input{Value: "x", DType: weights.Float32,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: 4}}}, weights.Float32)
	smooth := b.Call("celu.default", "self", b.Call("cdist.default", "x1", graph.Value("x"), "x2", graph.Value("x")))
	b.Graph.Output = b.Call("nan_to_num.default", "self", smooth)
	b.Graph.Recover(nil)
	n, err := model.FromGraph(b.Graph)
	require.NoError(t, err)
	_, err = onnx.Encode(n, &weights.Set{}, onnx.Options{})
	assert.ErrorContains(t, err, "cdist.default")
	assert.ErrorContains(t, err, "nan_to_num.default")
	assert.NotContains(t, err.Error(), "celu.default")
	assert.ErrorContains(t, err, "export the network to .py")
}

func TestMutatedModelsNeverCrash(t *testing.T) {
	data := sampleModel(t)
	for k := range data {
		for _, bit := range []byte{1, 0x10, 0x80} {
			other := append([]byte{}, data...)
			other[k] ^= bit
			if net, err := readModel(other); err == nil {
				require.NoError(t, net.Graph.Check())
			}
		}
	}
}

// sampleModel returns a small network as graft writes it.
func sampleModel(t testing.TB) []byte {
	var data []byte
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := model.FromForm(map[string]any{"name": "Net", "input": []any{1, 4, 4},
			"layers": []any{"Conv2d(1, 2, 3)", "ReLU()", "flatten()", "Linear(8, 3)"}})
		require.NoError(t, err)
		require.NoError(t, n.Materialize(s, model.Placement{Device: torch.CPU, Random: s.NewGenerator(torch.CPU, 1)}))
		set, err := n.Save()
		require.NoError(t, err)
		data, err = onnx.Encode(n, set, onnx.Options{})
		return err
	}))
	return data
}

func TestModelsThatAreNoneAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":     {nil, "no graph"},
		"text":        {[]byte("garbage, not a model"), "read ONNX model"},
		"a cut model": {sampleModel(t)[:100], "truncated"},
	} {
		_, err := readModel(c.data)
		assert.ErrorContains(t, err, c.want, name)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sampleModel(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if net, err := readModel(data); err == nil {
			require.NoError(t, net.Graph.Check())
		}
	})
}
