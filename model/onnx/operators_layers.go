package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/model"
	networks "graft/model/graph"
)

func linearRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("input")
	w, err2 := e.arg("weight")
	b, err3 := e.arg("bias")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	out := e.op("MatMul", []string{x, e.op("Transpose", []string{w}, attribute{"perm", []int{1, 0}})})
	if b != "" {
		out = e.op("Add", []string{out, b})
	}
	return []string{out}, nil
}

func product(a, b string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err1 := e.arg(a)
		y, err2 := e.arg(b)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return []string{e.op("MatMul", []string{x, y})}, nil
	}
}

func outerRule(e *networkEncoder) ([]string, error) {
	x, y, err := e.operands(e.n.Args[0].Value, e.n.Args[1].Value)
	if err != nil {
		return nil, err
	}
	return []string{e.op("Mul", []string{e.op("Reshape", []string{x, e.graph.shape(-1, 1)}), y})}, nil
}

func embeddingRule(e *networkEncoder) ([]string, error) {
	w, err1 := e.arg("weight")
	at, err2 := e.arg("indices")
	return []string{e.op("Gather", []string{w, at}, attribute{"axis", 0})}, errors.Join(err1, err2)
}

func convRule(e *networkEncoder) ([]string, error) {
	shape := e.shapeOf(e.n.Arg("weight"))
	if len(shape) < 3 {
		return nil, errors.New("the weight has fewer than three dimensions")
	}
	dims := len(shape) - 2
	in := []string{}
	for _, name := range []string{"input", "weight", "bias"} {
		x, err := e.arg(name)
		if err != nil {
			return nil, err
		}
		if x != "" {
			in = append(in, x)
		}
	}
	padding := e.whole("padding", dims, 0)
	pads := slices.Concat(padding, padding)
	if e.n.Arg("padding") == "same" { // "valid" is no padding
		var err error
		if pads, err = e.samePads(shape[2:]); err != nil {
			return nil, err
		}
	}
	all := []attribute{{"kernel_shape", shape[2:]}, {"strides", e.whole("stride", dims, 1)}, {"pads", pads},
		{"dilations", e.whole("dilation", dims, 1)},
		{"group", int(e.number("groups", 1))}}
	if strings.HasPrefix(e.n.Operator, "conv_transpose") {
		return []string{e.op("ConvTranspose", in,
			append(all, attribute{"output_padding", e.whole("output_padding", dims, 0)})...)}, nil
	}
	return []string{e.op("Conv", in, all...)}, nil
}

// affine returns the tensors of weight and bias, or ones and zeros.
func (e *networkEncoder) affine(dims ...int) (weight, bias string, err error) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	if weight, err = e.arg("weight"); err == nil && weight == "" {
		weight = e.filled(typeFloat, ones(n), dims...)
	}
	if err != nil {
		return "", "", err
	}
	if bias, err = e.arg("bias"); err == nil && bias == "" {
		bias = e.filled(typeFloat, make([]float64, n), dims...)
	}
	return weight, bias, err
}

func batchNormRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("input")
	w, b, err2 := e.affine(e.shapeOf(e.n.Arg("input"))[1])
	mean, err3 := e.arg("running_mean")
	variance, err4 := e.arg("running_var")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	if mean == "" || variance == "" {
		return nil, errors.New("the batch normalisation has no running statistics; ONNX requires them")
	}
	return []string{e.op("BatchNormalization", []string{x, w, b, mean, variance},
		attribute{"epsilon", e.number("eps", 1e-5)})}, nil
}

func layerNormRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("input")
	shape := e.whole("normalized_shape", 1, 1)
	w, b, err2 := e.affine(shape...)
	return []string{e.op("LayerNormalization", []string{x, w, b}, attribute{"axis", -len(shape)},
		attribute{"epsilon", e.number("eps", 1e-5)})}, errors.Join(err1, err2)
}

// rmsNormRule writes x / √(mean of x² + eps) · weight.
func rmsNormRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("input")
	w, err2 := e.arg("weight")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	var axes []int
	for k := range e.whole("normalized_shape", 1, 1) {
		axes = append(axes, -1-k)
	}
	mean := e.op("ReduceMean", []string{e.op("Mul", []string{x, x})}, attribute{"axes", axes}, attribute{"keepdims", 1})
	out := e.op("Div", []string{x,
		e.op("Sqrt", []string{e.op("Add", []string{mean, e.like(x, e.number("eps", 0x1p-23))})})})
	if w != "" {
		out = e.op("Mul", []string{out, w})
	}
	return []string{out}, nil
}

func instanceNormRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("input")
	w, b, err2 := e.affine(e.shapeOf(e.n.Arg("input"))[1])
	if e.n.Arg("running_mean") != nil {
		return nil, errors.New("instance normalisation with running statistics is not supported")
	}
	return []string{e.op("InstanceNormalization", []string{x, w, b}, attribute{"epsilon", e.number("eps", 1e-5)})},
		errors.Join(err1, err2)
}

// resizeRule enlarges images to the size of the result.
func resizeRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.first()
	v := e.n.Results[0]
	all := []attribute{{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}
	if strings.HasPrefix(e.n.Operator, "_upsample_nearest_exact2d") {
		all = []attribute{{"mode", "nearest"}, {"coordinate_transformation_mode", "half_pixel"},
			{"nearest_mode", "round_prefer_ceil"}}
	}
	if strings.HasPrefix(e.n.Operator, "upsample_bilinear2d") {
		all = []attribute{{"mode", "linear"}, {"coordinate_transformation_mode",
			map[bool]string{true: "align_corners", false: "half_pixel"}[e.truth("align_corners")]}}
	}
	scales, sizes, err2 := e.enlarged(v)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return []string{e.op("Resize", append([]string{x, "", scales}, sizes...), all...)}, nil
}

// enlarged returns the inputs of Resize. Scale factors also determine which pixels are read, as in PyTorch; otherwise
// the sizes of the result do.
func (e *networkEncoder) enlarged(v networks.Value) (scales string, sizes []string, err error) {
	given, ok := e.n.Arg("scale_factors").([]any)
	if !ok {
		size, err := e.extent(e.shapes[v], e.larger[v], false)
		return "", []string{size}, err
	}
	in, out := e.shapeOf(e.n.Args[0].Value), e.shapes[v]
	factors := []float64{1, 1}
	for k := 2; k < len(in); k++ {
		factor, _ := asNumber(given[(k-2)%len(given)])
		if int(float32(in[k])*float32(factor)) != out[k] {
			return "", nil, fmt.Errorf("ONNX rounds the size %d times %g to another size than PyTorch, which has %d; "+
				"give the size instead of the scale factor", in[k], factor, out[k])
		}
		factors = append(factors, factor)
	}
	return e.filled(typeFloat, factors, len(factors)), nil, nil
}

func groupNormRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("input")
	shape := e.shapeOf(e.n.Arg("input"))
	w, b, err2 := e.affine(shape[1])
	l := model.GroupNorm{Groups: int(e.number("num_groups", 1)), Features: shape[1], Eps: e.number("eps", 1e-5),
		Affine: true}
	return []string{e.groupNorm(l, value{x, shape[1:]}, []string{w, b})}, errors.Join(err1, err2)
}

func attentionRule(e *networkEncoder) ([]string, error) {
	q, err1 := e.arg("query")
	k, err2 := e.arg("key")
	v, err3 := e.arg("value")
	mask, err4 := e.arg("attn_mask")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	queries, keys := e.shapeOf(e.n.Arg("query")), e.shapeOf(e.n.Arg("key"))
	rank := len(queries)
	if rank < 3 {
		return nil, errors.New("the attention query has fewer than three dimensions; expected dimensions for the " +
			"batch or the heads")
	}
	if e.truth("enable_gqa") && rank == 4 && queries[1] != keys[1] {
		values := e.shapeOf(e.n.Arg("value"))
		k = e.repeated(k, keys, 1, queries[1]/keys[1])
		v = e.repeated(v, values, 1, queries[1]/values[1])
	}
	swap := []int{}
	for d := range rank {
		swap = append(swap, d)
	}
	swap[rank-1], swap[rank-2] = rank-2, rank-1
	scale := e.number("scale", 1/math.Sqrt(float64(queries[rank-1])))
	scores := e.op("MatMul", []string{e.op("Mul", []string{q, e.like(q, scale)}),
		e.op("Transpose", []string{k}, attribute{"perm", swap})})
	if e.truth("is_causal") {
		rows, columns := queries[rank-2], keys[rank-2]
		hidden := make([]float64, rows*columns)
		for at := range hidden {
			if at%columns > at/columns {
				hidden[at] = math.Inf(-1)
			}
		}
		scores = e.op("Add", []string{scores, e.filled(typeFloat, hidden, rows, columns)})
	}
	switch {
	case mask != "" && e.kind(mask) == typeBool:
		scores = e.typed(typeFloat, "Where", []string{mask, scores, e.like(scores, math.Inf(-1))})
	case mask != "":
		scores = e.op("Add", []string{scores, mask})
	}
	shares := e.op("Softmax", []string{scores}, attribute{"axis", -1})
	if mask != "" { // as in PyTorch, a row whose scores are all masked is zero
		largest := e.op("ReduceMax", []string{scores}, attribute{"axes", []int{-1}}, attribute{"keepdims", 1})
		empty := e.typed(typeBool, "Equal", []string{largest, e.like(scores, math.Inf(-1))})
		shares = e.typed(e.kind(scores), "Where", []string{empty, e.like(scores, 0), shares})
	}
	return []string{e.op("MatMul", []string{shares, v})}, nil
}

