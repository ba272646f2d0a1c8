package onnx

import (
	"errors"
	"fmt"
)

// integersOf converts truth values to integers, for operators that compute with numbers only.
func (e *networkEncoder) integersOf(x string) string {
	if e.kind(x) == typeBool {
		return e.cast(x, typeInt64)
	}
	return x
}

// keepdims is the attribute for an argument of the node.
func (e *networkEncoder) keepdims() attribute {
	return attribute{"keepdims", map[bool]int{true: 1}[e.truth("keepdim")]}
}

// axes returns the dimensions of a reduction, counted from the start. A missing or empty list means all of them.
func (e *networkEncoder) axes() (list []int) {
	rank := len(e.shapeOf(e.n.Args[0].Value))
	for _, d := range e.list("dim") {
		list = append(list, (d+rank)%max(rank, 1))
	}
	if len(list) == 0 {
		for k := range rank {
			list = append(list, k)
		}
	}
	return list
}

// placeRule writes the index of the largest or the smallest value; without a dimension, its index among all values.
func placeRule(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		if e.n.Arg("dim") != nil {
			return []string{e.place(operator, e.integersOf(x))}, err
		}
		if e.truth("keepdim") {
			return nil, errors.New("keepdim requires the argument dim")
		}
		x = e.op("Reshape", []string{e.integersOf(x), e.graph.shape(-1)})
		return []string{e.typed(typeInt64, operator, []string{x}, attribute{"axis", 0}, attribute{"keepdims", 0})}, err
	}
}

// place writes the index of an extreme value along the argument dim.
func (e *networkEncoder) place(operator, x string) string {
	return e.typed(typeInt64, operator, []string{x}, attribute{"axis", e.dim("dim", 0)}, e.keepdims())
}

// extremeRule writes the largest or the smallest value: of two tensors, along a dimension with its index, or of all
// values.
func extremeRule(pair, reduction, place string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		if e.n.Arg("other") != nil {
			return pairwise(pair)(e)
		}
		x, err := e.first()
		if err != nil {
			return nil, err
		}
		values := e.extreme(reduction, x)
		if e.n.Arg("dim") == nil {
			return []string{values}, nil
		}
		return []string{values, e.place(place, e.integersOf(x))}, nil
	}
}

// extreme writes a reduction to extreme values, which keeps the type.
func (e *networkEncoder) extreme(operator, x string) string {
	return e.cast(e.op(operator, []string{e.integersOf(x)}, attribute{"axes", e.axes()}, e.keepdims()), e.kind(x))
}

func extremesRule(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.extreme(operator, x)}, err
	}
}

// quantifierRule writes whether any or all values differ from zero.
func quantifierRule(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.extreme(operator, e.cast(x, typeBool))}, err
	}
}

// productRule multiplies values. As in PyTorch, products of integers and of truth values are integers.
func productRule(e *networkEncoder) ([]string, error) {
	x, err := e.converted()
	return []string{e.op("ReduceProd", []string{e.integersOf(x)}, attribute{"axes", e.axes()}, e.keepdims())}, err
}

func logSumExpRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("ReduceLogSumExp", []string{e.cast(x, typeFloat)}, attribute{"axes", e.axes()},
		e.keepdims())}, err
}

// varianceRule writes the mean of the squared differences from the mean, corrected for the number of values.
func varianceRule(root bool) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		if err != nil {
			return nil, err
		}
		axes, count := e.axes(), 1
		for _, d := range axes {
			if e.varies(e.n.Args[0].Value, d) {
				return nil, errors.New("a variance over the batch dimension is not supported")
			}
			count *= e.shapeOf(e.n.Args[0].Value)[d]
		}
		correction := e.number("correction", 1)
		if unbiased, given := e.n.Arg("unbiased").(bool); given && !unbiased {
			correction = 0
		}
		mean := e.op("ReduceMean", []string{x}, attribute{"axes", axes}, attribute{"keepdims", 1})
		off := e.op("Sub", []string{x, mean})
		y := e.op("ReduceMean", []string{e.op("Mul", []string{off, off})}, attribute{"axes", axes}, e.keepdims())
		if correction != 0 {
			y = e.op("Mul", []string{y, e.like(y, float64(count)/max(0, float64(count)-correction))})
		}
		if root {
			y = e.op("Sqrt", []string{y})
		}
		return []string{y}, nil
	}
}

