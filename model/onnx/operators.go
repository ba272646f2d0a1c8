package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	networks "graft/model/graph"
	"graft/torch/weights"
)

// operatorRule writes the node under way and returns the names of its results.
type operatorRule func(e *networkEncoder) ([]string, error)

// operatorRules hold a rule for each operator of a graph, by its name without the overload.
var operatorRules map[string]operatorRule

func init() { // rules refer to each other
	operatorRules = map[string]operatorRule{
		"linear": linearRule, "matmul": product("self", "other"), "bmm": product("self", "mat2"), "mm": product("self", "mat2"), "outer": outerRule,
		"conv1d": convRule, "conv2d": convRule, "conv3d": convRule, "conv_transpose2d": convRule, "instance_norm": instanceNormRule, "upsample_nearest2d": resizeRule, "upsample_bilinear2d": resizeRule, "embedding": embeddingRule, "lstm": recurrentRule, "gru": recurrentRule, "rnn_tanh": recurrentRule, "rnn_relu": recurrentRule, "scaled_dot_product_attention": attentionRule,
		"batch_norm": batchNormRule, "layer_norm": layerNormRule, "rms_norm": rmsNormRule, "group_norm": groupNormRule,
		"add": pairwise("Add"), "sub": pairwise("Sub"), "mul": pairwise("Mul"), "div": pairwise("Div"), "pow": pairwise("Pow"), "maximum": pairwise("Max"), "minimum": pairwise("Min"),
		"eq": compare("Equal", false), "ne": compare("Equal", true), "lt": compare("Less", false), "le": compare("LessOrEqual", false), "gt": compare("Greater", false), "ge": compare("GreaterOrEqual", false),
		"bitwise_not": unary("Not"), "logical_not": unary("Not"), "masked_fill": maskedFill, "where": whereRule,
		"softmax": softmaxRule("Softmax"), "log_softmax": softmaxRule("LogSoftmax"), "mean": reduced("ReduceMean"), "sum": reduced("ReduceSum"), "amax": reduced("ReduceMax"), "amin": reduced("ReduceMin"),
		"max_pool2d": poolRule("MaxPool"), "avg_pool2d": poolRule("AveragePool"), "adaptive_avg_pool2d": adaptiveRule,
		"view": reshaped, "reshape": reshaped, "flatten": reshaped, "unflatten": reshaped, "squeeze": reshaped, "unsqueeze": reshaped, "view_as": reshaped, "reshape_as": reshaped,
		"transpose": permuted, "swapaxes": permuted, "permute": permuted, "t": permuted, "expand": expandRule, "expand_as": expandRule,
		"cat": catRule, "stack": stackRule, "chunk": splitRule, "split": splitRule, "split_with_sizes": splitRule, "unbind": unbindRule, "select": selectRule, "slice": sliceRule,
		"repeat_interleave": interleaveRule, "arange": arangeRule, "zeros": filledRule(0), "ones": filledRule(1), "to": castRule, "_to_copy": castRule, "type_as": castRule,
		"hardtanh": clipRule("min_val", "max_val", -1, 1), "relu6": clipRule("", "", 0, 6), "clamp": clipRule("min", "max", math.Inf(-1), math.Inf(1)),
		"leaky_relu": slopeRule("LeakyRelu", "negative_slope", 0.01), "elu": slopeRule("Elu", "alpha", 1), "gelu": geluRule, "silu": siluRule, "rsqrt": rsqrtRule,
	}
	for _, name := range strings.Fields("dropout feature_dropout alias contiguous detach clone") {
		operatorRules[name] = func(e *networkEncoder) ([]string, error) { return e.one(e.first()) }
	}
	for name, operator := range map[string]string{"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "hardswish": "HardSwish", "neg": "Neg", "exp": "Exp", "log": "Log", "sqrt": "Sqrt",
		"abs": "Abs", "erf": "Erf", "reciprocal": "Reciprocal", "sin": "Sin", "cos": "Cos", "floor": "Floor", "ceil": "Ceil", "sign": "Sign", "softplus": "Softplus"} {
		operatorRules[name] = unary(operator)
	}
}