func softmaxRule(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.converted()
		return []string{e.op(operator, []string{x}, attribute{"axis", e.dim("dim", -1)})}, err
	}
}

// pool reads the window of a pool over height and width.
func (e *networkEncoder) pool() (kernel, stride, padding model.Pair) {
	pair := func(list []int) model.Pair { return model.Pair{H: list[0], W: list[1]} }
	kernel, stride, padding = pair(e.whole("kernel_size", 2, 1)), pair(e.whole("kernel_size", 2, 1)),
		pair(e.whole("padding", 2, 0))
	if list, ok := e.n.Arg("stride").([]any); ok && len(list) > 0 || e.n.Arg("stride") != nil && !ok {
		stride = pair(e.whole("stride", 2, 1))
	}
	return kernel, stride, padding
}

// pooled returns the input and the result of a pool, for one example.
func (e *networkEncoder) pooled() (x value, out model.Shape, err error) {
	name, err := e.first()
	return value{name, e.shapeOf(e.n.Args[0].Value)[1:]}, e.shapes[e.n.Results[0]][1:], err
}

func maxPoolRule(e *networkEncoder) ([]string, error) {
	x, out, err := e.pooled()
	kernel, stride, padding := e.pool()
	if dilation := e.whole("dilation", 2, 1); slices.Max(dilation) > 1 {
		if e.truth("ceil_mode") {
			return nil, errors.New("dilation with ceil_mode is not supported")
		}
		return []string{e.op("MaxPool", []string{x.name}, attribute{"kernel_shape", both(kernel)},
			attribute{"strides", both(stride)}, attribute{"pads", pads(padding)},
			attribute{"dilations", dilation})}, err
	}
	return []string{e.maxPool(model.MaxPool2d{Kernel: kernel, Stride: stride, Padding: padding}, x, out)}, err
}

func averagePoolRule(e *networkEncoder) ([]string, error) {
	x, out, err := e.pooled()
	kernel, stride, padding := e.pool()
	if e.n.Arg("divisor_override") != nil {
		return nil, errors.New("divisor_override is not supported")
	}
	include, given := e.n.Arg("count_include_pad").(bool)
	return []string{e.averagePool(model.AvgPool2d{Kernel: kernel, Stride: stride, Padding: padding,
		Ceil: e.truth("ceil_mode"), ExcludePad: given && !include}, x, out)}, err
}

// lineRule writes a pool of sequences as a pool of images with one row. A missing kernel is 1.
func lineRule(write func(e *networkEncoder, kernel, stride, padding model.Pair, x value, out model.Shape) string,
) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, out, err := e.pooled()
		if err != nil || len(x.shape) != 2 || len(out) != 2 {
			return nil, errors.Join(err, errors.New("the input is not a batch of sequences"))
		}
		if e.whole("dilation", 1, 1)[0] != 1 {
			return nil, errors.New("dilation is not supported")
		}
		kernel := e.whole("kernel_size", 1, 1)[0]
		stride, padding := e.whole("stride", 1, kernel)[0], e.whole("padding", 1, 0)[0]
		y := write(e, model.Pair{H: 1, W: kernel}, model.Pair{H: 1, W: stride}, model.Pair{H: 0, W: padding},
			value{e.op("Unsqueeze", []string{x.name, e.graph.shape(2)}), model.Shape{x.shape[0], 1, x.shape[1]}},
			model.Shape{out[0], 1, out[1]})
		return []string{e.op("Squeeze", []string{y, e.graph.shape(2)})}, nil
	}
}

func maxOfLine(e *networkEncoder, kernel, stride, padding model.Pair, x value, out model.Shape) string {
	return e.maxPool(model.MaxPool2d{Kernel: kernel, Stride: stride, Padding: padding}, x, out)
}

func averageOfLine(e *networkEncoder, kernel, stride, padding model.Pair, x value, out model.Shape) string {
	include, given := e.n.Arg("count_include_pad").(bool)
	return e.averagePool(model.AvgPool2d{Kernel: kernel, Stride: stride, Padding: padding, Ceil: e.truth("ceil_mode"),
		ExcludePad: given && !include}, x, out)
}

func adaptiveOfLine(e *networkEncoder, _, _, _ model.Pair, x value, out model.Shape) string {
	return e.adaptivePool(x, out)
}

func adaptiveRule(e *networkEncoder) ([]string, error) {
	x, out, err := e.pooled()
	return []string{e.adaptivePool(x, out)}, err
}
