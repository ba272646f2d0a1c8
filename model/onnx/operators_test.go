package onnx

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	networks "graft/model/graph"
	"graft/model/onnx/reader"
	"graft/torch"
	"graft/torch/weights"
)

// written are graphs for the operators of operatorRules: the nodes that compute y from the images x, or from the
// sequences s and the indices i. Names of tensors end with their sizes.
var written = map[string]string{
	"linear": "y = linear.default(input=%x, weight=@w_5_6, bias=@b_5)",
	"matmul": "y = matmul.default(self=%x, other=@w_6_5)",
	"bmm":    "y = bmm.default(self=%s, mat2=%s)",
	"mm":     "r = reshape.default(self=%x, shape=[-1, 6]); y = mm.default(self=%r, mat2=@w_6_5)",
	"outer":  "r = flatten.using_ints(self=%x); y = outer.default(self=%r, vec2=@w_3)",
	"conv1d": "y = conv1d.default(input=%s, weight=@w_5_4_3, bias=@b_5, stride=[1], padding=[1])",
	"conv2d": "y = conv2d.default(input=%x, weight=@w_6_2_3_3, stride=[2, 1], padding=[1, 0], groups=2)",
	"conv3d": "u = unsqueeze.default(self=%x, dim=1); y = conv3d.default(input=%u, weight=@w_2_1_2_2_2)",
	"conv_transpose2d": "y = conv_transpose2d.input(input=%x, weight=@w_4_3_2_2, stride=[2, 2], " +
		"output_padding=[1, 1])",
	"instance_norm": "y = instance_norm.default(input=%x, weight=@w_4, bias=@b_4, use_input_stats=true, " +
		"momentum=0.1, " +
		"eps=0.001)",
	"upsample_nearest2d": "y = upsample_nearest2d.vec(input=%x, output_size=[12, 7], scale_factors=none)",
	"upsample_bilinear2d": "y = upsample_bilinear2d.vec(input=%x, output_size=none, align_corners=false, " +
		"scale_factors=[2.0, 1.5])",
	"_upsample_nearest_exact2d": "y = _upsample_nearest_exact2d.vec(input=%x, output_size=none, " +
		"scale_factors=[2.0, 1.5])",
	"embedding": "y = embedding.default(weight=@w_10_3, indices=%i)",
	"lstm": "y, h, c = lstm.input(input=%s, hx=[@h_2_4_3, @c_2_4_3], params=[@a_12_4, @r_12_3, @b_12, @d_12, " +
		"@A_12_4, @R_12_3, @B_12, @D_12], has_biases=true, num_layers=1, dropout=0.0, bidirectional=true, " +
		"batch_first=false)",
	"gru": "y, h = gru.input(input=%s, hx=@h_2_4_3, params=[@a_9_4, @r_9_3, @b_9, @d_9, @A_9_4, @R_9_3, @B_9, " +
		"@D_9], has_biases=true, num_layers=1, dropout=0.0, bidirectional=true, batch_first=false)",
	"rnn_tanh": "y, h = rnn_tanh.input(input=%s, hx=@h_2_4_3, params=[@a_3_4, @r_3_3, @b_3, @d_3, @A_3_4, " +
		"@R_3_3, @B_3, @D_3], has_biases=true, num_layers=1, dropout=0.0, bidirectional=true, " +
		"batch_first=false)",
	"rnn_relu": "y, h = rnn_relu.input(input=%s, hx=@h_2_4_3, params=[@a_3_4, @r_3_3, @b_3, @d_3, @A_3_3, " +
		"@R_3_3, @B_3, @D_3], has_biases=true, num_layers=2, dropout=0.0, bidirectional=false, " +
		"batch_first=false)",
	"scaled_dot_product_attention": "m = gt.Scalar(self=%s, other=-9.0); " +
		"y = scaled_dot_product_attention.default(query=%s, key=%s, value=%s, attn_mask=%m)",
	"batch_norm": "y = batch_norm.default(input=%x, weight=@w_4, bias=@b_4, running_mean=@m_4, running_var=@v_4, " +
		"training=false, momentum=0.1, eps=0.001)",
	"layer_norm":  "y = layer_norm.default(input=%x, normalized_shape=[6, 6], weight=@w_6_6, bias=@b_6_6)",
	"rms_norm":    "y = rms_norm.default(input=%x, normalized_shape=[6], weight=@w_6)",
	"group_norm":  "y = group_norm.default(input=%x, num_groups=2, weight=@w_4, bias=@b_4)",
	"add":         "y = add.Tensor(self=%x, other=@w_6)",
	"sub":         "y = sub.Tensor(self=%x, other=2)",
	"mul":         "m = gt.Scalar(self=%x, other=0.0); y = mul.Tensor(self=%x, other=%m)",
	"div":         "y = div.Tensor(self=%x, other=@w_6)",
	"pow":         "y = pow.Tensor_Scalar(self=%x, exponent=3)",
	"maximum":     "y = maximum.default(self=%x, other=@w_6)",
	"minimum":     "y = minimum.default(self=%x, other=@w_6)",
	"eq":          "r = relu.default(self=%x); y = eq.Scalar(self=%r, other=0)",
	"ne":          "r = relu.default(self=%x); y = ne.Tensor(self=%r, other=@w_6)",
	"lt":          "y = lt.Tensor(self=%x, other=@w_6)",
	"le":          "y = le.Scalar(self=%i, other=2)",
	"gt":          "y = gt.Scalar(self=%x, other=0.25)",
	"ge":          "y = ge.Scalar(self=%i, other=1)",
	"bitwise_not": "m = gt.Scalar(self=%x, other=0.0); y = bitwise_not.default(self=%m)",
	"logical_not": "m = gt.Scalar(self=%x, other=0.0); y = logical_not.default(self=%m)",
	"masked_fill": "m = gt.Scalar(self=%x, other=0.0); y = masked_fill.Scalar(self=%x, mask=%m, value=-2)",
	"where":       "m = gt.Scalar(self=%x, other=0.0); y = where.self(condition=%m, self=%x, other=@w_6)",
	"softmax":     "y = softmax.int(self=%x, dim=1)",
	"log_softmax": "y = log_softmax.int(self=%x, dim=-1)",
	"mean":        "y = mean.dim(self=%x, dim=[-1, 1], keepdim=true)",
	"sum":         "y = sum.dim_IntList(self=%i, dim=[1])",
	"amax":        "y = amax.default(self=%x, dim=[2])",
	"amin":        "y = amin.default(self=%x, dim=[2, 3])",
	"max_pool2d": "y = max_pool2d.default(self=%x, kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], " +
		"ceil_mode=true)",
	"avg_pool2d": "y = avg_pool2d.default(self=%x, kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], " +
		"ceil_mode=true)",
	"adaptive_avg_pool2d": "y = adaptive_avg_pool2d.default(self=%x, output_size=[4, 5])",
	"view":                "y = view.default(self=%x, size=[-1, 12])",
	"reshape":             "y = reshape.default(self=%x, shape=[-1, 4, 36])",
	"flatten":             "y = flatten.using_ints(self=%x, start_dim=0, end_dim=1)",
	"unflatten":           "y = unflatten.int(self=%x, dim=1, sizes=[2, 2])",
	"squeeze":             "u = unsqueeze.default(self=%x, dim=1); y = squeeze.dim(self=%u, dim=1)",
	"unsqueeze":           "y = unsqueeze.default(self=%x, dim=-1)",
	"view_as":             "y = view_as.default(self=%s, other=%x)",
	"reshape_as":          "y = reshape_as.default(self=%s, other=%x)",
	"transpose":           "y = transpose.int(self=%x, dim0=1, dim1=-1)",
	"swapaxes":            "y = swapaxes.default(self=%x, axis0=1, axis1=-1)",
	"permute":             "y = permute.default(self=%x, dims=[0, 2, -1, 1])",
	"t":                   "r = reshape.default(self=%x, shape=[-1, 6]); y = t.default(self=%r)",
	"expand": "u = unsqueeze.default(self=%x, dim=1); " +
		"y = expand.default(self=%u, size=[-1, 3, -1, -1, -1])",
	"expand_as":         "u = slice.Tensor(self=%x, dim=1, start=0, end=1); y = expand_as.default(self=%u, other=%x)",
	"cat":               "y = cat.default(tensors=[%x, %x], dim=-1)",
	"stack":             "y = stack.default(tensors=[%x, %x], dim=-1)",
	"chunk":             "y, z = chunk.default(self=%x, chunks=2, dim=1)",
	"split":             "y, z = split.Tensor(self=%x, split_size=4, dim=-1)",
	"split_with_sizes":  "z, y = split_with_sizes.default(self=%x, split_sizes=[1, 3], dim=1)",
	"unbind":            "z, y, p, q = unbind.int(self=%x, dim=1)",
	"select":            "y = select.int(self=%x, dim=1, index=-2)",
	"slice":             "y = slice.Tensor(self=%x, dim=-1, start=-5, end=-1, step=2)",
	"repeat_interleave": "y = repeat_interleave.self_int(self=%x, repeats=3, dim=1)",
	"arange": "r = arange.start_step(start=0, end=6, step=1, dtype=float32); " +
		"y = add.Tensor(self=%x, other=%r)",
	"zeros": "r = zeros.default(size=[2, 6]); m = eq.Scalar(self=%r, other=0.0); " +
		"y = sub.Tensor(self=%r, other=1)",
	"ones":            "r = ones.default(size=[6], dtype=int64); y = add.Tensor(self=%x, other=%r)",
	"to":              "y = to.dtype(self=%x, dtype=int64)",
	"_to_copy":        "y = _to_copy.default(self=%i, dtype=float32)",
	"type_as":         "y = type_as.default(self=%i, other=%x)",
	"hardtanh":        "y = hardtanh.default(self=%x, min_val=-0.5, max_val=0.25)",
	"clamp":           "y = clamp.default(self=%x, min=-0.5, max=0.25)",
	"softplus":        "y = softplus.default(self=%x, beta=2.0, threshold=1.0)",
	"gelu":            "g = gelu.default(self=%x); y = gelu.default(self=%g, approximate=\"tanh\")",
	"rsqrt":           "a = abs.default(self=%x); b = add.Tensor(self=%a, other=1); y = rsqrt.default(self=%b)",
	"leaky_relu":      "y = leaky_relu.default(self=%x, negative_slope=0.2)",
	"elu":             "y = elu.default(self=%x, alpha=0.5)",
	"log":             "a = abs.default(self=%x); b = add.Tensor(self=%a, other=1); y = log.default(self=%b)",
	"sqrt":            "a = abs.default(self=%x); y = sqrt.default(self=%a)",
	"dropout":         "y = dropout.default(input=%x, p=0.5, train=false)",
	"feature_dropout": "y = feature_dropout.default(input=%x, p=0.5, train=false)",

	"mv":     "y = mv.default(self=@w_5_12, vec=@v_12); z = add.Tensor(self=%x, other=1)",
	"dot":    "d = dot.default(self=@w_12, tensor=@v_12); y = add.Tensor(self=%x, other=%d)",
	"einsum": "y = einsum.default(equation=\"bchw,bdhw->bcd\", tensors=[%x, %x])",
	"addmm": "r = reshape.default(self=%x, shape=[-1, 6]); " +
		"y = addmm.default(self=@b_5, mat1=%r, mat2=@w_6_5, beta=2, alpha=0.5)",
	"baddbmm":           "y = baddbmm.default(self=@b_4, batch1=%s, batch2=%s)",
	"bitwise_and":       truthsOf + "y = bitwise_and.Tensor(self=%m, other=%n)",
	"bitwise_or":        truthsOf + "y = bitwise_or.Tensor(self=%m, other=%n)",
	"bitwise_xor":       truthsOf + "y = bitwise_xor.Tensor(self=%m, other=%n)",
	"logical_and":       truthsOf + "y = logical_and.default(self=%m, other=%n)",
	"logical_or":        "y = logical_or.default(self=%i, other=%i)",
	"logical_xor":       truthsOf + "y = logical_xor.default(self=%m, other=%n)",
	"isnan":             "l = log.default(self=%x); y = isnan.default(self=%l)",
	"rsub":              "y = rsub.Scalar(self=%x, other=2.0, alpha=3)",
	"remainder":         "y = remainder.Scalar(self=%x, other=-0.3)",
	"fmod":              "y = fmod.Scalar(self=%x, other=-0.3)",
	"max":               "y, z = max.dim(self=%x, dim=2)",
	"min":               "z, y = min.dim(self=%x, dim=-1, keepdim=true)",
	"argmax":            "y = argmax.default(self=%x, dim=1)",
	"argmin":            "y = argmin.default(self=%x, dim=-1, keepdim=true)",
	"any":               truthsOf + "y = any.dim(self=%m, dim=1)",
	"all":               truthsOf + "y = all.dim(self=%m, dim=-1, keepdim=true)",
	"prod":              "y = prod.dim_int(self=%x, dim=-1)",
	"logsumexp":         "y = logsumexp.default(self=%x, dim=[1, -1])",
	"var":               "y = var.correction(self=%x, dim=[2, 3], correction=1)",
	"std":               "y = std.dim(self=%x, dim=[1], unbiased=false, keepdim=true)",
	"cumsum":            "y = cumsum.default(self=%x, dim=-1)",
	"topk":              "y, z = topk.default(self=%x, k=3, dim=2)",
	"movedim":           "y = movedim.int(self=%x, source=1, destination=-1)",
	"numpy_T":           "r = reshape.default(self=%x, shape=[-1, 6]); y = numpy_T.default(self=%r)",
	"pad":               "y = pad.default(self=%x, pad=[1, 2, -1, 3], mode=\"constant\", value=0.5)",
	"constant_pad_nd":   "y = constant_pad_nd.default(self=%x, pad=[1, 2])",
	"reflection_pad1d":  "y = reflection_pad1d.default(self=%s, padding=[1, 2])",
	"reflection_pad2d":  "y = reflection_pad2d.default(self=%x, padding=[1, 2, 0, 3])",
	"replication_pad1d": "y = replication_pad1d.default(self=%s, padding=[1, 2])",
	"replication_pad2d": "y = replication_pad2d.default(self=%x, padding=[1, 2, 0, 3])",
	"flip":              "y = flip.default(self=%x, dims=[1, -1])",
	"roll":              "y = roll.default(self=%x, shifts=[2, -1], dims=[1, -1])",
	"tril":              "y = tril.default(self=%x, diagonal=-1)",
	"triu":              "y = triu.default(self=%x, diagonal=1)",
	"repeat":            "y = repeat.default(self=%s, repeats=[1, 2, 3])",
	"tile":              "y = tile.default(self=%x, dims=[2, 3])",
	"narrow":            "y = narrow.default(self=%x, dim=-1, start=-4, length=3)",
	"pixel_shuffle":     "y = pixel_shuffle.default(self=%x, upscale_factor=2)",
	"index_select": "r = arange.start_step(start=3, end=-1, step=-2); " +
		"y = index_select.default(self=%x, dim=1, index=%r)",
	"gather":              "v, z = topk.default(self=%x, k=3, dim=2); y = gather.default(self=%x, dim=2, index=%z)",
	"full":                "r = full.default(size=[6], fill_value=2); y = add.Tensor(self=%x, other=%r)",
	"full_like":           "y = full_like.default(self=%x, fill_value=2.5)",
	"new_full":            "r = new_full.default(self=%x, size=[6], fill_value=2.5); y = add.Tensor(self=%x, other=%r)",
	"new_zeros":           "r = new_zeros.default(self=%i, size=[3]); y = add.Tensor(self=%i, other=%r)",
	"new_ones":            "r = new_ones.default(self=%i, size=[3]); y = add.Tensor(self=%i, other=%r)",
	"max_pool1d":          "y = max_pool1d.default(self=%s, kernel_size=[3], stride=[2], padding=[1])",
	"avg_pool1d":          "y = avg_pool1d.default(self=%s, kernel_size=[3], stride=[2], padding=[1], ceil_mode=true)",
	"adaptive_avg_pool1d": "y = adaptive_avg_pool1d.default(self=%s, output_size=[3])",
	"clamp_min":           "y = clamp_min.default(self=%x, min=0.25)",
	"clamp_max":           "y = clamp_max.default(self=%x, max=0.25)",
	"prelu":               "y = prelu.default(self=%x, weight=@w_4)",
	"threshold":           "y = threshold.default(self=%x, threshold=0.25, value=-3)",
	"log2":                "a = abs.default(self=%x); b = add.Tensor(self=%a, other=1); y = log2.default(self=%b)",
	"conv_transpose1d":    "y = conv_transpose1d.default(input=%s, weight=@w_4_3_2, stride=[2])",
	"conv_transpose3d": "u = unsqueeze.default(self=%x, dim=1); " +
		"y = conv_transpose3d.input(input=%u, weight=@w_1_2_2_2_2)",
	"pixel_unshuffle":     "y = pixel_unshuffle.default(self=%x, downscale_factor=3)",
	"channel_shuffle":     "y = channel_shuffle.default(self=%x, groups=2)",
	"linalg_vector_norm":  "y = linalg_vector_norm.default(self=%x, ord=2, dim=[1, -1], keepdim=true)",
	"one_hot":             "y = one_hot.default(self=%i, num_classes=5)",
	"linspace":            "r = linspace.default(start=-1, end=0.5, steps=6); y = add.Tensor(self=%x, other=%r)",
	"log1p":               "a = abs.default(self=%x); y = log1p.default(self=%a)",
	"lerp":                "y = lerp.Scalar(self=%x, end=@w_6, weight=0.3)",
	"adaptive_max_pool1d": "y = adaptive_max_pool1d.default(self=%s, output_size=[1])",
	"adaptive_max_pool2d": "y = adaptive_max_pool2d.default(self=%x, output_size=[1, 1])",
}

