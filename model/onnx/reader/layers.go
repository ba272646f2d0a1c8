package reader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/model/graph"
	"graft/torch/weights"
)

// short is the shortest decimal that rounds to a float32, which is the number before it was rounded.
func short(v float32) float64 {
	d, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	if err != nil {
		return float64(v)
	}
	return d
}

// anys makes an argument of a list.
func anys(list []int64) []any {
	out := make([]any, len(list))
	for k, v := range list {
		out[k] = v
	}
	return out
}

// window holds the common attributes of convolutions and pools.
type window struct{ stride, padding, dilation []any }

// window reads strides, pads and dilations for a number of dimensions.
func (c *call) window(dims int) (w window, err error) {
	if auto := c.text("auto_pad", "NOTSET"); auto != "NOTSET" && auto != "VALID" {
		return w, fmt.Errorf("auto_pad is %.40q; export with explicit pads, or for inputs of constant size", auto)
	}
	ones, zeros := slices.Repeat([]int64{1}, dims), slices.Repeat([]int64{0}, 2*dims)
	stride, dilation, pads := c.list("strides"), c.list("dilations"), c.list("pads")
	if stride == nil {
		stride = ones
	}
	if dilation == nil {
		dilation = ones
	}
	if pads == nil {
		pads = zeros
	}
	if len(stride) != dims || len(dilation) != dims || len(pads) != 2*dims || !slices.Equal(pads[:dims], pads[dims:]) {
		return w, fmt.Errorf("got strides %v, dilations %v and pads %v for %d dimensions; expected a value for each "+
			"dimension, and equal pads at both ends", stride, dilation, pads, dims)
	}
	return window{anys(stride), anys(pads[:dims]), anys(dilation)}, nil
}

// layer reads the input and the weight, which has at least the given rank.
func (c *call) layer(rank int) (x, w operand, dims int, err error) {
	if x, err = c.need(0); err == nil {
		w, err = c.need(1)
	}
	if err == nil {
		dims, err = c.rank(w)
	}
	if err == nil && dims < rank {
		err = fmt.Errorf("unsupported weight with %d dimensions", dims)
	}
	return x, w, dims, err
}

func convolution(c *call) error {
	x, w, rank, err := c.layer(3)
	if err != nil || rank > 5 {
		return orElse(err, "unsupported weight with %d dimensions", rank)
	}
	if t := c.tensors[w.name]; t != nil {
		var kernel []int
		for _, size := range t.dims[2:] {
			kernel = append(kernel, int(size))
		}
		c.automatic(x, kernel)
	}
	from, err := c.unequal(x, rank-2)
	if err != nil {
		return err
	}
	win, err := c.window(rank - 2)
	if err != nil {
		return err
	}
	return c.done(fmt.Sprintf("conv%dd.default", rank-2), graph.Arg{Name: "input", Value: from}, c.arg("weight", w),
		c.optional("bias", c.operand(2)), graph.Arg{Name: "stride", Value: win.stride},
		graph.Arg{Name: "padding", Value: win.padding}, graph.Arg{Name: "dilation", Value: win.dilation},
		graph.Arg{Name: "groups", Value: c.whole("group", 1)})
}

func transposed(c *call) error {
	x, w, rank, err := c.layer(3)
	if err != nil || rank > 5 {
		return orElse(err, "unsupported weight with %d dimensions", rank)
	}
	win, err := c.window(rank - 2)
	if err != nil {
		return err
	}
	extra := c.list("output_padding")
	if extra == nil {
		extra = make([]int64, rank-2)
	}
	operator := []string{"conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input"}[rank-3]
	return c.done(operator, c.arg("input", x), c.arg("weight", w), c.optional("bias", c.operand(2)),
		graph.Arg{Name: "stride", Value: win.stride}, graph.Arg{Name: "padding", Value: win.padding},
		graph.Arg{Name: "output_padding", Value: anys(extra)}, graph.Arg{Name: "groups", Value: c.whole("group", 1)},
		graph.Arg{Name: "dilation", Value: win.dilation})
}

