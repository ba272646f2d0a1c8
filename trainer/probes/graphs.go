package probes

import (
	"fmt"
	"strings"

	"graft/model"
	"graft/model/graph"
	"graft/model/transformer"
	"graft/model/vision"
	"graft/net2net"
	"graft/torch"
	"graft/torch/weights"
)

// graphOf draws a probe of a family as a graph of operators.
func graphOf(family func(*sketch)) func(*drawer) (Probe, error) {
	return func(d *drawer) (Probe, error) {
		p := drawTree(d, family)
		g, err := asGraph(p.Network)
		if err != nil {
			return p, err
		}
		p.Network, err = model.FromGraph(g)
		return p, err
	}
}

// asGraph writes a tree as the graph that torch.export makes of it.
func asGraph(n *model.Network) (*graph.Graph, error) {
	in := graph.Input{Value: "x", DType: weights.Float32, Shape: []graph.Size{{Name: "batch", N: 2}}}
	for _, size := range n.Input {
		in.Shape = append(in.Shape, graph.Size{N: size})
	}
	w := &writer{Builder: graph.NewBuilder("Probe", in, weights.Float32)}
	out, err := model.Run[graph.Value](n, in.Value, w)
	if err != nil {
		return nil, err
	}
	w.Graph.Output = out
	w.Graph.Recover(nil)
	return w.Graph, w.Graph.Check()
}

// writer writes layers as operators.
type writer struct {
	*graph.Builder
	runs int // number of layers so far; a layer that runs twice gets weights of its own each time
}

// operatorsOf are the operators of layers without weights.
var operatorsOf = map[torch.Activation]string{torch.ReLU: "relu.default", torch.GELU: "gelu.default",
	torch.SiLU: "silu.default", torch.Tanh: "tanh.default"}

// Layer writes a layer.
func (w *writer) Layer(_ model.Place, leaf *model.Leaf, x graph.Value) (y graph.Value, err error) {
	w.runs++
	w.Module(fmt.Sprint("layer", w.runs), "Layer", func() { y, err = w.layer(leaf.Layer, x) })
	return y, err
}

func (w *writer) layer(layer model.Layer, x graph.Value) (graph.Value, error) {
	ints := func(p model.Pair) []int { return []int{p.H, p.W} }
	switch l := layer.(type) {
	case model.Conv2d:
		weight := w.Parameter("weight", "", l.Out, l.In/l.Groups, l.Kernel.H, l.Kernel.W)
		return w.Call("conv2d.default", "input", x, "weight", weight, "bias", w.bias(l.Bias, l.Out), "stride",
			ints(l.Stride), "padding", ints(l.Padding), "dilation", []int{1, 1}, "groups", l.Groups), nil
	case model.Linear:
		return w.Call("linear.default", "input", x, "weight", w.Parameter("weight", "", l.Out, l.In), "bias",
			w.bias(l.Bias, l.Out)), nil
	case model.BatchNorm:
		return w.batchNorm(x, l.Features), nil
	case model.LayerNorm:
		return w.Call("layer_norm.default", "input", x, "normalized_shape", l.Sizes, "weight",
			w.Parameter("weight", "ones", l.Sizes...), "bias", w.Parameter("bias", "zeros", l.Sizes...), "eps",
			l.Eps), nil
	case model.GroupNorm:
		return w.Call("group_norm.default", "input", x, "num_groups", l.Groups, "weight",
			w.Parameter("weight", "ones", l.Features), "bias", w.Parameter("bias", "zeros", l.Features), "eps",
			l.Eps), nil
	case model.Activation:
		if l.Kind == torch.ReLU6 {
			return w.Call("hardtanh.default", "self", x, "min_val", 0., "max_val", 6.), nil
		}
		return w.Call(operatorsOf[l.Kind], "self", x), nil
	case model.AvgPool2d:
		return w.Call("avg_pool2d.default", "self", x, "kernel_size", ints(l.Kernel), "stride", ints(l.Stride)), nil
	case model.MaxPool2d:
		return w.Call("max_pool2d.default", "self", x, "kernel_size", ints(l.Kernel), "stride", ints(l.Stride),
			"padding", ints(l.Padding)), nil
	case model.AdaptiveAvgPool2d:
		return w.Call("adaptive_avg_pool2d.default", "self", x, "output_size", ints(l.Size)), nil
	case model.Flatten:
		return w.Call("flatten.using_ints", "self", x, "start_dim", 1), nil
	case model.Dropout:
		return w.Call("dropout.default", "input", x, "p", l.P, "train", true), nil
	}
	return x, fmt.Errorf("unsupported layer %s", layer)
}