const truthsOf = "m = gt.Scalar(self=%x, other=0.0); n = lt.Scalar(self=%x, other=0.5); "

// graphOf makes a graph of a case: its inputs in the forms of the cases, and the tensors that it reads.
func graphOf(t *testing.T, lines string) *networks.Graph {
	g := &networks.Graph{Name: "Net", Output: "y", Modules: []networks.Module{{Class: "Net"}},
		Input: networks.Input{Value: "x", DType: weights.Float32,
			Shape: []networks.Size{{Name: "batch", N: 2}, {N: 4}, {N: 6}, {N: 6}}}}
	switch {
	case strings.Contains(lines, "%i"):
		g.Input = networks.Input{Value: "i", DType: weights.Int64,
			Shape: []networks.Size{{Name: "batch", N: 2}, {N: 3}}}
		if strings.Contains(lines, "%x") {
			lines = "x = to.dtype(self=%i, dtype=float32); " + lines
		}
	case strings.Contains(lines, "%s") && strings.Contains(lines, "%x"):
		lines = "s = flatten.using_ints(self=%x, start_dim=2); " + lines
	case strings.Contains(lines, "%s"):
		g.Input = networks.Input{Value: "s", DType: weights.Float32,
			Shape: []networks.Size{{Name: "batch", N: 2}, {N: 4}, {N: 4}}}
	}
	for line := range strings.SplitSeq(lines, "; ") {
		n, err := networks.ParseNode(line)
		require.NoError(t, err)
		g.Nodes = append(g.Nodes, n)
		n.Reads(func(arg any) {
			w, ok := arg.(networks.Weight)
			if ok && g.Tensor(string(w)) == nil {
				g.Tensors = append(g.Tensors, tensorOf(string(w)))
			}
		})
	}
	return g
}