func gemm(c *call) error {
	x, w, _, err := c.layer(2)
	if err != nil {
		return err
	}
	if c.whole("transA", 0) != 0 {
		return fmt.Errorf("a matrix product with transA is not supported")
	}
	weight := c.arg("weight", w)
	if c.whole("transB", 0) == 0 {
		weight.Value = c.emit("t.default", c.node.out[0]+"_t", c.arg("self", w))
	}
	alpha, beta := c.real("alpha", 1), c.real("beta", 1)
	if alpha == 1 && (beta == 1 || !c.operand(2).given) {
		return c.done("linear.default", c.arg("input", x), weight, c.optional("bias", c.operand(2)))
	}
	made := c.emit("linear.default", c.node.out[0]+"_product", c.arg("input", x), weight, graph.Arg{Name: "bias"})
	scaled := c.emit("mul.Tensor", c.node.out[0], graph.Arg{Name: "self", Value: made},
		graph.Arg{Name: "other", Value: alpha})
	if o := c.operand(2); o.given {
		scaled = c.emit("add.Tensor", c.node.out[0], graph.Arg{Name: "self", Value: scaled}, c.arg("other", o),
			graph.Arg{Name: "alpha", Value: beta})
	}
	c.set(c.node.out[0], scaled)
	return nil
}

func batchNorm(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	args := []graph.Arg{c.arg("input", x)}
	for k, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		o, err := c.need(k + 1)
		if err != nil {
			return err
		}
		args = append(args, c.arg(name, o))
		if k >= 2 {
			c.roles[o.name] = graph.Buffer
		}
	}
	return c.done("batch_norm.default", append(args, graph.Arg{Name: "momentum",
		Value: round(1 - c.real("momentum", 0.9))}, graph.Arg{Name: "eps", Value: c.real("epsilon", 1e-5)})...)
}

// round removes the rounding error of a difference of decimal numbers.
func round(v float64) float64 { return short(float32(v)) }

// dropout has no effect in inference. Its third input turns training on.
func dropout(c *call) error {
	if o := c.operand(2); o.given {
		t := c.tensors[o.name]
		if t == nil {
			return fmt.Errorf("the input training_mode is not a constant; export the model for inference")
		}
		w, err := t.weights()
		if err != nil || slices.ContainsFunc(w.Data, func(b byte) bool { return b != 0 }) {
			return orElse(err, "the input training_mode is true; export the model for inference")
		}
	}
	return unary("alias.default")(c)
}

func layerNorm(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	scale, err := c.need(1)
	if err != nil || c.tensors[scale.name] == nil {
		return fmt.Errorf("the layer normalization's scale must be stored in the model")
	}
	dims := len(c.tensors[scale.name].dims)
	if rank, err := c.rank(x); err == nil {
		if axis := c.whole("axis", -1); axis != int64(-dims) && axis != int64(rank-dims) {
			return fmt.Errorf("the layer normalization starts at axis %d, but its scale has %d dimensions; "+
				"export the network as a .pt2 archive", axis, dims)
		}
	}
	return c.done("layer_norm.default", c.arg("input", x),
		graph.Arg{Name: "normalized_shape", Value: anys(c.tensors[scale.name].dims)}, c.arg("weight", scale),
		c.optional("bias", c.operand(2)), graph.Arg{Name: "eps", Value: c.real("epsilon", 1e-5)})
}

func instanceNorm(c *call) error {
	x, w, _, err := c.layer(1)
	if err != nil {
		return err
	}
	return c.done("instance_norm.default", c.arg("input", x), c.arg("weight", w), c.optional("bias", c.operand(2)),
		graph.Arg{Name: "running_mean"}, graph.Arg{Name: "running_var"}, graph.Arg{Name: "momentum", Value: 0.1},
		graph.Arg{Name: "eps", Value: c.real("epsilon", 1e-5)})
}

func gelu(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	return c.done("gelu.default", c.arg("self", x),
		graph.Arg{Name: "approximate", Value: c.text("approximate", "none")})
}

