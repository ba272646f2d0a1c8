package torch

import (
	"slices"
	"strings"
)

// operators are the operators that programs of NewCalls may use: functions of tensors and sizes without side effects,
// by name, with their overloads. Names are ATen's; "operator" is Python's module, for arithmetic on sizes.
var operators = map[string][]string{
	"conv1d": paddedOp, "conv2d": paddedOp, "conv3d": paddedOp,
	"conv_transpose1d": plainOp, "conv_transpose2d": {"input"}, "conv_transpose3d": {"input"}, "_weight_norm": plainOp,
	"bilinear": plainOp,
	"linear":   plainOp, "matmul": plainOp, "bmm": plainOp, "mm": plainOp, "addmm": plainOp, "baddbmm": plainOp,
	"outer": plainOp, "mv": plainOp, "dot": plainOp,
	"embedding": plainOp, "lstm": {"input"}, "gru": {"input"}, "rnn_tanh": {"input"}, "rnn_relu": {"input"},
	"batch_norm": plainOp, "layer_norm": plainOp, "group_norm": plainOp, "instance_norm": plainOp, "rms_norm": plainOp,
	"dropout": plainOp, "feature_dropout": plainOp, "scaled_dot_product_attention": plainOp,

	"relu": plainOp, "relu6": plainOp, "hardtanh": plainOp, "leaky_relu": plainOp, "elu": plainOp, "selu": plainOp,
	"celu": plainOp,
	"gelu": plainOp, "silu": plainOp, "mish": plainOp, "hardswish": plainOp, "hardsigmoid": plainOp, "sigmoid": plainOp,
	"tanh":     plainOp,
	"softplus": plainOp, "log_sigmoid": plainOp, "prelu": plainOp, "glu": plainOp, "hardshrink": plainOp,
	"softshrink": plainOp, "threshold": plainOp,
	"softmax": {"int"}, "log_softmax": {"int"},

	"max_pool1d": plainOp, "max_pool2d": plainOp, "max_pool3d": plainOp, "avg_pool1d": plainOp, "avg_pool2d": plainOp,
	"avg_pool3d":          plainOp,
	"adaptive_avg_pool1d": plainOp, "adaptive_avg_pool2d": plainOp, "adaptive_avg_pool3d": plainOp,
	"adaptive_max_pool1d": plainOp, "adaptive_max_pool2d": plainOp,
	"upsample_nearest1d": {"vec"}, "upsample_linear1d": {"vec"}, "upsample_nearest3d": {"vec"},
	"upsample_trilinear3d": {"vec"}, "upsample_nearest2d": {"vec"}, "upsample_bilinear2d": {"vec"},
	"upsample_bicubic2d": {"vec"}, "_upsample_nearest_exact1d": {"vec"}, "_upsample_nearest_exact2d": {"vec"},
	"_upsample_nearest_exact3d": {"vec"}, "pixel_shuffle": plainOp, "pixel_unshuffle": plainOp,

	"add": arithmeticOp, "sub": arithmeticOp, "mul": arithmeticOp, "div": {"Tensor", "Scalar", "Tensor_mode"},
	"rsub": arithmeticOp,
	"pow":  {"Tensor_Scalar", "Tensor_Tensor", "Scalar"}, "maximum": plainOp, "minimum": plainOp,
	"neg": plainOp, "abs": plainOp, "exp": plainOp, "log": plainOp, "sqrt": plainOp, "rsqrt": plainOp,
	"reciprocal": plainOp, "square": plainOp,
	"sin": plainOp, "cos": plainOp, "tan": plainOp, "atan": plainOp, "sinh": plainOp, "cosh": plainOp, "erf": plainOp,
	"log1p": plainOp, "log2": plainOp, "expm1": plainOp, "exp2": plainOp,
	"ceil": plainOp, "round": {"default", "decimals"}, "trunc": plainOp, "remainder": arithmeticOp,
	"fmod":    arithmeticOp,
	"addcmul": plainOp, "addcdiv": plainOp, "lerp": arithmeticOp, "nan_to_num": plainOp,
	"clamp": {"default", "Tensor"}, "clamp_min": plainOp, "clamp_max": plainOp,
	"floor": plainOp, "sign": plainOp, "detach": plainOp,
	"eq": compareOp, "ne": compareOp, "lt": compareOp, "le": compareOp, "gt": compareOp, "ge": compareOp,
	"bitwise_not": plainOp, "logical_not": plainOp, "logical_and": plainOp, "logical_or": plainOp,
	"logical_xor": plainOp, "isnan": plainOp, "bitwise_xor": arithmeticOp, "bitwise_and": arithmeticOp,
	"bitwise_or": arithmeticOp,
	"where":      {"self", "ScalarOther", "ScalarSelf", "Scalar"}, "masked_fill": {"Scalar", "Tensor"}, "tril": plainOp,
	"triu": plainOp,
	"mean": {"default", "dim"}, "sum": {"default", "dim_IntList"}, "amax": plainOp, "amin": plainOp, "max": {"default",
		"dim", "other"}, "min": {"default", "dim", "other"}, "argmax": plainOp, "argmin": plainOp, "logsumexp": plainOp,
	"var": {"default", "correction", "dim"}, "std": {"default", "correction", "dim"}, "prod": {"default", "dim_int"},
	"all": {"default", "dim"}, "any": {"default", "dim"}, "topk": plainOp, "cosine_similarity": plainOp,
	"cdist":  plainOp,
	"cumsum": plainOp, "diff": plainOp, "linalg_vector_norm": plainOp, "norm": {"ScalarOpt_dim"},

	"cat": plainOp, "stack": plainOp, "chunk": plainOp, "split": {"Tensor", "sizes"}, "split_with_sizes": plainOp,
	"unbind": {"int"},
	"view":   plainOp, "reshape": plainOp, "flatten": {"using_ints"}, "unflatten": {"int"}, "transpose": {"int"},
	"t": plainOp, "numpy_T": plainOp, "permute": plainOp, "movedim": {"int"},
	"contiguous": plainOp, "clone": plainOp, "alias": plainOp, "expand": plainOp, "expand_as": plainOp,
	"repeat": plainOp, "repeat_interleave": {"self_int"},
	"slice_scatter": plainOp, "select_scatter": plainOp, "index_put": plainOp, "swapaxes": plainOp, "col2im": plainOp,
	"squeeze": {"default", "dim"}, "unsqueeze": plainOp, "select": {"int"}, "slice": {"Tensor"}, "narrow": plainOp,
	"flip": plainOp, "roll": plainOp, "tile": plainOp, "view_as": plainOp, "reshape_as": plainOp, "diagonal": plainOp,
	"unfold": plainOp, "im2col": plainOp, "channel_shuffle": plainOp, "meshgrid": {"default", "indexing"},
	"index_select": plainOp, "gather": plainOp, "index": {"Tensor"}, "pad": plainOp, "constant_pad_nd": plainOp,
	"reflection_pad1d": plainOp, "reflection_pad2d": plainOp, "replication_pad1d": plainOp,
	"replication_pad2d": plainOp,
	"arange":            {"default", "start", "start_step"}, "zeros": plainOp, "ones": plainOp, "full": plainOp,
	"new_zeros": plainOp, "new_ones": plainOp, "new_full": plainOp, "linspace": plainOp, "one_hot": plainOp,
	"grid_sampler": plainOp, "zeros_like": plainOp, "ones_like": plainOp, "full_like": plainOp, "to": {"dtype"},
	"_to_copy": plainOp, "type_as": plainOp, "einsum": plainOp,

	"sym_size": {"int"},
}