func (w *writer) bias(has bool, size int) graph.Weight {
	if !has {
		return ""
	}
	return w.Parameter("bias", "", size)
}

func (w *writer) batchNorm(x graph.Value, channels int) graph.Value {
	running := func(name, init string) graph.Weight {
		return w.Tensor(graph.Tensor{Name: name, Role: graph.Buffer, DType: w.DType, Shape: []int{channels},
			Init: init})
	}
	weight, bias := w.Parameter("weight", "ones", channels), w.Parameter("bias", "zeros", channels)
	y := w.Call("batch_norm.default", "input", x, "weight", weight, "bias", bias, "running_mean",
		running("running_mean", "zeros"), "running_var", running("running_var", "ones"), "training", true, "momentum",
		0.1, "eps", 1e-5, "cudnn_enabled", true)
	w.Tensor(graph.Tensor{Name: "num_batches_tracked", Role: graph.Buffer, DType: weights.Int64})
	return y
}

// Sum writes a residual connection.
func (w *writer) Sum(_ string, body, shortcut graph.Value) (graph.Value, error) {
	return w.Call("add.Tensor", "self", body, "other", shortcut), nil
}

// Cat writes a concatenation of channels.
func (w *writer) Cat(_ string, parts []graph.Value) (graph.Value, error) {
	return w.Call("cat.default", "tensors", parts, "dim", 1), nil
}

// languageModel draws a transformer on tokens.
func languageModel(d *drawer) (Probe, error) {
	heads := pick(d, 1, 2, 4, 8)
	width := heads * pick(d, 8, 16, 16, 32, 32, 64)
	c := transformer.Config{Vocabulary: d.size(32, 2048), Context: d.size(16, 160), Width: width, Heads: heads,
		Depth: 1 + d.IntN(3), Hidden: d.channels(width, 5*width), Stacked: d.chance(0.5), NoBias: d.chance(0.3),
		Untied: d.chance(0.5)}
	if heads > 1 && d.chance(0.3) {
		c.Groups = heads / 2
	}
	switch d.IntN(3) {
	case 0:
		c.Norm, c.Positions, c.MLP, c.NoBias = transformer.RMSNorm, transformer.RotaryHalves, transformer.SwiGLU, true
	case 1:
		c.MLP = transformer.ReLU
	}
	g, err := transformer.New(c)
	if err != nil {
		return Probe{}, err
	}
	n, err := model.FromGraph(g)
	if err == nil && c.Vocabulary%widenedEvery == 0 {
		err = widenQueries(n)
	}
	if err == nil && d.chance(0.5) {
		err = rewrite(n.Graph)
	}
	return Probe{n, d.size(1, 48)}, err
}

// widenedEvery decides by the size of the vocabulary, which is random, which language models have wider queries.
const widenedEvery = 3

// widenQueries makes the queries and the keys of a network wider than its values, as surgery does. LibTorch has no
// fused kernel for such attention.
func widenQueries(n *model.Network) error {
	all, err := net2net.Proposals(n)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Kind == "widen" && strings.HasSuffix(a.Target, "/1") {
			_, err := net2net.Apply(n, a, net2net.Options{})
			return err
		}
	}
	return nil
}

