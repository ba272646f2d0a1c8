package rewrite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/model/vision"
	"graft/torch"
	"graft/torch/weights"
)

// networksForImages are small networks with convolutions, attention, and groups of channels.
var networksForImages = map[string]interface {
	Graph(input []int, classes int) (*graph.Graph, error)
}{
	"vit":      vision.ViT{Patch: 4, Width: 12, Heads: 3, Depth: 2},
	"mixer":    vision.Mixer{Patch: 4, Width: 10, Tokens: 6, Hidden: 14, Depth: 2},
	"convnext": vision.ConvNeXt{Patch: 2, Widths: []int{6, 8}, Depths: []int{1, 2}},
	"efficientnet": vision.EfficientNet{Stride: 1, Stem: 6, Stages: []vision.Stage{{Expand: 1, Kernel: 3, Stride: 1,
		Channels: 4, Blocks: 2}, {Expand: 3, Kernel: 5, Stride: 2, Channels: 8, Blocks: 2}}, Last: 12},
	"grouped": grouped{},
}

// Widening any axis and repeating any block keeps the function of an image network.
func TestNetworksForImagesGrow(t *testing.T) {
	var report []string
	for name, network := range networksForImages {
		g, err := network.Graph([]int{3, 8, 8}, 5)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(5, 5))
		net := &graph.Imported{Graph: g, Weights: drawWeights(g, r)}
		fresh, err := g.Draw(1)
		require.NoError(t, err)
		for k, w := range fresh.Tensors {
			// variances are positive, and the count is an integer
			if strings.HasSuffix(w.Name, "running_var") || strings.HasSuffix(w.Name, "num_batches_tracked") {
				net.Weights.Tensors[k] = w
			}
		}
		images := make([]float32, 2*3*8*8)
		for k := range images {
			images[k] = float32(r.NormFloat64())
		}
		report = append(report, growAll(t, name, net, func(s *torch.Scope, n *graph.Network) []float64 {
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			out := p.Forward(s, torch.From(s, images, 2, 3, 8, 8), false, nil)
			require.NoError(t, s.Err())
			values, err := torch.Values[float64](s.To(s.Detach(out), torch.Float64, torch.CPU))
			require.NoError(t, err)
			return values
		})...)
	}
	slices.Sort(report)
	golden(t, "testdata/images.golden", strings.Join(report, "\n")+"\n")
}

// grouped is a network of two grouped convolutions: the second reads the groups of the first.
type grouped struct{}

func (grouped) Graph(input []int, classes int) (*graph.Graph, error) {
	in := graph.Input{Value: "images", DType: weights.Float32,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: input[0]}, {N: input[1]}, {N: input[2]}}}
	b := graph.NewBuilder("Grouped", in, weights.Float32)
	x := in.Value
	for k, c := range []struct{ out, in, groups int }{{6, input[0], 1}, {4, 6, 2}, {8, 4, 2}} {
		b.Module(fmt.Sprint("conv", k), "Conv2d", func() {
			x = b.Call("conv2d.default", "input", x, "weight", b.Parameter("weight", "", c.out, c.in/c.groups, 3, 3),
				"bias", b.Parameter("bias", "", c.out), "stride", []int{1, 1}, "padding", []int{1, 1}, "dilation",
				[]int{1, 1}, "groups", c.groups)
		})
		x = b.Call("relu.default", "self", x)
	}
	x = b.Call("mean.dim", "self", x, "dim", []int{2, 3})
	b.Module("fc", "Linear", func() {
		x = b.Call("linear.default", "input", x, "weight", b.Parameter("weight", "", classes, 8), "bias",
			b.Parameter("bias", "", classes))
	})
	b.Graph.Output = x
	b.Graph.Recover(nil)
	if err := b.Graph.Check(); err != nil {
		return nil, err
	}
	_, err := b.Graph.Shapes()
	return b.Graph, err
}
