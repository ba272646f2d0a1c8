package reader

import (
	"math"

	"graft/model/graph"
)

// hardSigmoid limits alpha · x + beta to the range from 0 to 1.
func hardSigmoid(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	alpha, beta := c.real("alpha", 0.2), c.real("beta", 0.5)
	if math.Abs(alpha-1./6) < 1e-6 && beta == 0.5 {
		return c.done("hardsigmoid.default", c.arg("self", x))
	}
	line := c.emit("add.Tensor", c.node.out[0]+"_line", graph.Arg{Name: "self", Value: c.emit("mul.Tensor",
		c.node.out[0]+"_scaled", c.arg("self", x), graph.Arg{Name: "other", Value: alpha})},
		graph.Arg{Name: "other", Value: beta})
	return c.done("clamp.default", graph.Arg{Name: "self", Value: line}, graph.Arg{Name: "min", Value: 0.0},
		graph.Arg{Name: "max", Value: 1.0})
}

// Parameters of SELU (Klambauer et al. 2017), as ONNX and PyTorch have them.
const (
	seluAlpha = 1.6732632
	seluScale = 1.0507010
)

func selu(c *call) error {
	x, err := c.need(0)
	near := func(name string, want float64) bool { return math.Abs(c.real(name, want)-want) < 1e-5 }
	if err != nil || !near("alpha", seluAlpha) || !near("gamma", seluScale) {
		return orElse(err, "unsupported alpha and gamma; graft supports only the default ones")
	}
	return c.done("selu.default", c.arg("self", x))
}

// prelu multiplies negative values by slopes: by one slope for each channel, or else by any tensor.
func prelu(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	slopes, err := c.need(1)
	if err != nil {
		return err
	}
	if c.perChannel(x, slopes) {
		weight := c.emit("reshape.default", c.node.out[0]+"_slopes", c.arg("self", slopes),
			graph.Arg{Name: "shape", Value: anys([]int64{-1})})
		return c.done("prelu.default", c.arg("self", x), graph.Arg{Name: "weight", Value: weight})
	}
	positive := c.emit("gt.Scalar", c.node.out[0]+"_positive", c.arg("self", x), graph.Arg{Name: "other", Value: 0.0})
	scaled := c.emit("mul.Tensor", c.node.out[0]+"_scaled", c.arg("self", x), c.arg("other", slopes))
	return c.done("where.self", graph.Arg{Name: "condition", Value: positive}, c.arg("self", x),
		graph.Arg{Name: "other", Value: scaled})
}

// perChannel reports whether a tensor has one value, or one for each channel of another one.
func (c *call) perChannel(x, of operand) bool {
	in, known := c.example(x)
	shape, also := c.example(of)
	if t := c.tensors[of.name]; t != nil {
		shape, also = nil, true
		for _, size := range t.dims {
			shape = append(shape, int(size))
		}
	}
	if !known || !also || len(in) < 2 {
		return false
	}
	for k, size := range shape {
		if size != 1 && (len(in)-len(shape)+k != 1 || size != in[1]) {
			return false
		}
	}
	return true
}
