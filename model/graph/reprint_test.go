package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// paddedNet has a convolution that pads by itself, and a normalisation.
func paddedNet(channels int, norm string) *Graph {
	b := NewBuilder("Net", Input{Value: "x", DType: weights.Float32,
		Shape: []Size{{Name: "batch", N: 2}, {N: 6}, {N: 8}, {N: 8}}}, weights.Float32)
	conv, bn := b.Tensor(Tensor{Name: "conv.weight", Role: Parameter, DType: weights.Float32,
		Shape: []int{channels, 3, 5, 3}}), b.Tensor(Tensor{Name: "bn.weight", Role: Parameter,
		DType: weights.Float32, Shape: []int{channels}})
	x := b.Call("pad.default", "self", Value("x"), "pad", []any{int64(1), int64(1), int64(4), int64(4)}, "mode",
		"reflect")
	x = b.Call("conv2d.default", "input", x, "weight", conv, "dilation", []any{int64(2), int64(1)}, "groups", 2)
	x = b.Call("batch_norm.default", "input", x, "weight", bn, "eps", 1e-3)
	b.Graph.Output = b.Call("mul.Tensor", "self", x, "other", b.Tensor(Tensor{Name: "scale", Role: Parameter,
		DType: weights.Float32, Shape: []int{channels, 1, 1}}))
	g := b.Graph
	g.Modules = []Module{{Path: "", Class: "Net"}, {Path: "conv", Class: "Conv2d"},
		{Path: "bn", Class: "BatchNorm2d", Extra: norm}}
	g.Nodes[0].Module, g.Nodes[1].Module, g.Nodes[2].Module = "conv", "conv", "bn"
	return g
}

const paddedConv = "6, 4, kernel_size=(5, 3), stride=(1, 1), padding=(4, 1), dilation=(2, 1), groups=2, bias=False, " +
	"padding_mode=reflect"

// The printed text follows the sizes, also for convolutions with other padding than zeros, and for texts of other
// versions of PyTorch.
func TestPrintedSizesFollow(t *testing.T) {
	const earlier = "4, eps=0.001, momentum=0.1, affine=True, track_running_stats=False"
	before := paddedNet(4, "")
	before.Recover(nil)
	require.Equal(t, paddedConv, before.Modules[1].Extra)
	after := paddedNet(8, earlier)
	after.Modules[1].Extra = paddedConv
	after.Reprint(before, func(path string) string { return path })
	require.Equal(t, "6, 8"+paddedConv[len("6, 4"):], after.Modules[1].Extra)
	require.Equal(t, "8"+earlier[1:], after.Modules[2].Extra)
	require.Equal(t, []string{"scale [8 1 1]"}, after.Unprinted())
	after.Modules[1].Class = "MyConv"
	require.Equal(t, []string{"conv.weight [8 3 5 3]", "scale [8 1 1]"}, after.Unprinted())
}