// arg is the name of an argument that is a tensor; empty where it is none.
func (e *networkEncoder) arg(name string) (string, error) {
	value := e.n.Arg(name)
	if value == nil {
		return "", nil
	}
	return e.tensorOf(value)
}

// first is the first argument, which is a tensor.
func (e *networkEncoder) first() (string, error) { return e.tensorOf(e.n.Args[0].Value) }

func (e *networkEncoder) one(name string, err error) ([]string, error) { return []string{name}, err }

// shapeOf is the shape of an argument.
func (e *networkEncoder) shapeOf(arg any) []int {
	switch v := arg.(type) {
	case networks.Value:
		return e.shapes[v]
	case networks.Weight:
		if t := e.net.Tensor(string(v)); t != nil {
			return t.Shape
		}
	}
	return nil
}

func (e *networkEncoder) number(name string, missing float64) float64 {
	switch v := e.n.Arg(name).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return missing
}

func (e *networkEncoder) truth(name string) bool { on, _ := e.n.Arg(name).(bool); return on }

// dim is a dimension of the first argument, counted from the start.
func (e *networkEncoder) dim(name string, missing int) int {
	d := int(e.number(name, float64(missing)))
	if d < 0 {
		d += len(e.shapeOf(e.n.Args[0].Value))
	}
	return d
}

// whole are numbers of a list, or one number for each of some dimensions.
func (e *networkEncoder) whole(name string, dims, missing int) []int {
	var list []int
	switch v := e.n.Arg(name).(type) {
	case int64:
		list = []int{int(v)}
	case []any:
		for _, item := range v {
			n, _ := item.(int64)
			list = append(list, int(n))
		}
	}
	if len(list) == 0 {
		list = []int{missing}
	}
	for len(list) < dims {
		list = append(list, list[0])
	}
	return list
}

// like is a number as a tensor of another one's type.
func (e *networkEncoder) like(other string, v float64) string {
	return e.filled(e.kind(other), []float64{v})
}

func unary(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op(operator, []string{x})}, err
	}
}

// operands are two arguments, of which one may be a number.
func (e *networkEncoder) operands(a, b any) (x, y string, err error) {
	given := []any{a, b}
	names := make([]string, 2)
	for k, arg := range given {
		if _, isNumber := asNumber(arg); !isNumber {
			if names[k], err = e.tensorOf(arg); err != nil {
				return "", "", err
			}
		}
	}
	for k, arg := range given {
		if v, isNumber := asNumber(arg); isNumber {
			other := names[1-k]
			if e.kind(other) == typeInt64 && v != math.Trunc(v) {
				return "", "", errors.New("a whole number meets one that is not")
			}
			names[k] = e.like(other, v)
		}
	}
	if kind := e.kind(names[0]); kind != e.kind(names[1]) { // as PyTorch promotes them
		for k := range names {
			if e.kind(names[k]) != typeFloat {
				names[k] = e.typed(typeFloat, "Cast", []string{names[k]}, attribute{"to", typeFloat})
			}
		}
	}
	return names[0], names[1], nil
}

func asNumber(arg any) (float64, bool) {
	switch v := arg.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func pairwise(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		if e.number("alpha", 1) != 1 || e.n.Arg("rounding_mode") != nil {
			return nil, errors.New("it scales or rounds")
		}
		second := e.n.Arg("other")
		if operator == "Pow" {
			second = e.n.Arg("exponent")
		}
		x, y, err := e.operands(e.n.Args[0].Value, second)
		if err != nil {
			return nil, err
		}
		if operator == "Div" && e.kind(x) == typeInt64 {
			return nil, errors.New("it divides whole numbers")
		}
		return []string{e.op(operator, []string{x, y})}, nil
	}
}