var (
	plainOp      = []string{"default"}
	paddedOp     = []string{"default", "padding"} // the padding is a number, or a word
	arithmeticOp = []string{"Tensor", "Scalar"}
	compareOp    = []string{"Tensor", "Scalar"}
)

// sizeOperators are Python's operators on sizes.
var sizeOperators = map[string]bool{"add": true, "sub": true, "mul": true, "floordiv": true}

// CountBatch is the name of the operator that adds one to a counter tensor in place. KnowsOperator returns false for
// it.
const CountBatch = "graft.count"

// KnowsOperator reports whether graft supports an operator, such as conv2d.default, in programs that NewCalls creates.
func KnowsOperator(name string) bool {
	_, _, _, ok := splitOperator(name)
	return ok && name != CountBatch
}

// PassesOperator reports whether a network may call an operator of LibTorch that graft does not support itself, such as
// special_i0.default. The call fails if LibTorch lacks the operator, or if the operator is not a function of tensors
// and numbers.
func PassesOperator(name string) bool {
	op, overload, _ := strings.Cut(name, ".")
	return passable[op] && overload != "" && !strings.HasSuffix(overload, "out") && !KnowsOperator(name)
}

// splitOperator divides the name of an allowed operator as LibTorch's dispatcher does.
func splitOperator(name string) (space, op, overload string, ok bool) {
	op, overload, _ = strings.Cut(name, ".")
	if name == CountBatch {
		return op, overload, "", true
	}
	if op == "operator" {
		return "_operator", overload, "", sizeOperators[overload]
	}
	ok = slices.Contains(operators[op], overload)
	if overload == "default" {
		overload = ""
	}
	return "aten", op, overload, ok
}
