package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	networks "graft/model/graph"
	"graft/torch/weights"
)

// repeated repeats each item of a dimension.
func (e *networkEncoder) repeated(x string, shape []int, dim, times int) string {
	repeats := slices.Repeat([]int{1}, len(shape)+1)
	repeats[dim+1] = times
	wide := e.op("Tile", []string{e.op("Unsqueeze", []string{x, e.graph.shape(dim + 1)}), e.graph.shape(repeats...)})
	sizes := slices.Repeat([]int{0}, dim) // other dimensions unchanged
	return e.op("Reshape", []string{wide, e.graph.shape(append(append(sizes, shape[dim]*times), shape[dim+1:]...)...)})
}

func interleaveRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	repeats, isNumber := e.n.Arg("repeats").(int64)
	if err != nil || !isNumber || e.n.Arg("dim") == nil {
		return nil, errors.Join(err, errors.New("repeat_interleave requires a constant number of repeats and the "+
			"argument dim"))
	}
	return []string{e.repeated(x, e.shapeOf(e.n.Args[0].Value), e.dim("dim", 0), int(repeats))}, nil
}

// reshaped sets the shape of the result, regardless of the requested one.
func reshaped(e *networkEncoder) ([]string, error) {
	x, err1 := e.first()
	v := e.n.Results[0]
	shape, err2 := e.extent(e.shapes[v], e.larger[v], true)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return []string{e.op("Reshape", []string{x, shape})}, nil
}

func permuted(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	rank := len(e.shapeOf(e.n.Args[0].Value))
	var perm []int
	for k := range rank {
		perm = append(perm, k)
	}
	swap := func(a, b int) { perm[a], perm[b] = perm[b], perm[a] }
	switch op := e.n.Name(); op {
	case "t", "numpy_T":
		slices.Reverse(perm)
	case "movedim":
		from, to := e.dim("source", 0), e.dim("destination", 0)
		perm = slices.Insert(slices.Delete(perm, from, from+1), to, from)
	case "permute":
		for k, d := range e.whole("dims", rank, 0) {
			perm[k] = (d + rank) % rank
		}
	case "swapaxes":
		swap(e.dim("axis0", 0), e.dim("axis1", 0))
	default:
		swap(e.dim("dim0", 0), e.dim("dim1", 0))
	}
	return []string{e.op("Transpose", []string{x}, attribute{"perm", perm})}, err
}

func expandRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.first()
	v := e.n.Results[0]
	shape, err2 := e.extent(e.shapes[v], e.larger[v], false)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return []string{e.op("Expand", []string{x, shape})}, nil
}

// parts returns the tensors of a list.
func (e *networkEncoder) parts(name string) (list []string, err error) {
	items, _ := e.n.Arg(name).([]any)
	for _, item := range items {
		x, err := e.tensorOf(item)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	if len(list) == 0 {
		return nil, errors.New("the list of tensors to concatenate is empty")
	}
	return list, nil
}

func catRule(e *networkEncoder) ([]string, error) {
	list, err := e.parts("tensors")
	if err != nil {
		return nil, err
	}
	return []string{e.op("Concat", e.promoted(list), attribute{"axis", int(e.number("dim", 0))})}, nil
}

func stackRule(e *networkEncoder) ([]string, error) {
	list, err := e.parts("tensors")
	if err != nil {
		return nil, err
	}
	dim, list := int(e.number("dim", 0)), e.promoted(list)
	for k := range list {
		list[k] = e.op("Unsqueeze", []string{list[k], e.graph.shape(dim)})
	}
	return []string{e.op("Concat", list, attribute{"axis", dim})}, nil
}

// splitRule divides a dimension into the sizes of the results.
func splitRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	dim := e.dim("dim", 0)
	var sizes []int
	for _, v := range e.n.Results {
		if e.larger[v][dim] != e.shapes[v][dim] {
			return nil, errors.New("splitting the batch dimension is not supported")
		}
		sizes = append(sizes, e.shapes[v][dim])
	}
	return e.split(x, dim, sizes), err
}

func (e *networkEncoder) split(x string, dim int, sizes []int) []string {
	return e.several("Split", []string{x, e.graph.shape(sizes...)}, len(sizes), attribute{"axis", dim})
}

// several adds a node with several results of the type of its first input.
func (e *networkEncoder) several(operator string, inputs []string, count int,
	attributes ...attribute) (results []string) {
	for range count {
		name := e.fresh()
		e.types[name] = e.kind(inputs[0])
		results = append(results, name)
	}
	e.add(operator, inputs, results, attributes)
	return results
}

func unbindRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	dim := e.dim("dim", 0)
	var results []string
	for k := range e.n.Results {
		results = append(results, e.op("Gather", []string{x, e.filled(typeInt64, []float64{float64(k)})},
			attribute{"axis", dim}))
	}
	return results, err
}

func selectRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	at, isNumber := e.n.Arg("index").(int64)
	if !isNumber {
		return nil, errors.New("a non-constant index is not supported")
	}
	return []string{e.op("Gather", []string{x, e.filled(typeInt64, []float64{float64(at)})},
		attribute{"axis", e.dim("dim", 0)})}, err
}