func compare(operator string, not bool) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, y, err := e.operands(e.n.Args[0].Value, e.n.Arg("other"))
		if err != nil {
			return nil, err
		}
		out := e.typed(typeBool, operator, []string{x, y})
		if not {
			out = e.op("Not", []string{out})
		}
		return []string{out}, nil
	}
}

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
	if _, text := e.n.Arg("padding").(string); text || len(shape) < 3 {
		return nil, errors.New("its padding is a word, or it has no weight")
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
	all := []attribute{{"kernel_shape", shape[2:]}, {"strides", e.whole("stride", dims, 1)}, {"pads", slices.Concat(padding, padding)},
		{"dilations", e.whole("dilation", dims, 1)}, {"group", int(e.number("groups", 1))}}
	if strings.HasPrefix(e.n.Operator, "conv_transpose") {
		return []string{e.op("ConvTranspose", in, append(all, attribute{"output_padding", e.whole("output_padding", dims, 0)})...)}, nil
	}
	return []string{e.op("Conv", in, all...)}, nil
}

// affine are the tensors of weight and bias, or ones and zeros.
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
		return nil, errors.New("it has no running statistics")
	}
	return []string{e.op("BatchNormalization", []string{x, w, b, mean, variance}, attribute{"epsilon", e.number("eps", 1e-5)})}, nil
}

func layerNormRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("input")
	shape := e.whole("normalized_shape", 1, 1)
	w, b, err2 := e.affine(shape...)
	return []string{e.op("LayerNormalization", []string{x, w, b}, attribute{"axis", -len(shape)}, attribute{"epsilon", e.number("eps", 1e-5)})}, errors.Join(err1, err2)
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
	out := e.op("Div", []string{x, e.op("Sqrt", []string{e.op("Add", []string{mean, e.like(x, e.number("eps", 0x1p-23))})})})
	if w != "" {
		out = e.op("Mul", []string{out, w})
	}
	return []string{out}, nil
}

func instanceNormRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("input")
	w, b, err2 := e.affine(e.shapeOf(e.n.Arg("input"))[1])
	if e.n.Arg("running_mean") != nil {
		return nil, errors.New("it has running statistics")
	}
	return []string{e.op("InstanceNormalization", []string{x, w, b}, attribute{"epsilon", e.number("eps", 1e-5)})}, errors.Join(err1, err2)
}

// resizeRule enlarges images to the size of the result.
func resizeRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.first()
	v := e.n.Results[0]
	all := []attribute{{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}
	if strings.HasPrefix(e.n.Operator, "upsample_bilinear2d") {
		all = []attribute{{"mode", "linear"}, {"coordinate_transformation_mode", map[bool]string{true: "align_corners", false: "half_pixel"}[e.truth("align_corners")]}}
	}
	in, out := e.shapeOf(e.n.Args[0].Value), e.shapes[v]
	scales := []float64{1, 1}
	for k := 2; k < len(in); k++ {
		scales = append(scales, float64(out[k])/float64(in[k]))
	}
	return []string{e.op("Resize", []string{x, "", e.filled(typeFloat, scales, len(scales))}, all...)}, err1
}

// groupNormRule normalises groups as the channels of an instance normalization.
func groupNormRule(e *networkEncoder) ([]string, error) {
	x, err := e.arg("input")
	shape := e.shapeOf(e.n.Arg("input"))
	groups := int(e.number("num_groups", 1))
	grouped := e.op("Reshape", []string{x, e.graph.shape(0, groups, -1)})
	normal := e.op("InstanceNormalization", []string{grouped, e.filled(typeFloat, ones(groups), groups), e.filled(typeFloat, make([]float64, groups), groups)}, attribute{"epsilon", e.number("eps", 1e-5)})
	y := e.op("Reshape", []string{normal, e.graph.shape(append([]int{-1}, shape[1:]...)...)})
	w, b, err2 := e.affine(shape[1])
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	beside := slices.Repeat([]int{1}, len(shape)-1)
	beside[0] = shape[1]
	y = e.op("Mul", []string{y, e.op("Reshape", []string{w, e.graph.shape(beside...)})})
	return []string{e.op("Add", []string{y, e.op("Reshape", []string{b, e.graph.shape(beside...)})})}, nil
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
		return nil, errors.New("it has no heads or examples")
	}
	if e.truth("enable_gqa") && rank == 4 && queries[1] != keys[1] {
		for _, x := range []*string{&k, &v} {
			*x = e.repeated(*x, keys, 1, queries[1]/keys[1])
		}
	}
	swap := []int{}
	for d := range rank {
		swap = append(swap, d)
	}
	swap[rank-1], swap[rank-2] = rank-2, rank-1
	scale := e.number("scale", 1/math.Sqrt(float64(queries[rank-1])))
	scores := e.op("MatMul", []string{e.op("Mul", []string{q, e.like(q, scale)}), e.op("Transpose", []string{k}, attribute{"perm", swap})})
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
	return []string{e.op("MatMul", []string{e.op("Softmax", []string{scores}, attribute{"axis", -1}), v})}, nil
}

