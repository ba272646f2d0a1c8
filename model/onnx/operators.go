package onnx

import (
	"maps"
	"math"
	"strings"

	networks "graft/model/graph"
	"graft/torch"
)

// operatorRule writes the current node and returns the names of its results.
type operatorRule func(e *networkEncoder) ([]string, error)

// operatorRules hold a rule for each operator of a graph, by its name without the overload.
var operatorRules map[string]operatorRule

func init() { // rules refer to each other
	operatorRules = arithmeticRules()
	maps.Copy(operatorRules, map[string]operatorRule{
		"linear": linearRule, "matmul": product("self", "other"), "bmm": product("self", "mat2"),
		"mm": product("self", "mat2"), "mv": product("self", "vec"), "dot": product("self", "tensor"),
		"outer": outerRule, "einsum": einsumRule, "addmm": summedProduct("mat1", "mat2"),
		"baddbmm": summedProduct("batch1", "batch2"),
		"conv1d":  convRule, "conv2d": convRule, "conv3d": convRule,
		"conv_transpose1d": convRule, "conv_transpose2d": convRule,
		"conv_transpose3d": convRule,
		"instance_norm":    instanceNormRule, "upsample_nearest2d": resizeRule, "upsample_bilinear2d": resizeRule,
		"_upsample_nearest_exact2d": resizeRule, "embedding": embeddingRule,
		"lstm": recurrentRule, "gru": recurrentRule, "rnn_tanh": recurrentRule,
		"rnn_relu": recurrentRule, "scaled_dot_product_attention": attentionRule,
		"batch_norm": batchNormRule, "layer_norm": layerNormRule, "rms_norm": rmsNormRule, "group_norm": groupNormRule,
		"max_pool2d": maxPoolRule, "avg_pool2d": averagePoolRule, "adaptive_avg_pool2d": adaptiveRule,
		"max_pool1d": lineRule(maxOfLine), "avg_pool1d": lineRule(averageOfLine),
		"adaptive_avg_pool1d": lineRule(adaptiveOfLine), "adaptive_max_pool1d": largestOfAll,
		"adaptive_max_pool2d": largestOfAll, "view_as": reshaped, "reshape_as": reshaped,
		"view": reshaped, "reshape": reshaped, "flatten": reshaped, "unflatten": reshaped, "squeeze": reshaped,
		"unsqueeze": reshaped,
		"transpose": permuted, "swapaxes": permuted, "permute": permuted, "t": permuted, "expand": expandRule,
		"expand_as": expandRule, "movedim": permuted, "numpy_T": permuted,
		"pad": padRule("pad", "constant"), "constant_pad_nd": padRule("pad", "constant"),
		"reflection_pad1d": padRule("padding", "reflect"), "reflection_pad2d": padRule("padding", "reflect"),
		"replication_pad1d": padRule("padding", "replicate"), "replication_pad2d": padRule("padding", "replicate"),
		"flip": flipRule, "roll": rollRule, "tril": triangleRule(0), "triu": triangleRule(1),
		"repeat": repeatRule("repeats"), "tile": repeatRule("dims"), "narrow": narrowRule, "pixel_shuffle": pixelRule,
		"pixel_unshuffle": unshuffleRule, "channel_shuffle": channelsRule,
		"index_select": pickRule("Gather"), "gather": pickRule("GatherElements"),
		"cat": catRule, "stack": stackRule, "chunk": splitRule, "split": splitRule, "split_with_sizes": splitRule,
		"unbind": unbindRule, "select": selectRule, "slice": sliceRule,
		"repeat_interleave": interleaveRule, "arange": arangeRule, "linspace": linspaceRule,
		"zeros": filledRule(0), "ones": filledRule(1),
		"full": fullRule, "full_like": likeRule(nil), "zeros_like": likeRule(0.0), "ones_like": likeRule(1.0),
		"new_full": likeRule(nil), "new_zeros": likeRule(0.0), "new_ones": likeRule(1.0),
		"to": castRule, "_to_copy": castRule, "type_as": castRule,
		"hardtanh": clipRule("min_val", "max_val", -1, 1), "clamp": clampRule, "clamp_min": clampRule,
		"clamp_max": clampRule, "softplus": softplusRule, "log_sigmoid": logSigmoidRule, "mish": mishRule,
		"hardsigmoid": hardSigmoidRule, "selu": realOnly("Selu"), "celu": celuRule, "prelu": preluRule, "glu": gluRule,
		"hardshrink": hardShrinkRule, "softshrink": softShrinkRule, "threshold": thresholdRule,
		"gelu": geluRule, "rsqrt": rsqrtRule, "leaky_relu": activated(torch.LeakyReLU, "negative_slope", 0.01),
		"elu":  activated(torch.ELU, "alpha", 1),
		"relu": activated(torch.ReLU, "", 0), "relu6": activated(torch.ReLU6, "", 0),
		"sigmoid": activated(torch.Sigmoid, "", 0), "tanh": activated(torch.Tanh, "", 0),
		"neg": unary("Neg"), "abs": unary("Abs"), "sign": unary("Sign"), "floor": rounded("Floor"),
		"ceil": rounded("Ceil"), "trunc": truncRule, "round": roundRule,
		"log2": scaledLogRule(math.Log2E), "exp2": exp2Rule, "log1p": log1pRule, "expm1": expm1Rule, "lerp": lerpRule,
		"silu": activated(torch.SiLU, "", 0), "hardswish": activated(torch.Hardswish, "", 0),
	})
	for _, name := range strings.Fields("dropout feature_dropout alias contiguous detach clone") {
		operatorRules[name] = func(e *networkEncoder) ([]string, error) { return e.one(e.first()) }
	}
	for name, operator := range map[string]string{"exp": "Exp", "log": "Log", "sqrt": "Sqrt", "erf": "Erf",
		"reciprocal": "Reciprocal", "sin": "Sin", "cos": "Cos", "tan": "Tan", "atan": "Atan", "sinh": "Sinh",
		"cosh": "Cosh"} {
		operatorRules[name] = realOnly(operator)
	}
}