// runningSumRule sums up the values along a dimension. Sums of truth values are integers.
func runningSumRule(e *networkEncoder) ([]string, error) {
	x, err := e.converted()
	return []string{e.op("CumSum", []string{e.integersOf(x), e.integers([]int64{int64(e.dim("dim", 0))})})}, err
}

// largestRule writes the k largest or smallest values along a dimension, and their indices.
func largestRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	count, known := e.n.Arg("k").(int64)
	if err != nil || !known {
		return nil, errors.Join(err, errors.New("topk requires a constant k"))
	}
	flag := func(name string) int {
		on, given := e.n.Arg(name).(bool)
		return map[bool]int{true: 1}[on || !given]
	}
	results := e.several("TopK", []string{x, e.graph.shape(int(count))}, 2, attribute{"axis", e.dim("dim", -1)},
		attribute{"largest", flag("largest")}, attribute{"sorted", flag("sorted")})
	e.types[results[1]] = typeInt64
	return results, nil
}

// pickRule looks up values by the indices of another tensor.
func pickRule(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err1 := e.first()
		at, err2 := e.arg("index")
		return []string{e.op(operator, []string{x, at}, attribute{"axis", e.dim("dim", 0)})}, errors.Join(err1, err2)
	}
}

// einsumRule writes a sum of products in Einstein's notation.
func einsumRule(e *networkEncoder) ([]string, error) {
	list, err := e.parts("tensors")
	equation, given := e.n.Arg("equation").(string)
	if err != nil || !given {
		return nil, errors.Join(err, errors.New("the equation is missing"))
	}
	return []string{e.op("Einsum", e.promoted(list), attribute{"equation", equation})}, nil
}

// summedProduct writes beta · self + alpha · the product of two matrices.
func summedProduct(a, b string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		made, err1 := product(a, b)(e)
		with, err2 := e.arg("self")
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return []string{e.op("Add", []string{e.times(with, "beta"), e.times(made[0], "alpha")})}, nil
	}
}

// times multiplies a tensor by an argument, which is 1 if it is missing.
func (e *networkEncoder) times(x, name string) string {
	if e.number(name, 1) == 1 {
		return x
	}
	return e.op("Mul", []string{x, e.scalar(e.kind(x), e.n.Arg(name))})
}

// lengthRule writes the sum of absolute values, or the root of the sum of squares.
func lengthRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	operator, known := map[float64]string{1: "ReduceL1", 2: "ReduceL2"}[e.number("ord", 2)]
	if !known {
		return nil, fmt.Errorf("the order %g is not supported; expected 1 or 2", e.number("ord", 2))
	}
	return []string{e.op(operator, []string{e.cast(x, typeFloat)}, attribute{"axes", e.axes()}, e.keepdims())}, err
}

func oneHotRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	shape := e.shapes[e.n.Results[0]]
	return []string{e.typed(typeInt64, "OneHot", []string{x, e.graph.shape(shape[len(shape)-1]),
		e.integers([]int64{0, 1}, 2)})}, err
}

// largestOfAll writes an adaptive maximum pool with one result per channel, without the indices.
func largestOfAll(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	v, in := e.n.Results[0], e.shapeOf(e.n.Args[0].Value)
	for _, size := range e.shapes[v][2:] {
		if size != 1 {
			return nil, errors.New("an adaptive maximum pool with several places is not supported")
		}
	}
	if len(in) < 3 {
		return nil, errors.New("the input is a single example; expected a batch")
	}
	return []string{e.op("GlobalMaxPool", []string{x})}, err
}
