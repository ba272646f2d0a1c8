package reader

import (
	"fmt"
	"slices"
	"strings"
)

// attributes lists the attributes that each operator may have, separated by spaces. "name=N" permits only the whole
// number N, "name=text" only this text: another value changes the result in a way that graft does not support.
var attributes = map[string]string{
	"Conv":                  "auto_pad dilations group kernel_shape pads strides",
	"ConvTranspose":         "auto_pad dilations group kernel_shape output_padding pads strides",
	"Gemm":                  "alpha beta transA transB",
	"BatchNormalization":    "epsilon momentum training_mode=0",
	"LayerNormalization":    "axis epsilon stash_type",
	"InstanceNormalization": "epsilon",
	"LSTM":                  "direction hidden_size input_forget=0 layout=0",
	"GRU":                   "direction hidden_size layout=0 linear_before_reset",
	"RNN":                   "activations direction hidden_size layout=0",
	"Dropout":               "seed",
	"Elu":                   "alpha",
	"LeakyRelu":             "alpha",
	"Gelu":                  "approximate",
	"Softmax":               "axis",
	"LogSoftmax":            "axis",
	"MaxPool":               "auto_pad ceil_mode dilations kernel_shape pads storage_order strides",
	"AveragePool":           "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides",
	"ReduceMean":            "axes keepdims noop_with_empty_axes=0",
	"ReduceMax":             "axes keepdims noop_with_empty_axes=0",
	"ReduceMin":             "axes keepdims noop_with_empty_axes=0",
	"ReduceSum":             "axes keepdims noop_with_empty_axes=0",
	"Resize": "antialias=0 coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value " +
		"keep_aspect_ratio_policy=stretch mode nearest_mode",
	"Concat":          "axis",
	"Split":           "axis num_outputs",
	"Reshape":         "allowzero",
	"Flatten":         "axis",
	"Transpose":       "perm",
	"Gather":          "axis",
	"Shape":           "end start",
	"Cast":            "round_mode saturate to",
	"Constant":        "value",
	"Trilu":           "upper",
	"Mod":             "fmod",
	"HardSigmoid":     "alpha beta",
	"Selu":            "alpha gamma",
	"Celu":            "alpha",
	"ReduceLogSumExp": "axes keepdims noop_with_empty_axes=0",
	"ReduceProd":      "axes keepdims noop_with_empty_axes=0",
	"ArgMax":          "axis keepdims select_last_index=0",
	"ArgMin":          "axis keepdims select_last_index=0",
	"CumSum":          "exclusive=0 reverse=0",
	"TopK":            "axis largest sorted",
	"GatherElements":  "axis",
	"Einsum":          "equation",
	"Pad":             "mode",
	"ReduceL1":        "axes keepdims noop_with_empty_axes=0",
	"ReduceL2":        "axes keepdims noop_with_empty_axes=0",
	"OneHot":          "axis",
	"ConstantOfShape": "value",
	"DepthToSpace":    "blocksize mode",
}

// checkAttributes refuses attributes that would be ignored although they may change the result.
func (n *node) checkAttributes() error {
	known := strings.Fields(attributes[n.op])
	for name, a := range n.attributes {
		at := slices.IndexFunc(known, func(k string) bool { return k == name || strings.HasPrefix(k, name+"=") })
		if at < 0 {
			return fmt.Errorf("graft does not support the attribute %.100q of this operator; "+
				"export the network as a .pt2 archive", name)
		}
		_, want, fixed := strings.Cut(known[at], "=")
		if got := a.String(); fixed && got != want {
			return fmt.Errorf("the attribute %s is %.40s, and graft supports only %s; export the model for inference, "+
				"or the network as a .pt2 archive", name, got, want)
		}
	}
	return nil
}

// String formats the value of an attribute that is a text or a whole number.
func (a *attribute) String() string {
	if a.text != "" {
		return a.text
	}
	return fmt.Sprint(a.whole)
}
