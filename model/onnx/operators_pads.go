package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/torch/weights"
)

// padModes are ONNX's names of PyTorch's modes of padding.
var padModes = map[string]string{"constant": "constant", "reflect": "reflect", "replicate": "edge"}

// padRule writes pads of the last dimensions, which PyTorch lists from the last dimension on.
func padRule(list, mode string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		if err != nil {
			return nil, err
		}
		how := mode
		if given, ok := e.n.Arg("mode").(string); ok {
			how = given
		}
		to, known := padModes[how]
		if !known {
			return nil, fmt.Errorf("the mode %q is not supported; expected constant, reflect or replicate", how)
		}
		rank, given := len(e.shapeOf(e.n.Args[0].Value)), e.list(list)
		pads := make([]int, 2*rank)
		for k := range len(given) / 2 {
			pads[rank-1-k], pads[2*rank-1-k] = given[2*k], given[2*k+1]
		}
		in := []string{x, e.graph.shape(pads...)}
		if to == "constant" {
			value := e.n.Arg("value")
			if value == nil {
				value = 0.0
			}
			in = append(in, e.scalar(e.kind(x), value))
		}
		return []string{e.op("Pad", in, attribute{"mode", to})}, nil
	}
}

// samePads returns the pads at both ends of each dimension for which a convolution keeps the size of its input. As in
// PyTorch, an odd pad is at the end.
func (e *networkEncoder) samePads(kernel []int) (pads []int, err error) {
	dims := len(kernel)
	if slices.Max(e.whole("stride", dims, 1)) > 1 {
		return nil, errors.New("the padding \"same\" requires a stride of 1")
	}
	pads = make([]int, 2*dims)
	for k, dilation := range e.whole("dilation", dims, 1) {
		both := dilation * (kernel[k] - 1)
		pads[k], pads[dims+k] = both/2, both-both/2
	}
	return pads, nil
}

func flipRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	rank := len(e.shapeOf(e.n.Args[0].Value))
	var dims []int
	for _, d := range e.list("dims") {
		dims = append(dims, (d+rank)%rank)
	}
	all := func(value int) string { return e.graph.shape(slices.Repeat([]int{value}, len(dims))...) }
	return []string{e.op("Slice", []string{x, all(-1), all(math.MinInt64), e.graph.shape(dims...), all(-1)})}, err
}

// rollRule writes the end of each dimension before its beginning.
func rollRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	shape := e.shapeOf(e.n.Args[0].Value)
	dims, shifts := e.list("dims"), e.list("shifts")
	if err != nil || len(dims) != len(shifts) {
		return nil, errors.Join(err, errors.New("roll requires a dimension for each shift"))
	}
	for k, d := range dims {
		d = (d + len(shape)) % len(shape)
		if e.varies(e.n.Args[0].Value, d) {
			return nil, errors.New("rolling the batch dimension is not supported")
		}
		if shape[d] == 0 {
			continue
		}
		at := ((-shifts[k])%shape[d] + shape[d]) % shape[d]
		part := func(from, to int) string {
			return e.op("Slice", []string{x, e.graph.shape(from), e.graph.shape(to), e.graph.shape(d)})
		}
		x = e.op("Concat", []string{part(at, shape[d]), part(0, at)}, attribute{"axis", d})
	}
	return []string{x}, nil
}

// triangleRule keeps a triangle of each matrix, and sets the rest to zero.
func triangleRule(upper int) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op("Trilu", []string{x, e.integers([]int64{int64(e.number("diagonal", 0))})},
			attribute{"upper", upper})}, err
	}
}

// repeatRule repeats the whole tensor along each dimension, after new dimensions at the front.
func repeatRule(list string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		times, rank := e.list(list), len(e.shapeOf(e.n.Args[0].Value))
		for len(times) < rank { // as tile permits
			times = slices.Insert(times, 0, 1)
		}
		if more := len(times) - rank; more > 0 {
			var axes []int
			for k := range more {
				axes = append(axes, k)
			}
			x = e.op("Unsqueeze", []string{x, e.graph.shape(axes...)})
		}
		return []string{e.op("Tile", []string{x, e.graph.shape(times...)})}, err
	}
}

func narrowRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	start, known := e.n.Arg("start").(int64)
	length, also := e.n.Arg("length").(int64)
	dim := e.dim("dim", 0)
	if !known || !also || start < 0 && e.varies(e.n.Args[0].Value, dim) {
		return nil, errors.New("a start or a length that depends on the batch size is not supported")
	}
	if start < 0 {
		start += int64(e.shapeOf(e.n.Args[0].Value)[dim])
	}
	return []string{e.op("Slice", []string{x, e.graph.shape(int(start)), e.graph.shape(int(start + length)),
		e.graph.shape(dim)})}, err
}

// pixelRule moves channels to pixels.
func pixelRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	if len(e.shapeOf(e.n.Args[0].Value)) != 4 {
		return nil, errors.New("the input is not a batch of images")
	}
	return []string{e.op("DepthToSpace", []string{x}, attribute{"blocksize", int(e.number("upscale_factor", 1))},
		attribute{"mode", "CRD"})}, err
}

// unshuffleRule moves pixels to channels.
func unshuffleRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	in, by := e.shapeOf(e.n.Args[0].Value), int(e.number("downscale_factor", 1))
	if err != nil || len(in) != 4 {
		return nil, errors.Join(err, errors.New("the input is not a batch of images"))
	}
	apart := e.op("Reshape", []string{x, e.graph.shape(-1, in[1], in[2]/by, by, in[3]/by, by)})
	turned := e.op("Transpose", []string{apart}, attribute{"perm", []int{0, 1, 3, 5, 2, 4}})
	return []string{e.op("Reshape", []string{turned, e.graph.shape(-1, in[1]*by*by, in[2]/by, in[3]/by)})}, nil
}

// channelsRule takes the channels of several groups in turns.
func channelsRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	in, groups := e.shapeOf(e.n.Args[0].Value), int(e.number("groups", 1))
	if err != nil || len(in) < 3 {
		return nil, errors.Join(err, errors.New("the input is not a batch of images"))
	}
	apart := e.op("Reshape", []string{x, e.graph.shape(append([]int{-1, groups, in[1] / groups}, in[2:]...)...)})
	perm := []int{0, 2, 1}
	for k := range in[2:] {
		perm = append(perm, 3+k)
	}
	turned := e.op("Transpose", []string{apart}, attribute{"perm", perm})
	return []string{e.op("Reshape", []string{turned, e.graph.shape(append([]int{-1}, in[1:]...)...)})}, nil
}

// likeRule fills a tensor of the shape of the result. A missing type is the type of the first argument if it is a
// tensor.
func likeRule(value any) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		of, err := e.first()
		if err != nil {
			return nil, err
		}
		kind := e.kind(of)
		if d, ok := e.n.Arg("dtype").(weights.DType); ok {
			kind = onnxTypes[d]
		}
		return e.full(kind, value)
	}
}

// fullRule fills a tensor with a given number, whose type is the type of the result if no type is given.
func fullRule(e *networkEncoder) ([]string, error) {
	kind := e.kindOf(e.n.Arg("fill_value"), "")
	if d, ok := e.n.Arg("dtype").(weights.DType); ok {
		kind = onnxTypes[d]
	}
	return e.full(kind, nil)
}

// full fills a tensor of the shape of the result with a number, or with the argument fill_value.
func (e *networkEncoder) full(kind int64, value any) ([]string, error) {
	if value == nil {
		value = e.n.Arg("fill_value")
	}
	if _, isNumber := asNumber(value); !isNumber {
		return nil, errors.New("the fill value is not a constant number")
	}
	v := e.n.Results[0]
	shape, err := e.extent(e.shapes[v], e.larger[v], false)
	if err != nil {
		return nil, err
	}
	return []string{e.op("Expand", []string{e.scalar(kind, value), shape})}, nil
}