// repeated repeats each item of a dimension.
func (e *networkEncoder) repeated(x string, shape []int, dim, times int) string {
	repeats := slices.Repeat([]int{1}, len(shape)+1)
	repeats[dim+1] = times
	wide := e.op("Tile", []string{e.op("Unsqueeze", []string{x, e.graph.shape(dim + 1)}), e.graph.shape(repeats...)})
	sizes := slices.Repeat([]int{0}, dim) // as they are
	return e.op("Reshape", []string{wide, e.graph.shape(append(append(sizes, shape[dim]*times), shape[dim+1:]...)...)})
}

func interleaveRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	repeats, isNumber := e.n.Arg("repeats").(int64)
	if err != nil || !isNumber || e.n.Arg("dim") == nil {
		return nil, errors.Join(err, errors.New("it repeats by a tensor, or without a dimension"))
	}
	return []string{e.repeated(x, e.shapeOf(e.n.Args[0].Value), e.dim("dim", 0), int(repeats))}, nil
}

func maskedFill(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("self")
	mask, err2 := e.arg("mask")
	v, isNumber := asNumber(e.n.Arg("value"))
	if !isNumber {
		return nil, errors.New("it is filled with a tensor")
	}
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return []string{e.typed(e.kind(x), "Where", []string{mask, e.like(x, v), x})}, nil
}

func whereRule(e *networkEncoder) ([]string, error) {
	condition, err := e.arg("condition")
	if err != nil {
		return nil, err
	}
	x, y, err := e.operands(e.n.Arg("self"), e.n.Arg("other"))
	return []string{e.typed(e.kind(x), "Where", []string{condition, x, y})}, err
}

func softmaxRule(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op(operator, []string{x}, attribute{"axis", e.dim("dim", -1)})}, err
	}
}

func reduced(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		rank := len(e.shapeOf(e.n.Args[0].Value))
		var axes []int
		if e.n.Arg("dim") != nil {
			axes = e.whole("dim", 1, 0)
		}
		if list, ok := e.n.Arg("dim").([]any); len(axes) == 0 || ok && len(list) == 0 {
			axes = nil
			for k := range rank {
				axes = append(axes, k)
			}
		}
		keep := attribute{"keepdims", map[bool]int{true: 1}[e.truth("keepdim")]}
		if operator == "ReduceSum" { // axes are an input from operator set 13 on
			return []string{e.op(operator, []string{x, e.graph.shape(axes...)}, keep)}, err
		}
		return []string{e.op(operator, []string{x}, attribute{"axes", axes}, keep)}, err
	}
}

func poolRule(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		kernel := e.whole("kernel_size", 2, 1)
		stride, padding := kernel, e.whole("padding", 2, 0)
		if list, ok := e.n.Arg("stride").([]any); ok && len(list) > 0 || e.n.Arg("stride") != nil && !ok {
			stride = e.whole("stride", 2, 1)
		}
		if e.truth("ceil_mode") || e.n.Arg("divisor_override") != nil {
			return nil, errors.New("it rounds up, or has a divisor")
		}
		all := []attribute{{"kernel_shape", kernel}, {"strides", stride}, {"pads", slices.Concat(padding, padding)}}
		if operator == "MaxPool" {
			all = append(all, attribute{"dilations", e.whole("dilation", 2, 1)})
		} else {
			counted := 1
			if include, ok := e.n.Arg("count_include_pad").(bool); ok && !include {
				counted = 0
			}
			all = append(all, attribute{"count_include_pad", counted})
		}
		return []string{e.op(operator, []string{x}, all...)}, err
	}
}

