package onnx

import (
	"errors"
	"math"

	"graft/model"
	"graft/torch"
	"graft/torch/weights"
)

func unary(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op(operator, []string{x})}, err
	}
}

// realOnly returns the rule of an operator that converts integers and truth values to real numbers, as PyTorch does.
func realOnly(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op(operator, []string{e.cast(x, typeFloat)})}, err
	}
}

// rounded returns the rule of an operator that does not change integers.
func rounded(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		if e.kind(x) != typeFloat {
			return []string{x}, err
		}
		return []string{e.op(operator, []string{x})}, err
	}
}

func logicalNot(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("Not", []string{e.cast(x, typeBool)})}, err
}

// bitwiseNot writes -1 - x for integers.
func bitwiseNot(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	if e.kind(x) == typeBool {
		return []string{e.op("Not", []string{x})}, err
	}
	return []string{e.op("Sub", []string{e.like(x, -1), x})}, err
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
		if _, isNumber := asNumber(arg); isNumber {
			names[k] = e.scalar(e.kindOf(arg, names[1-k]), arg)
		}
	}
	names = e.promoted(names)
	return names[0], names[1], nil
}

// promoted converts tensors to their common type, as PyTorch does.
func (e *networkEncoder) promoted(names []string) []string {
	to, same := e.kind(names[0]), true
	for _, name := range names {
		kind := e.kind(name)
		same = same && kind == to
		if to == typeBool || kind == typeFloat {
			to = kind
		}
	}
	if same {
		return names
	}
	var converted []string
	for _, name := range names {
		converted = append(converted, e.cast(name, to))
	}
	return converted
}

// scalar adds a number of a type. Integers keep all digits.
func (e *networkEncoder) scalar(kind int64, number any) string {
	if whole, ok := number.(int64); ok && kind == typeInt64 {
		return e.integers([]int64{whole})
	}
	v, _ := asNumber(number)
	return e.filled(kind, []float64{v})
}

// cast converts a tensor to a type.
func (e *networkEncoder) cast(x string, kind int64) string {
	if e.kind(x) == kind {
		return x
	}
	return e.typed(kind, "Cast", []string{x}, attribute{"to", int(kind)})
}

// kindOf returns the type of a number next to a tensor, or next to another number if the name is empty. As in PyTorch,
// a number only changes the type if it belongs to a higher category: a float next to integers, or an integer next to
// truth values.
func (e *networkEncoder) kindOf(number any, other string) int64 {
	_, whole := number.(int64)
	switch {
	case !whole:
		return typeFloat
	case other == "" || e.kind(other) == typeBool:
		return typeInt64
	}
	return e.kind(other)
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

// ofTruths are the operators that compute the same for truth values.
var ofTruths = map[string]string{"Mul": "And", "Min": "And", "Add": "Or", "Max": "Or"}

func pairwise(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		second := e.n.Arg("other")
		if operator == "Pow" {
			second = e.n.Arg("exponent")
		}
		x, y, err := e.operands(e.n.Args[0].Value, second)
		if err != nil {
			return nil, err
		}
		if operator == "Div" {
			return e.quotient(x, y)
		}
		if e.number("alpha", 1) != 1 {
			y = e.times(e.integersOf(y), "alpha")
			x = e.cast(x, e.kind(y))
		}
		if logical := ofTruths[operator]; e.kind(x) == typeBool {
			if logical == "" {
				return nil, errors.New("the operands are truth values; ONNX requires numbers")
			}
			return []string{e.op(logical, []string{x, y})}, nil
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
		if operator != "Equal" && e.kind(x) == typeBool {
			x, y = e.cast(x, typeInt64), e.cast(y, typeInt64)
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
	if _, isNumber := asNumber(e.n.Arg("value")); !isNumber {
		return nil, errors.New("the fill value is a tensor; expected a number")
	}
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return []string{e.typed(e.kind(x), "Where", []string{mask, e.scalar(e.kind(x), e.n.Arg("value")), x})}, nil
}

func whereRule(e *networkEncoder) ([]string, error) {
	condition, err := e.arg("condition")
	if err != nil {
		return nil, err
	}
	x, y, err := e.operands(e.n.Arg("self"), e.n.Arg("other"))
	return []string{e.typed(e.kind(x), "Where", []string{condition, x, y})}, err
}

// converted returns the first argument, converted to the type in the argument dtype.
func (e *networkEncoder) converted() (string, error) {
	x, err := e.first()
	if d, ok := e.n.Arg("dtype").(weights.DType); ok && err == nil {
		x = e.cast(x, onnxTypes[d])
	}
	return x, err
}

func reduced(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.converted()
		if operator == "ReduceSum" { // axes are an input from operator set 13 on
			return []string{e.op(operator, []string{e.integersOf(x), e.graph.shape(e.axes()...)}, e.keepdims())}, err
		}
		return []string{e.op(operator, []string{x}, attribute{"axes", e.axes()}, e.keepdims())}, err
	}
}

func clipRule(low, high string, least, most float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		return []string{e.op("Clip", []string{x, e.like(x, e.number(low, least)), e.like(x, e.number(high, most))})},
			err
	}
}

// clampRule limits values; a limit may be a tensor.
func clampRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	if err != nil {
		return nil, err
	}
	for _, limit := range []struct{ name, operator string }{{"min", "Max"}, {"max", "Min"}} {
		value := e.n.Arg(limit.name)
		if value == nil {
			continue
		}
		var y string
		if _, isNumber := asNumber(value); isNumber {
			y = e.scalar(e.kindOf(value, x), value)
		} else if y, err = e.tensorOf(value); err != nil {
			return nil, err
		}
		if e.kind(x) != e.kind(y) {
			x, y = e.cast(x, typeFloat), e.cast(y, typeFloat)
		}
		x = e.op(limit.operator, []string{x, y})
	}
	return []string{x}, nil
}

// softplusRule writes log(1 + exp(beta·x)) / beta, and x itself where beta·x exceeds the threshold.
func softplusRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	if err != nil {
		return nil, err
	}
	beta := e.number("beta", 1)
	scaled := e.op("Mul", []string{x, e.like(x, beta)})
	soft := e.op("Div", []string{e.op("Softplus", []string{scaled}), e.like(x, beta)})
	large := e.typed(typeBool, "Greater", []string{scaled, e.like(x, e.number("threshold", 20))})
	return []string{e.typed(e.kind(x), "Where", []string{large, x, soft})}, nil
}

// activated writes an activation like a layer of a tree.
func activated(kind torch.Activation, parameter string, missing float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		if err != nil {
			return nil, err
		}
		if kind != torch.ReLU {
			x = e.cast(x, typeFloat)
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
	return []string{e.op("Reciprocal", []string{e.op("Sqrt", []string{e.cast(x, typeFloat)})})}, err
}