// rewrite replaces operators that move values by the ones that other programs use: view, reshape and split.
func rewrite(g *graph.Graph) error {
	sizes, err := g.Sizes()
	if err != nil {
		return err
	}
	for k := range g.Nodes {
		n := &g.Nodes[k]
		out, of := sizes.Of(n.Results[0]), graph.Arg{Name: "self", Value: n.Arg("self")}
		switch n.Operator {
		case "unflatten.int":
			n.Operator, n.Args = "view.default", []graph.Arg{of, {Name: "size", Value: ofAnyBatch(out)}}
		case "flatten.using_ints":
			n.Operator, n.Args = "reshape.default", []graph.Arg{of, {Name: "shape", Value: ofAnyBatch(out)}}
		case "chunk.default":
			n.Operator, n.Args = "split.Tensor", []graph.Arg{of, {Name: "split_size", Value: int64(out[len(out)-1])},
				{Name: "dim", Value: int64(-1)}}
		}
	}
	return nil
}

// ofAnyBatch returns a shape whose first size, the batch, is inferred.
func ofAnyBatch(shape []int) []any {
	list := []any{int64(-1)}
	for _, size := range shape[1:] {
		list = append(list, int64(size))
	}
	return list
}

// excited draws a network with separable convolutions whose channels are weighted by the mean of the image, as in Tan
// and Le (EfficientNet, 2019).
func excited(d *drawer) (Probe, error) {
	side, least, most, rows := pick(d, 4, 8, 16, 32, 32, 64), 8, pick(d, 128, 320), d.size(4, 64)
	if d.chance(0.4) { // the last stages of a larger network
		side, least, rows = pick(d, 2, 2, 4, 7), most/3, d.size(2, 48)
	}
	e := vision.EfficientNet{Stride: pick(d, 1, 2), Stem: d.channels(8, 48), Last: d.channels(32, 512), Drop: 0.2,
		Path: pick(d, 0, 0.2)}
	for range 1 + d.IntN(3) {
		e.Stages = append(e.Stages, vision.Stage{Expand: pick(d, 1, 4, 6), Kernel: pick(d, 3, 5), Stride: pick(d, 1, 2),
			Channels: d.channels(least, most), Blocks: 1 + d.IntN(2)})
	}
	g, err := e.Graph([]int{pick(d, 1, 3), side, side}, d.size(2, 100))
	if err != nil {
		return Probe{}, err
	}
	return probeOf(g, rows)
}

// convNeXt draws a network of depthwise convolutions with large kernels, layer norms and feed-forward layers.
func convNeXt(d *drawer) (Probe, error) {
	side, c := pick(d, 8, 16, 32, 32, 64), vision.ConvNeXt{Patch: pick(d, 1, 2, 2, 4)}
	stages := 1 + d.IntN(3)
	for side/c.Patch>>(stages-1) == 0 { // each stage after the first halves the image
		stages--
	}
	for range stages {
		c.Widths, c.Depths = append(c.Widths, d.channels(8, 384)), append(c.Depths, 1+d.IntN(2))
	}
	g, err := c.Graph([]int{pick(d, 1, 3), side, side}, d.size(2, 100))
	if err != nil {
		return Probe{}, err
	}
	return probeOf(g, d.size(4, 64))
}

// visionTransformer draws a transformer or a mixer on images.
func visionTransformer(d *drawer) (Probe, error) {
	heads, patch, side := pick(d, 2, 3, 4, 6), pick(d, 4, 4, 8), pick(d, 16, 32, 32)
	width := heads * pick(d, 8, 16, 32, 64)
	input, classes := []int{pick(d, 1, 3), side, side}, d.size(2, 100)
	depth := 1 + d.IntN(3)
	var g *graph.Graph
	var err error
	if d.chance(0.7) {
		g, err = vision.ViT{Patch: patch, Width: width, Heads: heads, Depth: depth}.Graph(input, classes)
	} else {
		g, err = vision.Mixer{Patch: patch, Width: width, Tokens: d.channels(16, 256), Hidden: d.channels(32, 512),
			Depth: depth}.Graph(input, classes)
	}
	if err != nil {
		return Probe{}, err
	}
	return probeOf(g, d.size(2, 64))
}

func probeOf(g *graph.Graph, rows int) (Probe, error) {
	n, err := model.FromGraph(g)
	return Probe{n, rows}, err
}