// tensorOf is a tensor whose sizes follow its name.
func tensorOf(name string) networks.Tensor {
	made := networks.Tensor{Name: name, Role: networks.Parameter, DType: weights.Float32, Init: "uniform 1"}
	for size := range strings.SplitSeq(name[2:], "_") {
		n := 0
		for _, digit := range size {
			n = 10*n + int(digit-'0')
		}
		made.Shape = append(made.Shape, n)
	}
	if name[0] == 'v' {
		made.Init = "ones"
	}
	return made
}

// inputOf draws 3 examples.
func inputOf(s *torch.Scope, g *networks.Graph) *torch.Tensor {
	dims := g.Input.Dims()
	dims[0] = 3
	x := s.Zeros(torch.Float32, torch.CPU, dims...)
	if g.Input.DType == weights.Int64 {
		s.Uniform(x, 0, 4, s.NewGenerator(torch.CPU, 2))
		return s.To(x, torch.Int64, torch.CPU)
	}
	s.Uniform(x, -1, 1, s.NewGenerator(torch.CPU, 2))
	return x
}

// caseOf returns the nodes for an operator.
func caseOf(op string) string {
	if lines, ok := written[op]; ok {
		return lines
	}
	return "y = " + op + ".default(self=%x)"
}

// outputOf runs a graph on 3 examples.
func outputOf(t *testing.T, g *networks.Graph, set *weights.Set) (shape []int, values []float32) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		bound, err := g.Bind(s, torch.CPU, set)
		require.NoError(t, err)
		p, err := bound.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		x := inputOf(s, g)
		s.NoGrad(func() {
			y := s.To(p.Forward(s, x, false, nil), torch.Float32, torch.CPU)
			require.NoError(t, s.Err())
			shape = y.Shape()
			values, err = torch.Values[float32](y)
		})
		return err
	}))
	return shape, values
}

