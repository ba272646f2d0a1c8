package graph

import (
	"fmt"
	"slices"
	"strings"
)

func printConv(r *recoverer, path string) string {
	n, shape := r.convolution(path), r.shape(path, "weight")
	if len(shape) < 3 {
		return ""
	}
	groups, _ := n.Arg("groups").(int64)
	in, out := shape[1]*max(int(groups), 1), shape[0]
	transposed := strings.HasPrefix(n.Operator, "conv_transpose")
	if transposed {
		in, out = shape[0], shape[1]*max(int(groups), 1)
	}
	stride := tuple(n.Arg("stride"))
	if n.Arg("stride") == nil {
		stride = sizesText(slices.Repeat([]int{1}, len(shape)-2))
	}
	text := fmt.Sprintf("%d, %d, kernel_size=%s, stride=%s", in, out, sizesText(shape[2:]), stride)
	mode := paddingMode(r.node(path))
	if padding := n.Arg("padding"); mode != "" {
		text += ", padding=" + paddingOf(r.node(path))
	} else if word, ok := padding.(string); ok {
		text += ", padding=" + word
	} else if !all(padding, 0) {
		text += ", padding=" + tuple(padding)
	}
	if !all(n.Arg("dilation"), 1) {
		text += ", dilation=" + tuple(n.Arg("dilation"))
	}
	if transposed && !all(n.Arg("output_padding"), 0) {
		text += ", output_padding=" + tuple(n.Arg("output_padding"))
	}
	if groups > 1 {
		text += fmt.Sprintf(", groups=%d", groups)
	}
	if !r.has(path, "bias") {
		text += ", bias=False"
	}
	return text + mode
}

// convolution returns the first call of a convolution in a module. Other operators may precede it, such as the padding
// of another mode than zeros.
func (r *recoverer) convolution(path string) *Node {
	for _, n := range r.nodes[path] {
		if strings.HasPrefix(n.Operator, "conv") {
			return n
		}
	}
	return &Node{}
}

// paddingMode returns the text of a padding that is not zeros; empty for other operators.
func paddingMode(n *Node) string {
	if mode, _ := n.Arg("mode").(string); n.Operator == "pad.default" && mode != "" && mode != "constant" {
		return ", padding_mode=" + mode
	}
	return ""
}

// paddingOf returns the padding of a convolution that pads by itself: pad has the last dimension first, and both sides
// of each. Sides differ only for padding='same'.
func paddingOf(n *Node) string {
	sides, _ := n.Arg("pad").([]any)
	var sizes []any
	for k := len(sides) - 2; k >= 0; k -= 2 {
		if sides[k] != sides[k+1] {
			return "same"
		}
		sizes = append(sizes, sides[k])
	}
	return tuple(sizes)
}

func printLinear(r *recoverer, path string) string {
	return fmt.Sprintf("in_features=%d, out_features=%d, bias=%s", r.size(path, "weight", 1), r.size(path, "weight", 0),
		truthText(r.has(path, "bias")))
}

func printEmbedding(r *recoverer, path string) string {
	text := fmt.Sprintf("%d, %d", r.size(path, "weight", 0), r.size(path, "weight", 1))
	if index, ok := r.node(path).Arg("padding_idx").(int64); ok && index >= 0 {
		text += fmt.Sprintf(", padding_idx=%d", index)
	}
	return text
}

// printBatchNorm needs a tensor of the module for the number of channels.
func printBatchNorm(r *recoverer, path string) string {
	n := r.node(path)
	channels := max(r.size(path, "weight", 0), r.size(path, "running_mean", 0))
	return fmt.Sprintf("%d, eps=%s, momentum=%s, affine=%s, bias=%s, track_running_stats=%s", channels,
		number(n.Arg("eps"), 1e-5), number(n.Arg("momentum"), 0.1), truthText(r.has(path, "weight")),
		truthText(r.has(path, "bias")), truthText(r.has(path, "running_mean")))
}

func printLayerNorm(r *recoverer, path string) string {
	n := r.node(path)
	return fmt.Sprintf("%s, eps=%s, elementwise_affine=%s, bias=%s", tuple(n.Arg("normalized_shape")),
		number(n.Arg("eps"), 1e-5), truthText(r.has(path, "weight")), truthText(r.has(path, "bias")))
}

// printRMSNorm is empty for user-written classes with this name.
func printRMSNorm(r *recoverer, path string) string {
	n := r.node(path)
	if n.Operator != "rms_norm.default" {
		return ""
	}
	eps := "None"
	if n.Arg("eps") != nil {
		eps = number(n.Arg("eps"), 0)
	}
	return fmt.Sprintf("%s, eps=%s, elementwise_affine=%s", tuple(n.Arg("normalized_shape")), eps,
		truthText(r.has(path, "weight")))
}

func printGroupNorm(r *recoverer, path string) string {
	n := r.node(path)
	return fmt.Sprintf("%s, %d, eps=%s, affine=%s, bias=%s", pythonText(n.Arg("num_groups")), r.size(path, "weight", 0),
		number(n.Arg("eps"), 1e-5), truthText(r.has(path, "weight")), truthText(r.has(path, "bias")))
}

func printMaxPool(r *recoverer, path string) string {
	n := r.node(path)
	ceil, _ := n.Arg("ceil_mode").(bool)
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s, dilation=%s, ceil_mode=%s", short(n.Arg("kernel_size")),
		orText(short(n.Arg("stride")), short(n.Arg("kernel_size"))), orText(short(n.Arg("padding")), "0"),
		orText(short(n.Arg("dilation")), "1"), truthText(ceil))
}

func printAvgPool(r *recoverer, path string) string {
	n := r.node(path)
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s", short(n.Arg("kernel_size")),
		orText(short(n.Arg("stride")), short(n.Arg("kernel_size"))), orText(short(n.Arg("padding")), "0"))
}

func printLSTM(r *recoverer, path string) string {
	nodes := r.nodes[path]
	if len(nodes) == 0 {
		return ""
	}
	n := nodes[len(nodes)-1]
	text := fmt.Sprintf("%d, %d", r.size(path, "weight_ih_l0", 1), r.size(path, "weight_hh_l0", 1))
	if layers, _ := n.Arg("num_layers").(int64); layers != 1 {
		text += fmt.Sprintf(", num_layers=%d", layers)
	}
	if biases, given := n.Arg("has_biases").(bool); given && !biases {
		text += ", bias=False"
	}
	if on, _ := n.Arg("batch_first").(bool); on {
		text += ", batch_first=True"
	}
	if p, _ := n.Arg("dropout").(float64); p != 0 {
		text += ", dropout=" + number(p, 0)
	}
	if on, _ := n.Arg("bidirectional").(bool); on {
		text += ", bidirectional=True"
	}
	return text
}

func printUpsample(r *recoverer, path string) string {
	n := r.node(path)
	mode := "nearest"
	if strings.Contains(n.Operator, "bilinear") {
		mode = "bilinear"
	}
	if factors, ok := n.Arg("scale_factors").([]any); ok && len(factors) > 0 {
		return fmt.Sprintf("scale_factor=%s, mode='%s'", number(factors[0], 0), mode)
	}
	return fmt.Sprintf("size=%s, mode='%s'", short(n.Arg("output_size")), mode)
}
