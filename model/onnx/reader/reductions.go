package reader

import (
	"fmt"
	"slices"

	"graft/model/graph"
	"graft/torch/weights"
)

// reduced is a reduction of some dimensions.
func reduced(operator string, more ...graph.Arg) func(*call) error {
	return func(c *call) error {
		x, err := c.need(0)
		if err != nil {
			return err
		}
		axes, err := c.reducedAxes(x)
		if err != nil {
			return err
		}
		args := append([]graph.Arg{c.arg("self", x)}, more...)
		return c.done(operator, append(args, graph.Arg{Name: "dim", Value: anys(axes)},
			graph.Arg{Name: "keepdim", Value: c.whole("keepdims", 1) != 0})...)
	}
}

// reducedAxes returns the dimensions of a reduction: all of them if none are given.
func (c *call) reducedAxes(x operand) ([]int64, error) {
	axes, ok := c.axes(1)
	if ok && len(axes) > 0 {
		return axes, nil
	}
	if c.operand(1).given && !ok {
		return nil, fmt.Errorf("the dimensions of the reduction are unknown; export the network as a .pt2 archive")
	}
	rank, err := c.rank(x)
	for d := range rank {
		axes = append(axes, int64(d))
	}
	return axes, err
}

// lengths is a norm of vectors.
func lengths(order float64) func(*call) error {
	return reduced("linalg_vector_norm.default", graph.Arg{Name: "ord", Value: order})
}

// mostSizes is the largest number of integers that count as a list of sizes.
const mostSizes = 64

// filled makes a list of sizes, or a tensor of a computed shape with a constant value. A missing value is the real
// number 0.
func filled(c *call) error {
	sizes := c.operand(0).sizes
	if sizes == nil {
		return fmt.Errorf("the shape is not a list of sizes that graft can evaluate")
	}
	dtype, value := weights.Float32, 0.0
	if a := c.attributes["value"]; a != nil && a.tensor != nil {
		w, err := a.tensor.weights()
		if err != nil {
			return err
		}
		values, err := w.Float64s()
		if err != nil || len(values) != 1 {
			return orElse(err, "the value has %d numbers; expected one", len(values))
		}
		dtype, value = w.DType, values[0]
	}
	if count, ok := c.operand(0).known(); ok && len(count) == 1 && dtype == weights.Int64 && count[0] >= 0 &&
		count[0] <= mostSizes {
		return c.sizesDone(slices.Repeat([]any{int64(value)}, int(count[0])), false)
	}
	return c.done("full.default", graph.Arg{Name: "size", Value: sizes}, graph.Arg{Name: "fill_value", Value: value},
		graph.Arg{Name: "dtype", Value: dtype})
}

// products multiplies the values of one dimension after the other, from the back.
func products(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	rank, err := c.rank(x)
	if err != nil {
		return err
	}
	axes, err := c.reducedAxes(x)
	if err != nil {
		return err
	}
	axes = slices.Clone(axes)
	for k := range axes {
		if axes[k] < 0 {
			axes[k] += int64(rank)
		}
	}
	slices.Sort(axes)
	slices.Reverse(axes)
	value := c.read(x)
	for _, axis := range axes {
		value = c.emit("prod.dim_int", c.node.out[0], graph.Arg{Name: "self", Value: value},
			graph.Arg{Name: "dim", Value: axis},
			graph.Arg{Name: "keepdim", Value: c.whole("keepdims", 1) != 0})
	}
	c.values[c.node.out[0]] = operand{ref: value, given: true, name: c.node.out[0]}
	return nil
}