// power maps to the overload of pow for a number or a tensor as the base and as the exponent. ONNX's result has the
// type of the base.
func power(c *call) error {
	for k := range 2 {
		if _, err := c.need(k); err != nil {
			return err
		}
	}
	base, exponent := c.number(c.operand(0)), c.number(c.operand(1))
	operator := "pow.Tensor_Tensor"
	switch {
	case !isTensor(exponent):
		operator, base = "pow.Tensor_Scalar", c.read(c.operand(0))
	case !isTensor(base):
		operator = "pow.Scalar"
	}
	made := c.emit(operator, c.node.out[0], graph.Arg{Name: "self", Value: base},
		graph.Arg{Name: "exponent", Value: exponent})
	from, to := c.message.kinds[c.operand(1).name], c.message.kinds[c.operand(0).name]
	if from != to || to == 0 {
		dtype := kinds[to]
		if dtype == weights.Invalid {
			return fmt.Errorf("the type of the base is unknown; infer shapes before the export")
		}
		made = c.emit("to.dtype", c.node.out[0], graph.Arg{Name: "self", Value: made},
			graph.Arg{Name: "dtype", Value: dtype})
	}
	c.set(c.node.out[0], made)
	return nil
}

// isTensor reports whether an argument is a value or a tensor of the model.
func isTensor(arg any) bool {
	switch arg.(type) {
	case graph.Value, graph.Weight:
		return true
	}
	return false
}

func clip(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	args := []graph.Arg{c.arg("self", x)}
	for k, name := range []string{"min", "max"} {
		if o := c.operand(k + 1); o.given {
			args = append(args, graph.Arg{Name: name, Value: c.number(o)})
		}
	}
	return c.done("clamp.default", args...)
}

// resizes maps modes to operators.
var resizes = map[string]string{"linear half_pixel": "upsample_bilinear2d.vec",
	"linear pytorch_half_pixel": "upsample_bilinear2d.vec", "linear align_corners": "upsample_bilinear2d.vec",
	"nearest asymmetric": "upsample_nearest2d.vec", "nearest half_pixel": "_upsample_nearest_exact2d.vec"}

// resize maps to PyTorch's interpolation of images, by factors or to a size.
func resize(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	factors, sizes := c.factors(c.operand(2)), c.operand(3).sizes
	how := c.text("mode", "nearest") + " " + c.text("coordinate_transformation_mode", "half_pixel")
	operator, known := resizes[how]
	mode := c.text("nearest_mode", "round_prefer_floor")
	if how == "nearest half_pixel" {
		known = mode == "round_prefer_ceil"
	} else if strings.HasPrefix(how, "nearest") && mode != "floor" {
		// at factors 1 and 2, the default mode rounds down too
		known = known && len(sizes) == 0 &&
			!slices.ContainsFunc(factors, func(f float64) bool { return f != 1 && f != 2 })
	}
	if err := c.onlyImages(x, sizes); err != nil {
		return err
	}
	args := []graph.Arg{c.arg("input", x)}
	switch {
	case known && len(factors) == 4 && factors[0] == 1 && factors[1] == 1 && len(sizes) == 0:
		args = append(args, graph.Arg{Name: "output_size"},
			graph.Arg{Name: "scale_factors", Value: []any{factors[2], factors[3]}})
	case known && len(factors) == 0 && len(sizes) == 4:
		args = append(args, graph.Arg{Name: "output_size", Value: sizes[2:]}, graph.Arg{Name: "scale_factors"})
	default:
		return fmt.Errorf("unsupported resize by %v with mode %q; expected constant factors or the size of images, "+
			"and mode \"linear half_pixel\", or \"nearest asymmetric\" with nearest_mode floor, or \"nearest "+
			"half_pixel\" with nearest_mode round_prefer_ceil", factors, how)
	}
	if operator == "upsample_bilinear2d.vec" {
		args = append(args, graph.Arg{Name: "align_corners", Value: how == "linear align_corners"})
	}
	return c.done(operator, args...)
}

// onlyImages returns an error if sizes change the number of examples or channels.
func (c *call) onlyImages(x operand, sizes []any) error {
	shape, ok := c.example(x)
	if !ok {
		return nil
	}
	for k, name := range []string{"examples", "channels"} {
		if k >= min(len(sizes), len(shape)) {
			break
		}
		if n, known := c.sizes.Number(sizes[k]); known && n != shape[k] {
			return fmt.Errorf("the sizes change the number of %s from %d to %d; graft resizes only height and width",
				name, shape[k], n)
		}
	}
	return nil
}

// factors returns the numbers of a tensor in the model; nil if there is none.
func (c *call) factors(o operand) (list []float64) {
	t := c.tensors[o.name]
	if t == nil {
		return nil
	}
	w, err := t.weights()
	if err != nil {
		return nil
	}
	values, _ := w.Float64s()
	for _, v := range values {
		list = append(list, short(float32(v)))
	}
	return list
}
