package onnx

import (
	"errors"
	"fmt"
	"math"
)

// logical combines truth values. Other values count as true if they differ from zero.
func logical(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, y, err := e.operands(e.n.Args[0].Value, e.n.Arg("other"))
		return []string{e.op(operator, []string{e.cast(x, typeBool), e.cast(y, typeBool)})}, err
	}
}

// bitwise combines truth values. ONNX has operators for the bits of integers only since version 1.13.
func bitwise(operator string) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, y, err := e.operands(e.n.Args[0].Value, e.n.Arg("other"))
		if err == nil && e.kind(x) != typeBool {
			err = errors.New("bits of integers are not supported; only truth values are")
		}
		return []string{e.op(operator, []string{x, y})}, err
	}
}

func isNaNRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.typed(typeBool, "IsNaN", []string{e.cast(x, typeFloat)})}, err
}

// reversedSub writes other - alpha · self.
func reversedSub(e *networkEncoder) ([]string, error) {
	x, y, err := e.operands(e.n.Args[0].Value, e.n.Arg("other"))
	if err != nil {
		return nil, err
	}
	return []string{e.op("Sub", []string{y, e.times(x, "alpha")})}, nil
}

func squareRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	x = e.integersOf(x)
	return []string{e.op("Mul", []string{x, x})}, err
}

// quotient writes a division. With a rounding mode, quotients of integers are integers.
func (e *networkEncoder) quotient(x, y string) ([]string, error) {
	mode, rounds := e.n.Arg("rounding_mode").(string)
	if !rounds {
		x, y = e.cast(x, typeFloat), e.cast(y, typeFloat)
		return []string{e.op("Div", []string{x, y})}, nil
	}
	whole := e.kind(x) != typeFloat
	switch {
	case mode != "trunc" && mode != "floor":
		return nil, fmt.Errorf("the rounding mode %q is not supported; expected trunc or floor", mode)
	case mode == "floor" && whole: // ONNX truncates, so the remainder is subtracted before
		x = e.op("Sub", []string{x, e.op("Mod", []string{x, y})})
	}
	made := e.op("Div", []string{x, y})
	switch {
	case !whole && mode == "floor":
		made = e.op("Floor", []string{made})
	case !whole:
		made = e.truncated(made)
	}
	return []string{made}, nil
}

// truncated rounds towards zero.
func (e *networkEncoder) truncated(x string) string {
	return e.op("Mul", []string{e.op("Sign", []string{x}), e.op("Floor", []string{e.op("Abs", []string{x})})})
}

func truncRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	if e.kind(x) != typeFloat {
		return []string{x}, err
	}
	return []string{e.truncated(x)}, err
}

// roundRule rounds halves to even numbers, as PyTorch does.
func roundRule(e *networkEncoder) ([]string, error) {
	if e.number("decimals", 0) != 0 {
		return nil, errors.New("rounding to decimals is not supported")
	}
	return rounded("Round")(e)
}

// remainderRule writes the remainder with the sign of the divisor.
func remainderRule(e *networkEncoder) ([]string, error) {
	x, y, err := e.operands(e.n.Args[0].Value, e.n.Arg("other"))
	if err != nil {
		return nil, err
	}
	if e.kind(x) != typeFloat {
		return []string{e.op("Mod", []string{e.integersOf(x), e.integersOf(y)})}, nil
	}
	rest, zero := e.op("Mod", []string{x, y}, attribute{"fmod", 1}), e.like(x, 0)
	negative := func(v string) string { return e.typed(typeBool, "Less", []string{v, zero}) }
	differs := e.op("Xor", []string{negative(rest), negative(y)})
	some := e.op("Not", []string{e.typed(typeBool, "Equal", []string{rest, zero})})
	return []string{e.typed(typeFloat, "Where", []string{e.op("And", []string{some, differs}),
		e.op("Add", []string{rest, y}), rest})}, nil
}

// fmodRule writes the remainder with the sign of the dividend.
func fmodRule(e *networkEncoder) ([]string, error) {
	x, y, err := e.operands(e.n.Args[0].Value, e.n.Arg("other"))
	return []string{e.op("Mod", []string{e.integersOf(x), e.integersOf(y)}, attribute{"fmod", 1})}, err
}

func logSigmoidRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("Neg", []string{e.op("Softplus", []string{e.op("Neg", []string{x})})})}, err
}

// mishRule writes x · tanh(softplus(x)).
func mishRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("Mul", []string{x, e.op("Tanh", []string{e.op("Softplus", []string{x})})})}, err
}

func hardSigmoidRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("HardSigmoid", []string{x}, attribute{"alpha", 1. / 6}, attribute{"beta", 0.5})}, err
}

func celuRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	return []string{e.op("Celu", []string{x}, attribute{"alpha", e.number("alpha", 1)})}, err
}

// preluRule gives the slopes of channels a dimension for each dimension after the channels.
func preluRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.first()
	slopes, err2 := e.arg("weight")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	sizes := []int{-1}
	for range len(e.shapeOf(e.n.Args[0].Value)) - 2 {
		sizes = append(sizes, 1)
	}
	return []string{e.op("PRelu", []string{x, e.op("Reshape", []string{slopes, e.graph.shape(sizes...)})})}, nil
}

// gluRule multiplies the first half of a dimension by the sigmoid of the second half.
func gluRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	dim := e.dim("dim", -1)
	half := e.shapeOf(e.n.Args[0].Value)[dim] / 2
	halves := e.split(x, dim, []int{half, half})
	return []string{e.op("Mul", []string{halves[0], e.op("Sigmoid", halves[1:])})}, err
}

// hardShrinkRule keeps values beyond lambd on both sides, and sets the others to zero.
func hardShrinkRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	far := e.typed(typeBool, "Greater", []string{e.op("Abs", []string{x}), e.like(x, e.number("lambd", 0.5))})
	return []string{e.typed(typeFloat, "Where", []string{far, x, e.like(x, 0)})}, err
}

// softShrinkRule moves values towards zero by lambd.
func softShrinkRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	rest := e.op("Relu", []string{e.op("Sub", []string{e.op("Abs", []string{x}), e.like(x, e.number("lambd", 0.5))})})
	return []string{e.op("Mul", []string{e.op("Sign", []string{x}), rest})}, err
}

// thresholdRule replaces values up to a threshold.
func thresholdRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	above := e.typed(typeBool, "Greater", []string{x, e.like(x, e.number("threshold", 0))})
	return []string{e.typed(e.kind(x), "Where", []string{above, x, e.like(x, e.number("value", 0))})}, err
}

// scaledLogRule writes a logarithm with another base, by the natural one.
func scaledLogRule(scale float64) operatorRule {
	return func(e *networkEncoder) ([]string, error) {
		x, err := e.first()
		y := e.op("Log", []string{e.cast(x, typeFloat)})
		return []string{e.op("Mul", []string{y, e.like(y, scale)})}, err
	}
}

// exp2Rule writes a power of two.
func exp2Rule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	x = e.cast(x, typeFloat)
	return []string{e.op("Exp", []string{e.op("Mul", []string{x, e.like(x, math.Ln2)})})}, err
}

// log1pRule writes log(1 + x), as PyTorch's own exporters do. Next to zero, it has fewer correct digits than PyTorch.
func log1pRule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	x = e.cast(x, typeFloat)
	return []string{e.op("Log", []string{e.op("Add", []string{x, e.like(x, 1)})})}, err
}

// expm1Rule writes exp(x) - 1, as PyTorch's own exporters do. Next to zero, it has fewer correct digits than PyTorch.
func expm1Rule(e *networkEncoder) ([]string, error) {
	x, err := e.first()
	x = e.op("Exp", []string{e.cast(x, typeFloat)})
	return []string{e.op("Sub", []string{x, e.like(x, 1)})}, err
}

// lerpRule writes self + weight · (end - self).
func lerpRule(e *networkEncoder) ([]string, error) {
	x, err1 := e.first()
	end, err2 := e.arg("end")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	weight := e.n.Arg("weight")
	var by string
	if _, isNumber := asNumber(weight); isNumber {
		by = e.scalar(e.kind(x), weight)
	} else {
		var err error
		if by, err = e.tensorOf(weight); err != nil {
			return nil, err
		}
	}
	return []string{e.op("Add", []string{x, e.op("Mul", []string{e.op("Sub", []string{end, x}), by})})}, nil
}
