package onnx

import (
	"errors"
	"math"

	"graft/model"
	"graft/torch"
)

func unary(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op(operator, []string{x})}, err
	}
}

// operands returns two arguments; one of them may be a number.
func (e *networkEncoder) operands(a, b any) (x, y string, err error) {
	given := []any{a, b}
	names := make([]string, 2)
	for k, arg := range given {
		if _, isNumber := asNumber(arg); !isNumber {
			if names[k], err = e.tensorOf(arg); err != nil {
				return "", "", err
			}
		}
	}
	for k, arg := range given {
		if v, isNumber := asNumber(arg); isNumber {
			other := names[1-k]
			if e.kind(other) == typeInt64 && v != math.Trunc(v) {
				return "", "", errors.New("mixing integers and floating-point numbers is not supported")
			}
			names[k] = e.like(other, v)
		}
	}
	if kind := e.kind(names[0]); kind != e.kind(names[1]) { // promoted as in PyTorch
		for k := range names {
			if e.kind(names[k]) != typeFloat {
				names[k] = e.typed(typeFloat, "Cast", []string{names[k]}, attribute{"to", typeFloat})
			}
		}
	}
	return names[0], names[1], nil
}

func asNumber(arg any) (float64, bool) {
	switch v := arg.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func pairwise(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		if e.number("alpha", 1) != 1 || e.n.Arg("rounding_mode") != nil {
			return nil, errors.New("the arguments alpha and rounding_mode are not supported")
		}
		second := e.n.Arg("other")
		if operator == "Pow" {
			second = e.n.Arg("exponent")
		}
		x, y, err := e.operands(e.n.Args[0].Value, second)
		if err != nil {
			return nil, err
		}
		if operator == "Div" && e.kind(x) == typeInt64 {
			return nil, errors.New("integer division is not supported")
		}
		return []string{e.op(operator, []string{x, y})}, nil
	}
}

func compare(operator string, not bool) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, y, err := e.operands(e.n.Args[0].Value, e.n.Arg("other"))
		if err != nil {
			return nil, err
		}
		out := e.typed(typeBool, operator, []string{x, y})
		if not {
			out = e.op("Not", []string{out})
		}
		return []string{out}, nil
	}
}

func maskedFill(e *networkEncoder) ([]string, error) {
	x, err1 := e.arg("self")
	mask, err2 := e.arg("mask")
	v, isNumber := asNumber(e.n.Arg("value"))
	if !isNumber {
		return nil, errors.New("the fill value is a tensor; expected a number")
	}
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return []string{e.typed(e.kind(x), "Where", []string{mask, e.like(x, v), x})}, nil
}

func whereRule(e *networkEncoder) ([]string, error) {
	condition, err := e.arg("condition")
	if err != nil {
		return nil, err
	}
	x, y, err := e.operands(e.n.Arg("self"), e.n.Arg("other"))
	return []string{e.typed(e.kind(x), "Where", []string{condition, x, y})}, err
}

func reduced(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		rank := len(e.shapeOf(e.n.Args[0].Value))
		var axes []int
		if e.n.Arg("dim") != nil {
			axes = e.whole("dim", 1, 0)
		}
		if list, ok := e.n.Arg("dim").([]any); len(axes) == 0 || ok && len(list) == 0 {
			axes = nil
			for k := range rank {
				axes = append(axes, k)
			}
		}
		keep := attribute{"keepdims", map[bool]int{true: 1}[e.truth("keepdim")]}
		if operator == "ReduceSum" { // axes are an input from operator set 13 on
			return []string{e.op(operator, []string{x, e.graph.shape(axes...)}, keep)}, err
		}
		return []string{e.op(operator, []string{x}, attribute{"axes", axes}, keep)}, err
	}
}

func clipRule(low, high string, least, most float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op("Clip", []string{x, e.like(x, e.number(low, least)), e.like(x, e.number(high, most))})},
			err
	}
}

// activated writes an activation like a layer of a tree.
func activated(kind torch.Activation, parameter string, missing float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		if err != nil {
			return nil, err
		}
		return e.one(e.activation(model.Activation{Kind: kind, Parameter: e.number(parameter, missing)}, x))
	}
}

// geluRule also writes the approximation by tanh (Hendrycks and Gimpel 2016).
func geluRule(e *networkEncoder) ([]string, error) {
	if approximate, _ := e.n.Arg("approximate").(string); approximate != "tanh" {
		return activated(torch.GELU, "", 0)(e)
	}
	x, err := e.first()
	if err != nil {
		return nil, err
	}
	times := func(a, b string) string { return e.op("Mul", []string{a, b}) }
	cube := times(times(times(x, x), x), e.like(x, 0.044715))
	inner := e.op("Tanh", []string{times(e.op("Add", []string{x, cube}), e.like(x, math.Sqrt(2/math.Pi)))})
	return []string{times(times(x, e.like(x, 0.5)), e.op("Add", []string{inner, e.like(x, 1)}))}, nil
}

func rsqrtRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("Reciprocal", []string{e.op("Sqrt", []string{x})})}, err
}