// sliceRule writes indices from the start for a fixed size; for the batch, ONNX evaluates them as PyTorch does.
func sliceRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	dim, v, step := e.dim("dim", 0), e.n.Results[0], int(e.number("step", 1))
	size, more := e.shapes[v][dim], e.larger[v][dim]
	_, computed := e.n.Arg("start").(networks.Value)
	_, computedEnd := e.n.Arg("end").(networks.Value)
	varies := e.varies(e.n.Args[0].Value, dim)
	if computed || computedEnd && varies {
		return nil, errors.New("a slice with a non-constant start, or end in the batch, is not supported")
	}
	start, end := int(e.number("start", 0)), math.MaxInt64
	if last, given := e.n.Arg("end").(int64); given {
		end = int(last)
	}
	switch {
	case !varies && size == more:
		if start < 0 {
			start = max(0, start+e.shapeOf(e.n.Args[0].Value)[dim])
		}
		end = start + size*step
	case size != more && (start < 0 || end < math.MaxInt32):
		return nil, errors.New("slicing the batch dimension is not supported")
	}
	return []string{e.op("Slice", []string{x, e.graph.shape(start), e.graph.shape(end), e.graph.shape(dim),
		e.graph.shape(step)})}, err
}

// varies reports whether a dimension of an argument depends on the number of examples.
func (e *networkEncoder) varies(arg any, dim int) bool {
	v, ok := arg.(networks.Value)
	return ok && e.shapes[v][dim] != e.larger[v][dim]
}

// mostWhole is the largest number up to which float64 represents every integer.
const mostWhole = 1 << 53

// arangeRule writes the numbers; their count is the example's.
func arangeRule(e *networkEncoder) ([]string, error) {
	v := e.n.Results[0]
	if e.shapes[v][0] != e.larger[v][0] {
		return nil, errors.New("a range whose length depends on the batch size is not supported")
	}
	kind := int64(typeInt64)
	for _, name := range []string{"start", "end", "step"} {
		if _, fractional := e.n.Arg(name).(float64); fractional {
			kind = typeFloat
		}
	}
	if d, ok := e.n.Arg("dtype").(weights.DType); ok {
		kind = onnxTypes[d]
	}
	start, step := e.number("start", 0), e.number("step", 1)
	if math.Abs(start) > mostWhole || math.Abs(step) > mostWhole {
		return nil, fmt.Errorf("a range from %g in steps of %g is not supported", start, step)
	}
	values := make([]float64, e.shapes[v][0])
	for k := range values {
		values[k] = start + float64(k)*step
	}
	return []string{e.filled(kind, values, len(values))}, nil
}

// linspaceRule writes the numbers from both ends, as PyTorch computes them.
func linspaceRule(e *networkEncoder) ([]string, error) {
	start, ok := asNumber(e.n.Arg("start"))
	end, also := asNumber(e.n.Arg("end"))
	v := e.n.Results[0]
	d, typed := e.n.Arg("dtype").(weights.DType)
	if !ok || !also || e.shapes[v][0] != e.larger[v][0] || typed && onnxTypes[d] != typeFloat {
		return nil, errors.New("a range of integers, or with ends or a length that depend on the batch size, is not " +
			"supported")
	}
	values := make([]float64, e.shapes[v][0])
	step := (end - start) / float64(max(1, len(values)-1))
	for k := range values {
		values[k] = start + float64(k)*step
		if 2*k >= len(values) {
			values[k] = end - float64(len(values)-1-k)*step
		}
	}
	return []string{e.filled(typeFloat, values, len(values))}, nil
}

func filledRule(value float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		kind := int64(typeFloat)
		if d, ok := e.n.Arg("dtype").(weights.DType); ok {
			kind = onnxTypes[d]
		}
		v := e.n.Results[0]
		shape, err := e.extent(e.shapes[v], e.larger[v], false)
		if err != nil {
			return nil, err
		}
		return []string{e.op("Expand", []string{e.filled(kind, []float64{value}), shape})}, nil
	}
}

// narrow are ONNX's types of integers with fewer than 64 bits.
var narrow = map[weights.DType]int{weights.Uint8: 2, weights.Int8: 3, weights.Int16: 5, weights.Int32: 6}

// castRule writes all integers as int64, after a conversion to fewer bits if PyTorch has one.
func castRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	kind := e.kind(x)
	if d, ok := e.n.Arg("dtype").(weights.DType); ok && err == nil {
		if kind = onnxTypes[d]; narrow[d] != 0 && e.kind(x) != typeBool {
			cut := e.node("Cast", []string{e.cast(x, typeInt64)}, attribute{"to", narrow[d]})
			return []string{e.typed(kind, "Cast", []string{cut}, attribute{"to", int(kind)})}, nil
		}
	}
	if other, _ := e.arg("other"); other != "" {
		kind = e.kind(other)
	}
	if err != nil || kind == e.kind(x) {
		return []string{x}, err
	}
	return []string{e.typed(kind, "Cast", []string{x}, attribute{"to", int(kind)})}, nil
}