// graft reads each operator that it writes, and the network that it reads computes the same.
func TestWrittenOperatorsAreRead(t *testing.T) {
	for _, op := range slices.Sorted(maps.Keys(operatorRules)) {
		t.Run(op, func(t *testing.T) { assertReads(t, graphOf(t, caseOf(op))) })
	}
}

func assertReads(t *testing.T, g *networks.Graph) {
	set, err := g.Draw(1)
	require.NoError(t, err)
	assertReadsWith(t, g, set)
}

func assertReadsWith(t *testing.T, g *networks.Graph, set *weights.Set) {
	n, err := model.FromGraph(g)
	require.NoError(t, err)
	data, err := Encode(n, set, Options{})
	require.NoError(t, err)
	net, err := reader.Read(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	shape, values := outputOf(t, g, set)
	readShape, readValues := outputOf(t, net.Graph, net.Weights)
	assert.Equal(t, shape, readShape)
	assert.InDeltaSlice(t, values, readValues, 1e-5)
}

// argumentCases are types and arguments at their limits.
var argumentCases = map[string]string{
	"a power of two tensors":             "a = abs.default(self=%x); y = pow.Tensor_Tensor(self=%a, exponent=@w_6)",
	"a power of a number":                "y = pow.Scalar(self=2.5, exponent=%x)",
	"a power of integers":                "y = pow.Tensor_Scalar(self=%i, exponent=2)",
	"a root of integers":                 "y = pow.Tensor_Scalar(self=%i, exponent=0.5)",
	"an integer to real powers":          "y = pow.Scalar(self=2, exponent=%x)",
	"a slice from before the first":      "y = slice.Tensor(self=%x, dim=3, start=-100, end=4)",
	"the last example":                   "y = slice.Tensor(self=%x, dim=0, start=-1)",
	"a mean of integers as real numbers": "y = mean.dim(self=%i, dim=[1], dtype=float32)",
	"a sum of truths as real numbers": "m = gt.Scalar(self=%x, other=0.0); " +
		"y = sum.dim_IntList(self=%m, dim=[1], dtype=float32)",
	"a sum of real numbers as integers": "y = sum.dim_IntList(self=%x, dim=[1], dtype=int64)",
	"a softmax of integers":             "y = softmax.int(self=%i, dim=1, dtype=float32)",
	"a range of real numbers": "r = arange.start_step(start=0.0, end=6.0, step=1.0); " +
		"h = mul.Tensor(self=%r, other=0.5); y = add.Tensor(self=%h, other=%x)",
	"a product of truths": "m = gt.Scalar(self=%x, other=0.0); n = lt.Scalar(self=%x, other=0.5); " +
		"y = mul.Tensor(self=%m, other=%n)",
	"a sum of two truths": "m = gt.Scalar(self=%x, other=0.5); n = lt.Scalar(self=%x, other=-0.5); " +
		"y = add.Tensor(self=%m, other=%n)",
	"the complement of integers": "y = bitwise_not.default(self=%i)",
	"zeros as truths":            "r = relu.default(self=%x); y = logical_not.default(self=%r)",
	"integers and real numbers":  "y = cat.default(tensors=[%i, %x], dim=1)",
	"a logarithm of integers": "u = add.Tensor(self=%i, other=1); l = log.default(self=%u); " +
		"y = mul.Tensor(self=%l, other=10)",
	"integers over one another": "u = add.Tensor(self=%i, other=2); y = div.Tensor(self=%i, other=%u)",
	"bytes that overflow":       "u = mul.Tensor(self=%i, other=200); y = to.dtype(self=%u, dtype=uint8)",
	"real numbers as bytes": "u = mul.Tensor(self=%x, other=2000); p = abs.default(self=%u); " +
		"q = to.dtype(self=%p, dtype=int32); y = to.dtype(self=%q, dtype=int8)",
	"nearest pixels to a size": "y = _upsample_nearest_exact2d.vec(input=%x, " +
		"output_size=[4, 11], scale_factors=none)",
	"limits of integers":        "y = clamp.default(self=%i, min=0.5, max=2)",
	"limits in the wrong order": "y = clamp.default(self=%x, min=0.5, max=-0.25)",
	"an average without the padding": "y = avg_pool2d.default(self=%x, kernel_size=[3, 3], stride=[2, 2], " +
		"padding=[1, 1], count_include_pad=false)",
	"numbers that are selected": "m = gt.Scalar(self=%x, other=0.0); " +
		"y = where.Scalar(condition=%m, self=1, other=0.5)",
	"a pool of sequences without the padding": "y = avg_pool1d.default(self=%s, kernel_size=[2], padding=[1], " +
		"count_include_pad=false)",
	"places at a distance": "y = max_pool2d.default(self=%x, kernel_size=[2, 2], stride=[1, 2], padding=[1, 1], " +
		"dilation=[2, 3])",
	"weights between tensors": "y = lerp.Tensor(self=%x, end=@w_6, weight=@v_6)",
	"a sum of absolutes":      "y = linalg_vector_norm.default(self=%x, ord=1.0, dim=[1])",
	"a mean of sequences":     "y = adaptive_avg_pool1d.default(self=%s, output_size=[1])",
	"a convolution that keeps sizes": "y = conv2d.padding(input=%x, weight=@w_5_4_2_3, bias=@b_5, " +
		"padding=\"same\", dilation=[1, 2])",
	"a convolution without padding":   "y = conv2d.padding(input=%x, weight=@w_5_4_2_3, padding=\"valid\")",
	"a quotient rounded down":         "y = div.Tensor_mode(self=%x, other=0.3, rounding_mode=\"floor\")",
	"a quotient rounded towards zero": "y = div.Tensor_mode(self=%x, other=0.3, rounding_mode=\"trunc\")",
	"integers rounded down": "u = sub.Tensor(self=%i, other=2); y = div.Tensor_mode(self=%u, other=-3, " +
		"rounding_mode=\"floor\")",
	"integers rounded towards zero": "u = sub.Tensor(self=%i, other=2); y = div.Tensor_mode(self=%u, other=-3, " +
		"rounding_mode=\"trunc\")",
	"remainders of integers": "u = sub.Tensor(self=%i, other=2); y = remainder.Scalar(self=%u, other=-3)",
	"fmod of integers":       "u = sub.Tensor(self=%i, other=2); y = fmod.Scalar(self=%u, other=-3)",
	"a scaled summand":       "y = add.Tensor(self=%x, other=@w_6, alpha=2.5)",
	"a scaled integer":       "y = sub.Tensor(self=%i, other=%i, alpha=3)",
	"the largest of all":     "m = max.default(self=%x); y = sub.Tensor(self=%x, other=%m)",
	"the larger one":         "y = max.other(self=%x, other=@w_6)",
	"the largest truth":      "m = gt.Scalar(self=%x, other=0.9); y = amax.default(self=%m, dim=[1])",
	"the index of all":       "m = argmax.default(self=%x); y = add.Tensor(self=%x, other=%m)",
	"a product of all truths": "m = gt.Scalar(self=%x, other=-0.9); " +
		"y = prod.dim_int(self=%m, dim=1, keepdim=true)",
	"a sum of truths so far": "m = gt.Scalar(self=%x, other=0.0); y = cumsum.default(self=%m, dim=1)",
	"a triangle of truths":   "m = gt.Scalar(self=%x, other=0.0); y = tril.default(self=%m)",
	"the smallest two":       "z, y = topk.default(self=%x, k=2, dim=1, largest=false)",
	"reflected pixels":       "y = pad.default(self=%s, pad=[2, 1], mode=\"reflect\")",
	"repeated pixels":        "y = pad.default(self=%x, pad=[2, 1, 3, 0], mode=\"replicate\")",
	"padded integers":        "y = constant_pad_nd.default(self=%i, pad=[1, 1], value=7)",
	"a slope for all":        "y = prelu.default(self=%x, weight=@w_1)",
	"slopes of features":     "y = prelu.default(self=%s, weight=@w_4)",
	"more dimensions":        "y = repeat.default(self=%s, repeats=[2, 1, 2, 1])",
	"a moved dimension":      "y = movedim.int(self=%x, source=-1, destination=1)",
	"zeros like truths":      "m = gt.Scalar(self=%x, other=0.0); y = zeros_like.default(self=%m, dtype=float32)",
	"a causal product": "y = scaled_dot_product_attention.default(query=%s, key=%s, value=%s, " +
		"is_causal=true)",
}

// Types and arguments at their limits.
func TestWrittenArgumentsAreRead(t *testing.T) {
	for name, lines := range argumentCases {
		t.Run(name, func(t *testing.T) { assertReads(t, graphOf(t, lines)) })
	}
}

// Integers keep digits that float64 does not have.
func TestLargeIntegersAreExact(t *testing.T) {
	const large = 1<<53 + 1
	for name, lines := range map[string]string{
		"a tensor": "u = add.Tensor(self=%i, other=@n_1); y = sub.Tensor(self=%u, other=9007199254740992)",
		"a number": "u = add.Tensor(self=%i, other=9007199254740993); " +
			"y = sub.Tensor(self=%u, other=9007199254740992)",
		"a limit": "u = clamp.default(self=%i, min=9007199254740993); " +
			"y = sub.Tensor(self=%u, other=9007199254740992)",
	} {
		g := graphOf(t, lines)
		set := &weights.Set{}
		for k := range g.Tensors {
			g.Tensors[k].DType, g.Tensors[k].Role = weights.Int64, networks.Constant
			set.Tensors = append(set.Tensors, weights.Tensor{Name: g.Tensors[k].Name, DType: weights.Int64,
				Shape: []int64{1}, Data: binary.LittleEndian.AppendUint64(nil, large)})
		}
		t.Run(name, func(t *testing.T) { assertReadsWith(t, g, set) })
	}
}

// A value beyond float32 in a mask of float64 does not become infinite, which has no softmax.
func TestFiniteValuesStayFinite(t *testing.T) {
	g := &graph{}
	g.floats([]float64{-math.MaxFloat64, math.Inf(-1)})
	require.True(t, bytes.HasSuffix(g.initializers[0], []byte{0xff, 0xff, 0x7f, 0xff, 0, 0, 0x80, 0xff}))
}
