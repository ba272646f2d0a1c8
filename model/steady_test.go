package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/modeltest"
	"graft/torch"
)

// steadyLayers has at least one layer of each kind with a notation. Each gets 24 channels of 13 x 11, a size that no
// number of threads or lanes divides.
var steadyLayers = []string{
	"Conv2d(24, 40, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1))",
	"Conv2d(24, 24, kernel_size=(3, 3), groups=24, bias=False)",
	"Conv2d(24, 36, kernel_size=(5, 5), dilation=(2, 2), groups=4)",
	"Conv2d(24, 40, kernel_size=(1, 1))", "Conv2d(24, 48, kernel_size=(1, 1), groups=4)",
	"Conv2d(24, 40, kernel_size=(1, 1), stride=(2, 2))", "Conv2d(24, 5, kernel_size=(3, 3), dilation=(2, 2))",
	"BatchNorm2d(24)", "BatchNorm2d(24, track_running_stats=False)", "BatchNorm2d(24, affine=False)",
	"LayerNorm((24, 13, 11))", "LayerNorm((24, 13, 11), elementwise_affine=False)",
	"GroupNorm(4, 24)", "GroupNorm(24, 24, affine=False)", "GroupNorm(1, 24)",
	"ReLU()", "ReLU6()", "LeakyReLU(negative_slope=0.1)", "Sigmoid()", "Tanh()", "GELU()", "SiLU()", "Hardswish()",
	"ELU(alpha=1.5)", "AvgPool2d(kernel_size=2, stride=2, padding=0)", "AvgPool2d(kernel_size=3, stride=2, padding=1)",
	"MaxPool2d(kernel_size=3, stride=2, padding=1)", "AdaptiveAvgPool2d((3, 2))", "AdaptiveAvgPool2d((1, 1))",
	"Flatten()", "Dropout(p=0.3)", "Identity()",
}

// around returns a network with a layer between a stem and a head.
func around(t *testing.T, l model.Layer) *model.Network {
	head := []string{"stem", "layer", "flatten", "hidden", "norm", "fc"}
	n := &model.Network{Input: model.Shape{3, 13, 11},
		Root: &model.Container{Class: "Net", Flow: model.Flow{Body: head}, Children: []model.Child{
			child("stem", leaf(conv(3, 24))), child("layer", leaf(l)), child("flatten", leaf(model.Flatten{}))}}}
	shape, err := l.Infer(model.Shape{24, 13, 11})
	require.NoError(t, err)
	n.Root.Children = append(n.Root.Children, child("hidden", leaf(model.NewLinear(shape.Count(), 31))),
		child("norm", leaf(modeltest.BatchNorm1d(31))), child("fc", leaf(model.NewLinear(31, 5))))
	require.NoError(t, n.Check())
	return n
}

// bitsOf trains a fresh network for three steps, the last with a smaller batch. It returns the bits of losses, an
// evaluation and the state.
func bitsOf(t *testing.T, n *model.Network, o torch.ProgramOptions, rule torch.OptimizerOptions,
	batch int) (bits []string) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		random := s.NewGenerator(torch.CPU, 7)
		require.NoError(t, n.Materialize(s, model.Placement{Random: random}))
		p, err := n.Program(s, o)
		require.NoError(t, err)
		rows := 3*batch - batch/2
		x := s.Zeros(torch.Float32, torch.CPU, append([]int{rows}, n.Input...)...)
		s.Normal(x, 0, 1, random)
		labels := make([]int64, rows)
		for k := range labels {
			labels[k] = int64(k * k % 2)
		}
		b := torch.Batches{Inputs: x, Labels: torch.From(s, labels, rows), Size: batch, Random: random}
		f, err := torch.Train(p, s.NewOptimizer(torch.Group{Params: n.Params(), OptimizerOptions: rule}), b)
		require.NoError(t, err)
		bits = append(bits, fmt.Sprint("losses ", f.Losses))
		f, err = torch.Evaluate(p, b)
		require.NoError(t, err)
		bits = append(bits, fmt.Sprint("evaluation ", f.Losses, f.Correct))
		for _, e := range n.State() {
			info, err := e.Tensor.Info()
			require.NoError(t, err)
			if info.DType == torch.Float32 {
				values, err := torch.Values[float32](e.Tensor)
				require.NoError(t, err)
				bits = append(bits, fmt.Sprintf("%s %x", e.Name, values))
			}
		}
		return s.Err()
	}))
	return bits
}

var steadyRules = []torch.OptimizerOptions{
	{Rule: torch.SGD, LR: 0.05, Momentum: 0.9, Nesterov: true, WeightDecay: 1e-3},
	{Rule: torch.Adam, LR: 0.01},
	{Rule: torch.AdamW, LR: 0.01, WeightDecay: 0.01, Fused: true},
}

// On the steady path, the number of threads changes no bit of any layer: forward, backward and in the optimizer.
func TestThreadsChangeNoBitOfAnyLayer(t *testing.T) {
	defer func() { require.NoError(t, torch.SetThreads(1)) }()
	tried := map[string]bool{"Linear": true, "BatchNorm1d": true} // in every network
	for k, text := range steadyLayers {
		tried[text[:strings.Index(text, "(")]] = true
		l, err := model.ParseLayer(text)
		require.NoError(t, err)
		sameBits(t, text, steadyRules[k%len(steadyRules)], func() *model.Network { return around(t, l) })
	}
	sameBits(t, "a residual sum", steadyRules[0], residual)
	sameBits(t, "a concatenation", steadyRules[1], concatenated)
	for _, kind := range model.Kinds() {
		require.Contains(t, tried, kind, "a layer that is not tried")
	}
}

// concatenated returns a network that joins two branches by their channels.
func concatenated() *model.Network {
	return &model.Network{Input: model.Shape{3, 13, 11}, Root: &model.Container{
		Class: "Net",
		Flow:  model.Flow{Body: []string{"join", model.PoolStep, model.FlattenStep, "fc"}},
		Children: []model.Child{child("join", &model.Container{Flow: model.Flow{Join: model.Cat, Body: []string{"a",
			"b"}}, Children: []model.Child{child("a", leaf(conv(3, 20))), child("b", leaf(conv(3, 7)))}}),
			child("fc", leaf(model.NewLinear(27, 5)))},
	}}
}

func sameBits(t *testing.T, name string, rule torch.OptimizerOptions, build func() *model.Network) {
	for _, fast := range []bool{false, true} {
		var want []string
		for _, threads := range []int{1, 3} {
			require.NoError(t, torch.SetThreads(threads))
			got := bitsOf(t, build(), torch.ProgramOptions{Fast: fast, Steady: true}, rule, 23)
			if want == nil {
				want = got
			}
			for k := range want {
				require.Equal(t, want[k], got[k], "%s, fast %v, %d threads", name, fast, threads)
			}
		}
	}
}
