package reader

import (
	"fmt"
	"math"
	"slices"

	"graft/model/graph"
)

// padModes are PyTorch's names of ONNX's modes of padding.
var padModes = map[string]string{"constant": "constant", "reflect": "reflect", "edge": "replicate",
	"wrap": "circular"}

func pad(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	mode, known := padModes[c.text("mode", "constant")]
	if !known {
		return fmt.Errorf("unsupported mode %.40q; expected constant, reflect, edge or wrap", c.text("mode", ""))
	}
	rank, err := c.rank(x)
	if err != nil {
		return err
	}
	pads, ok := c.operand(1).known()
	axes, some := c.operand(3).known()
	if !ok || c.operand(3).given != some || !some && len(pads) != 2*rank || some && len(pads) != 2*len(axes) {
		return fmt.Errorf("the pads and their axes must be constants, with two pads for each of %d dimensions", rank)
	}
	if !some {
		for k := range rank {
			axes = append(axes, int64(k))
		}
	}
	list := lastFirst(pads, axes, rank)
	if mode != "constant" { // PyTorch requires pads for each dimension of an image
		for len(list) < 2*max(1, rank-2) {
			list = append(list, 0, 0)
		}
		if len(list) > 2*max(1, rank-2) {
			return fmt.Errorf("unsupported %s pads of examples or channels; expected pads of images", mode)
		}
	}
	args := []graph.Arg{c.arg("self", x), {Name: "pad", Value: anys(list)}, {Name: "mode", Value: mode}}
	if o := c.operand(2); o.given && mode == "constant" {
		value := c.number(o)
		if isTensor(value) {
			return fmt.Errorf("the value of the pads must be a constant number")
		}
		args = append(args, graph.Arg{Name: "value", Value: asReal(value)})
	}
	return c.done("pad.default", args...)
}

// asReal converts a whole number to a real one.
func asReal(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}

// lastFirst returns the pads in PyTorch's order: from the last dimension on, without the first dimensions that have no
// pads.
func lastFirst(pads, axes []int64, rank int) []int64 {
	list := make([]int64, 2*rank)
	for k, axis := range axes {
		if axis < 0 {
			axis += int64(rank)
		}
		if axis >= 0 && axis < int64(rank) {
			at := 2 * (int64(rank) - 1 - axis)
			list[at], list[at+1] = pads[k], pads[len(axes)+k]
		}
	}
	for len(list) > 0 && list[len(list)-1] == 0 && list[len(list)-2] == 0 {
		list = list[:len(list)-2]
	}
	return list
}

// unequal pads the input of a convolution whose pads at both ends differ, and removes the pads of the convolution.
func (c *call) unequal(x operand, dims int) (any, error) {
	pads := c.list("pads")
	if len(pads) != 2*dims || slices.Equal(pads[:dims], pads[dims:]) {
		return c.read(x), nil
	}
	if slices.Min(pads) < 0 {
		return nil, fmt.Errorf("got pads %v; must not be negative", pads)
	}
	return c.padPlaces(x, pads), nil
}

// padPlaces pads all dimensions after the channels, and removes the pads of the current node.
func (c *call) padPlaces(x operand, pads []int64, more ...graph.Arg) any {
	var axes []int64
	for k := range len(pads) / 2 {
		axes = append(axes, int64(2+k))
	}
	c.attributes["pads"] = &attribute{list: make([]int64, len(pads))}
	args := []graph.Arg{c.arg("self", x), {Name: "pad", Value: anys(lastFirst(pads, axes, 2+len(axes)))}}
	return c.emit("constant_pad_nd.default", c.node.out[0]+"_padded", append(args, more...)...)
}

// automatic replaces auto_pad by the pads that it means for a convolution with a kernel of the given sizes: the result
// has a place for each stride of the input. An odd pad is at the end, or at the beginning with SAME_LOWER.
func (c *call) automatic(x operand, kernel []int) {
	auto := c.text("auto_pad", "NOTSET")
	shape, known := c.example(x)
	if auto != "SAME_UPPER" && auto != "SAME_LOWER" || !known || len(shape) != len(kernel)+2 {
		return
	}
	pads, dims := make([]int64, 2*len(kernel)), len(kernel)
	for k, size := range kernel {
		stride, dilation := int64(1), int64(1)
		if list := c.list("strides"); len(list) == dims {
			stride = max(1, list[k])
		}
		if stride > 1 && c.resizable() {
			return // the pads depend on the size of the images
		}
		if list := c.list("dilations"); len(list) == dims {
			dilation = list[k]
		}
		in := int64(shape[2+k])
		both := max(0, ((in+stride-1)/stride-1)*stride+dilation*int64(size-1)+1-in)
		less := both / 2
		pads[k], pads[dims+k] = less, both-less
		if auto == "SAME_LOWER" {
			pads[k], pads[dims+k] = both-less, less
		}
	}
	delete(c.attributes, "auto_pad")
	c.attributes["pads"] = &attribute{list: pads}
}

// resizable reports whether the examples of the model have sizes that may change.
func (c *call) resizable() bool {
	sizes := c.builder.out.Graph.Input.Shape
	return len(sizes) > 0 && slices.ContainsFunc(sizes[1:], func(s graph.Size) bool { return s.Name != "" })
}

// backwards takes a slice with a negative step, which PyTorch lacks, from the reversed dimension. Only slices of the
// whole dimension are supported.
func (c *call) backwards(value, start, end any, axis, step int64) (any, error) {
	from, ok := start.(int64)
	to, also := end.(int64)
	if !ok || !also || from != -1 && from < math.MaxInt32 || to > math.MinInt32 || step == math.MinInt64 {
		return nil, fmt.Errorf("a slice from %v to %v in steps of %d is not supported; expected a slice of the whole "+
			"dimension", start, end, step)
	}
	value = c.emit("flip.default", c.node.out[0]+"_flipped", graph.Arg{Name: "self", Value: value},
		graph.Arg{Name: "dims", Value: anys([]int64{axis})})
	if step < -1 {
		value = c.emit("slice.Tensor", c.node.out[0], graph.Arg{Name: "self", Value: value},
			graph.Arg{Name: "dim", Value: axis}, graph.Arg{Name: "step", Value: -step})
	}
	return value, nil
}
