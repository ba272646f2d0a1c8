package reader

import (
	"encoding/binary"
	"fmt"
	"slices"

	"graft/model/graph"
	"graft/torch/weights"
)

// place is the index of the largest or the smallest value of a dimension.
func place(operator string) func(*call) error {
	return func(c *call) error {
		x, err := c.need(0)
		if err != nil {
			return err
		}
		return c.done(operator, c.arg("self", x), graph.Arg{Name: "dim", Value: c.whole("axis", 0)},
			graph.Arg{Name: "keepdim", Value: c.whole("keepdims", 1) != 0})
	}
}

// single returns an input that is one constant whole number.
func (c *call) single(k int, what string) (int64, error) {
	list, ok := c.operand(k).known()
	if t := c.tensors[c.operand(k).name]; !ok && t != nil { // an int32
		w, err := t.weights()
		if err == nil && w.DType == weights.Int32 && w.Count() == 1 {
			return int64(int32(binary.LittleEndian.Uint32(w.Data))), nil
		}
	}
	if !ok || len(list) != 1 {
		return 0, fmt.Errorf("the %s must be a single constant", what)
	}
	return list[0], nil
}

func runningSum(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	axis, err := c.single(1, "axis of the sum")
	if err != nil {
		return err
	}
	return c.done("cumsum.default", c.arg("self", x), graph.Arg{Name: "dim", Value: axis})
}

func largest(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	count, err := c.single(1, "number of the largest values")
	if err != nil {
		return err
	}
	results := c.node.out
	if len(results) != 2 {
		return fmt.Errorf("the operator has %d results; expected 2", len(results))
	}
	for k, v := range c.emitAll("topk.default", results, c.arg("self", x), graph.Arg{Name: "k", Value: count},
		graph.Arg{Name: "dim", Value: c.whole("axis", -1)},
		graph.Arg{Name: "largest", Value: c.whole("largest", 1) != 0},
		graph.Arg{Name: "sorted", Value: c.whole("sorted", 1) != 0}) {
		if results[k] != "" {
			c.set(results[k], v)
		}
	}
	return nil
}

func gatherElements(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	index, err := c.need(1)
	if err != nil {
		return err
	}
	return c.done("gather.default", c.arg("self", x), graph.Arg{Name: "dim", Value: c.whole("axis", 0)},
		c.arg("index", index))
}

func depthToSpace(c *call) error {
	x, err := c.need(0)
	if mode := c.text("mode", "DCR"); err != nil || mode != "CRD" {
		return orElse(err, "unsupported mode %.40q; expected CRD, as pixel_shuffle has it", mode)
	}
	return c.done("pixel_shuffle.default", c.arg("self", x),
		graph.Arg{Name: "upscale_factor", Value: c.whole("blocksize", 1)})
}

func einsum(c *call) error {
	parts, err := c.parts()
	if err != nil {
		return err
	}
	return c.done("einsum.default", graph.Arg{Name: "equation", Value: c.text("equation", "")},
		graph.Arg{Name: "tensors", Value: parts})
}

// remainder has the sign of the divisor or, with fmod, of the dividend.
func remainder(c *call) error {
	if c.whole("fmod", 0) != 0 {
		return pairwise("fmod.Tensor")(c)
	}
	if !c.integral(c.operand(0).name) {
		return fmt.Errorf("a remainder of real numbers requires fmod=1")
	}
	return pairwise("remainder.Tensor")(c)
}

// oneHot makes a vector of zeros with a single one for each index.
func oneHot(c *call) error {
	at, err := c.need(0)
	if err != nil {
		return err
	}
	depth, err := c.single(1, "number of classes")
	if err != nil {
		return err
	}
	t := c.tensors[c.operand(2).name]
	if t == nil || c.whole("axis", -1) != -1 {
		return fmt.Errorf("the values must be constants, and the axis the last one")
	}
	w, err := t.weights()
	if err != nil {
		return err
	}
	if values, err := w.Float64s(); err != nil || !slices.Equal(values, []float64{0, 1}) {
		return orElse(err, "unsupported values %v; expected 0 and 1", values)
	}
	made := c.emit("one_hot.default", c.node.out[0]+"_whole", c.arg("self", at),
		graph.Arg{Name: "num_classes", Value: depth})
	c.message.kinds[c.node.out[0]] = t.kind
	return c.done("to.dtype", graph.Arg{Name: "self", Value: made}, graph.Arg{Name: "dtype", Value: w.DType})
}