// adaptiveRule writes windows of one size, which it has where sizes divide.
func adaptiveRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	in, out := e.shapeOf(e.n.Args[0].Value), e.shapes[e.n.Results[0]]
	var kernel []int
	for k := len(in) - 2; k < len(in); k++ {
		if in[k]%out[k] != 0 {
			return nil, fmt.Errorf("its windows differ in size, %d in %d", out[k], in[k])
		}
		kernel = append(kernel, in[k]/out[k])
	}
	return []string{e.op("AveragePool", []string{x}, attribute{"kernel_shape", kernel}, attribute{"strides", kernel})}, err
}

// reshaped gives the shape of the result, whatever it is asked for.
func reshaped(e *networkEncoder) ([]string, error) {
	x, err1 := e.first()
	v := e.n.Results[0]
	shape, err2 := e.extent(e.shapes[v], e.larger[v], true)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return []string{e.op("Reshape", []string{x, shape})}, nil
}

func permuted(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	rank := len(e.shapeOf(e.n.Args[0].Value))
	var perm []int
	for k := range rank {
		perm = append(perm, k)
	}
	swap := func(a, b int) { perm[a], perm[b] = perm[b], perm[a] }
	switch op, _, _ := strings.Cut(e.n.Operator, "."); op {
	case "t":
		slices.Reverse(perm)
	case "permute":
		for k, d := range e.whole("dims", rank, 0) {
			perm[k] = (d + rank) % rank
		}
	case "swapaxes":
		swap(e.dim("axis0", 0), e.dim("axis1", 0))
	default:
		swap(e.dim("dim0", 0), e.dim("dim1", 0))
	}
	return []string{e.op("Transpose", []string{x}, attribute{"perm", perm})}, err
}

func expandRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.first()
	v := e.n.Results[0]
	shape, err2 := e.extent(e.shapes[v], e.larger[v], false)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return []string{e.op("Expand", []string{x, shape})}, nil
}

// parts are the tensors of a list.
func (e *networkEncoder) parts(name string) (list []string, err error) {
	items, _ := e.n.Arg(name).([]any)
	for _, item := range items {
		x, err := e.tensorOf(item)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	if len(list) == 0 {
		return nil, errors.New("it joins nothing")
	}
	return list, nil
}

func catRule(e *networkEncoder) ([]string, error) {
	list, err := e.parts("tensors")
	if err != nil {
		return nil, err
	}
	return []string{e.op("Concat", list, attribute{"axis", int(e.number("dim", 0))})}, nil
}

func stackRule(e *networkEncoder) ([]string, error) {
	list, err := e.parts("tensors")
	if err != nil {
		return nil, err
	}
	dim := int(e.number("dim", 0))
	for k := range list {
		list[k] = e.op("Unsqueeze", []string{list[k], e.graph.shape(dim)})
	}
	return []string{e.op("Concat", list, attribute{"axis", dim})}, nil
}

// splitRule divides a dimension into the sizes that the results have.
func splitRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	dim := e.dim("dim", 0)
	var sizes []int
	for _, v := range e.n.Results {
		if e.larger[v][dim] != e.shapes[v][dim] {
			return nil, errors.New("it divides the batch")
		}
		sizes = append(sizes, e.shapes[v][dim])
	}
	return e.split(x, dim, sizes), err
}

func (e *networkEncoder) split(x string, dim int, sizes []int) []string {
	return e.several("Split", []string{x, e.graph.shape(sizes...)}, len(sizes), attribute{"axis", dim})
}

// several adds a node with some results of the type of its first input.
func (e *networkEncoder) several(operator string, inputs []string, count int, attributes ...attribute) (results []string) {
	for range count {
		name := e.fresh()
		e.types[name] = e.kind(inputs[0])
		results = append(results, name)
	}
	e.add(operator, inputs, results, attributes)
	return results
}

func unbindRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	dim := e.dim("dim", 0)
	var results []string
	for k := range e.n.Results {
		results = append(results, e.op("Gather", []string{x, e.filled(typeInt64, []float64{float64(k)})}, attribute{"axis", dim}))
	}
	return results, err
}

func selectRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	at, isNumber := e.n.Arg("index").(int64)
	if !isNumber {
		return nil, errors.New("its place is computed")
	}
	return []string{e.op("Gather", []string{x, e.filled(typeInt64, []float64{float64(at)})}, attribute{"axis", e.dim("dim", 0)})}, err
}

func sliceRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	dim, v := e.dim("dim", 0), e.n.Results[0]
	start, step := e.number("start", 0), int(e.number("step", 1))
	if _, computed := e.n.Arg("start").(networks.Value); computed {
		return nil, errors.New("its beginning is computed")
	}
	end := math.MaxInt64
	if size := e.shapes[v][dim]; size == e.larger[v][dim] {
		from := int(start)
		if from < 0 {
			from += e.shapeOf(e.n.Args[0].Value)[dim]
		}
		end = from + size*step
		start = float64(from)
	} else if e.n.Arg("end") != nil && e.number("end", 0) < math.MaxInt32 {
		return nil, errors.New("it cuts the batch")
	}
	return []string{e.op("Slice", []string{x, e.graph.shape(int(start)), e.graph.shape(end), e.graph.shape(dim), e.graph.shape(step)})}, err
}

// arangeRule writes the numbers, of which there are as many as in the example.
func arangeRule(e *networkEncoder) ([]string, error) {
	v := e.n.Results[0]
	if e.shapes[v][0] != e.larger[v][0] {
		return nil, errors.New("its end changes with the batch")
	}
	start, step := e.number("start", 0), e.number("step", 1)
	values := make([]float64, e.shapes[v][0])
	for k := range values {
		values[k] = start + float64(k)*step
	}
	kind := int64(typeInt64)
	if d, ok := e.n.Arg("dtype").(weights.DType); ok {
		kind = onnxTypes[d]
	} else if start != math.Trunc(start) || step != math.Trunc(step) {
		kind = typeFloat
	}
	return []string{e.filled(kind, values, len(values))}, nil
}

func filledRule(value float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		kind := int64(typeFloat)
		if d, ok := e.n.Arg("dtype").(weights.DType); ok {
			kind = onnxTypes[d]
		}
		v := e.n.Results[0]
		shape, err := e.extent(e.shapes[v], e.larger[v], false)
		if err != nil {
			return nil, err
		}
		return []string{e.op("Expand", []string{e.filled(kind, []float64{value}), shape})}, nil
	}
}

func castRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	kind := e.kind(x)
	if d, ok := e.n.Arg("dtype").(weights.DType); ok {
		kind = onnxTypes[d]
	}
	if other, _ := e.arg("other"); other != "" {
		kind = e.kind(other)
	}
	if err != nil || kind == e.kind(x) {
		return []string{x}, err
	}
	return []string{e.typed(kind, "Cast", []string{x}, attribute{"to", int(kind)})}, nil
}

func clipRule(low, high string, least, most float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op("Clip", []string{x, e.like(x, e.number(low, least)), e.like(x, e.number(high, most))})}, err
	}
}

func slopeRule(operator, name string, missing float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op(operator, []string{x}, attribute{"alpha", e.number(name, missing)})}, err
	}
}

// geluRule writes x/2 · (1 + erf(x/√2)), or its approximation by tanh (Hendrycks and Gimpel 2016).
func geluRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	if err != nil {
		return nil, err
	}
	times := func(a, b string) string { return e.op("Mul", []string{a, b}) }
	inner := e.op("Erf", []string{times(x, e.like(x, math.Sqrt(0.5)))})
	if approximate, _ := e.n.Arg("approximate").(string); approximate == "tanh" {
		cube := times(times(times(x, x), x), e.like(x, 0.044715))
		inner = e.op("Tanh", []string{times(e.op("Add", []string{x, cube}), e.like(x, math.Sqrt(2/math.Pi)))})
	}
	return []string{times(times(x, e.like(x, 0.5)), e.op("Add", []string{inner, e.like(x, 1)}))}, nil
}

func siluRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("Mul", []string{x, e.op("Sigmoid", []string{x})})}, err
}

func rsqrtRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("Reciprocal", []string{e.op("Sqrt", []string{x})})}, err
}