// arithmeticRules are the rules of operators on pairs of values, comparisons and reductions.
func arithmeticRules() map[string]operatorRule {
	return map[string]operatorRule{
		"add": pairwise("Add"), "sub": pairwise("Sub"), "mul": pairwise("Mul"), "div": pairwise("Div"),
		"pow": pairwise("Pow"), "maximum": pairwise("Max"), "minimum": pairwise("Min"),
		"eq": compare("Equal", false), "ne": compare("Equal", true), "lt": compare("Less", false),
		"le": compare("LessOrEqual", false), "gt": compare("Greater", false), "ge": compare("GreaterOrEqual", false),
		"bitwise_not": bitwiseNot, "logical_not": logicalNot, "masked_fill": maskedFill, "where": whereRule,
		"bitwise_and": bitwise("And"), "bitwise_or": bitwise("Or"), "bitwise_xor": bitwise("Xor"),
		"logical_and": logical("And"), "logical_or": logical("Or"), "logical_xor": logical("Xor"),
		"isnan": isNaNRule, "rsub": reversedSub, "remainder": remainderRule, "fmod": fmodRule, "square": squareRule,
		"softmax": softmaxRule("Softmax"), "log_softmax": softmaxRule("LogSoftmax"), "mean": reduced("ReduceMean"),
		"sum": reduced("ReduceSum"), "amax": extremesRule("ReduceMax"), "amin": extremesRule("ReduceMin"),
		"max":    extremeRule("Max", "ReduceMax", "ArgMax"),
		"min":    extremeRule("Min", "ReduceMin", "ArgMin"),
		"argmax": placeRule("ArgMax"), "argmin": placeRule("ArgMin"), "any": quantifierRule("ReduceMax"),
		"all": quantifierRule("ReduceMin"), "prod": productRule, "logsumexp": logSumExpRule,
		"var": varianceRule(false), "std": varianceRule(true),
		"linalg_vector_norm": lengthRule, "one_hot": oneHotRule, "cumsum": runningSumRule, "topk": largestRule,
	}
}

// arg returns the name of an argument that is a tensor; empty if it is not one.
func (e *networkEncoder) arg(name string) (string, error) {
	value := e.n.Arg(name)
	if value == nil {
		return "", nil
	}
	return e.tensorOf(value)
}

// first returns the first argument, which is a tensor.
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

// dim returns a dimension of the first argument, counted from the start.
func (e *networkEncoder) dim(name string, missing int) int {
	d := int(e.number(name, float64(missing)))
	if d < 0 {
		d += len(e.shapeOf(e.n.Args[0].Value))
	}
	return d
}

// list returns the numbers of a list, or of a single number; nil if the argument is missing.
func (e *networkEncoder) list(name string) (list []int) {
	switch v := e.n.Arg(name).(type) {
	case int64:
		list = []int{int(v)}
	case []any:
		for _, item := range v {
			n, _ := item.(int64)
			list = append(list, int(n))
		}
	}
	return list
}

// whole returns the numbers of a list, or one number for each of dims dimensions.
func (e *networkEncoder) whole(name string, dims, missing int) []int {
	list := e.list(name)
	if len(list) == 0 {
		list = []int{missing}
	}
	for len(list) < dims {
		list = append(list, list[0])
	}
	return list
}

// like returns a number as a tensor of another tensor's type.
func (e *networkEncoder) like(other string, v float64) string {
	return e.filled(e.kind(other), []float64{v})
}
