package reader

import (
	"fmt"
	"slices"

	"graft/model/graph"
	"graft/torch"
)

// call is an operator of the model, with its operands.
type call struct {
	*builder
	*node
	operands []operand
}

// operators map ONNX's operators to ATen's.
var operators = map[string]func(c *call) error{
	"Conv": convolution, "ConvTranspose": transposed, "Gemm": gemm, "MatMul": pairwise("matmul.default"),
	"BatchNormalization": batchNorm, "LayerNormalization": layerNorm, "InstanceNormalization": instanceNorm,
	"LSTM": recurrent, "GRU": recurrent, "RNN": recurrent,
	"Add": arithmetic("add"), "Sub": arithmetic("sub"), "Mul": arithmetic("mul"), "Div": arithmetic("div"),
	"Pow":  power,
	"Relu": unary("relu.default"), "Sigmoid": unary("sigmoid.default"), "Tanh": unary("tanh.default"),
	"HardSwish": unary("hardswish.default"),
	"Sqrt":      unary("sqrt.default"), "Reciprocal": unary("reciprocal.default"), "Neg": unary("neg.default"),
	"Exp": unary("exp.default"), "Log": unary("log.default"),
	"Erf": unary("erf.default"), "Cos": unary("cos.default"), "Sin": unary("sin.default"),
	"Floor": unary("floor.default"), "Ceil": unary("ceil.default"), "Tile": tile, "Abs": unary("abs.default"),
	"Sign": unary("sign.default"),
	"Not":  unary("logical_not.default"), "Dropout": dropout,
	"Elu": slope("elu.default", "alpha", 1), "LeakyRelu": slope("leaky_relu.default", "negative_slope", 0.01),
	"Gelu":    gelu,
	"Softmax": softmax("softmax.int"), "LogSoftmax": softmax("log_softmax.int"), "Clip": clip,
	"MaxPool": maxPool, "AveragePool": averagePool, "GlobalAveragePool": globalPool("mean.dim"),
	"GlobalMaxPool": globalPool("amax.default"), "ReduceL1": lengths(1), "ReduceL2": lengths(2), "OneHot": oneHot,
	"ConstantOfShape": filled,
	"ReduceMean":      reduced("mean.dim"), "ReduceMax": reduced("amax.default"), "ReduceMin": reduced("amin.default"),
	"ReduceSum": reduced("sum.dim_IntList"),
	"Resize":    resize,
	"Concat":    concat, "Split": split, "Reshape": reshape, "Flatten": flatten, "Transpose": transpose,
	"Squeeze": squeeze, "Unsqueeze": unsqueeze,
	"Slice": slice, "Gather": gather, "Expand": expand, "Shape": shape, "Identity": identity, "Cast": cast,
	"Constant": constant,
	"Softplus": unary("softplus.default"), "Max": either("maximum.default"), "Min": either("minimum.default"),
	"Greater": pairwise("gt.Tensor"), "Less": pairwise("lt.Tensor"),
	"GreaterOrEqual": pairwise("ge.Tensor"), "LessOrEqual": pairwise("le.Tensor"),
	"And": pairwise("logical_and.default"), "Or": pairwise("logical_or.default"),
	"Where": where, "Equal": pairwise("eq.Tensor"), "Trilu": trilu, "Range": arange,
	"Tan": unary("tan.default"), "Atan": unary("atan.default"), "Sinh": unary("sinh.default"),
	"Cosh": unary("cosh.default"), "Round": unary("round.default"), "IsNaN": unary("isnan.default"),
	"Xor": pairwise("logical_xor.default"), "Mod": remainder, "Mish": unary("mish.default"),
	"HardSigmoid": hardSigmoid, "Selu": selu, "Celu": slope("celu.default", "alpha", 1), "PRelu": prelu,
	"ReduceLogSumExp": reduced("logsumexp.default"), "ReduceProd": products, "ArgMax": place("argmax.default"),
	"ArgMin": place("argmin.default"), "CumSum": runningSum, "TopK": largest, "GatherElements": gatherElements,
	"Einsum": einsum, "Pad": pad, "DepthToSpace": depthToSpace,
}

// ofMatrices are the operators that accept matrices of sizes.
var ofMatrices = []string{"Reshape", "Slice", "Transpose", "Cast", "Identity"}

func (b *builder) addNode(n *node) error {
	scopes, _ := scopesOf(n)
	b.module = ""
	if len(scopes) > 0 {
		b.module = scopes[len(scopes)-1]
	}
	c := &call{builder: b, node: n}
	for _, name := range n.in {
		o, ok := b.values[name] // an empty name is an omitted input
		if !ok && name != "" && len(b.missed) == 0 {
			return fmt.Errorf("no earlier operator computes the input %.100q", name)
		}
		if o.wide > 0 && !slices.Contains(ofMatrices, n.op) {
			return fmt.Errorf("the input %.100q is a matrix of sizes, which this operator does not support", name)
		}
		c.operands = append(c.operands, o)
	}
	if err := b.checkResults(n); err != nil {
		return err
	}
	make, known := operators[n.op]
	if !known || n.domain != "" && n.domain != "ai.onnx" {
		return b.miss(n, "export the network as a .pt2 archive, or replace the operator")
	}
	if len(n.out) == 0 || len(b.missed) > 0 {
		return nil
	}
	if err := n.checkAttributes(); err != nil {
		return err
	}
	b.setKinds(n)
	before := len(b.out.Graph.Nodes)
	if err := make(c); err != nil {
		return err
	}
	for _, made := range b.out.Graph.Nodes[before:] {
		if !torch.KnowsOperator(made.Operator) {
			return b.miss(n, "graft has no "+made.Operator+"; export the network as a .pt2 archive")
		}
	}
	return nil
}

// checkResults returns an error unless the name of each result is unique in the model: ONNX assigns a name once.
func (b *builder) checkResults(n *node) error {
	for k, name := range n.out {
		if name == "" && k > 0 {
			continue // an omitted optional result
		}
		if name == "" || b.values[name].given || slices.Contains(n.out[:k], name) {
			return fmt.Errorf("result %.100q: the name is empty or already in use; export the model again", name)
		}
	}
	return nil
}

func (b *builder) miss(n *node, advice string) error {
	name := n.op
	if n.domain != "" {
		name = n.domain + "." + name
	}
	b.missed = append(b.missed, graph.Miss{Operator: name, Module: b.module, Advice: advice})
	return nil
}

// operand returns an input; a missing input is not given.
func (c *call) operand(k int) operand {
	if k < len(c.operands) {
		return c.operands[k]
	}
	return operand{}
}

// need returns an input that must be a tensor.
func (c *call) need(k int) (operand, error) {
	o := c.operand(k)
	if !o.given || o.ref == nil {
		return o, fmt.Errorf("input %d is missing, or is a size instead of a tensor", k)
	}
	return o, nil
}

// orElse returns an error, or a new one with the given text if it is nil.
func orElse(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return fmt.Errorf(format, args...)
}

// whole returns an attribute with one number.
func (c *call) whole(name string, otherwise int64) int64 {
	if a := c.attributes[name]; a != nil {
		return a.whole
	}
	return otherwise
}

func (c *call) real(name string, otherwise float64) float64 {
	if a := c.attributes[name]; a != nil {
		return short(a.real)
	}
	return otherwise
}

func (c *call) text(name, otherwise string) string {
	if a := c.attributes[name]; a != nil && a.text != "" {
		return a.text
	}
	return otherwise
}

// list returns an attribute with several numbers; nil if it is missing.
func (c *call) list(name string) []int64 {
	if a := c.attributes[name]; a != nil {
		return a.list
	}
	return nil
}

// rank is the number of dimensions of an operand.
func (c *call) rank(o operand) (int, error) {
	if t := c.tensors[o.name]; t != nil {
		return len(t.dims), nil
	}
	if n, ok := c.message.ranks[o.name]; ok {
		return n, nil
	}
	if shape, ok := c.example(o); ok {
		return len(shape), nil
	}
	return 0, fmt.Errorf("the model has no shape for %.100q; infer shapes before the export", o.name)
}

// example returns the shape of a computed operand for the example input; false if graft cannot infer it.
func (c *call) example(o operand) ([]int, bool) {
	v, ok := o.ref.(graph.Value)
	c.inferred.Nodes = c.builder.out.Graph.Nodes
	if !ok || c.sizes.Extend() != nil {
		return nil, false
	}
	return c.sizes.Of(v), true
}

// done sets the value of the first output.
func (c *call) done(operator string, args ...graph.Arg) error {
	c.set(c.node.out[0], c.emit(operator, c.node.out[0], args...))
	return nil
}

// unary is an operator of one tensor.
func unary(operator string) func(*call) error {
	return func(c *call) error {
		x, err := c.need(0)
		if err != nil {
			return err
		}
		return c.done(operator, c.arg("self", x))
	}
}

// pairwise is an operator of two tensors.
func pairwise(operator string) func(*call) error {
	return func(c *call) error {
		x, err := c.need(0)
		if err != nil {
			return err
		}
		return c.done(operator, c.arg("self", x), graph.Arg{Name: "other", Value: c.number(c.operand(1))})
	}
}

// either is an operator of two tensors, which ONNX permits for any number.
func either(operator string) func(*call) error {
	return func(c *call) error {
		if len(c.operands) != 2 {
			return fmt.Errorf("the operator has %d inputs, and graft supports only 2; export the network as a .pt2 "+
				"archive", len(c.operands))
		}
		return pairwise(operator)(c)
	}
}

func slope(operator, name string, otherwise float64) func(*call) error {
	return func(c *call) error {
		x, err := c.need(0)
		if err != nil {
			return err
		}
		return c.done(operator, c.arg("self", x), graph.Arg{Name: name, Value: c.real("alpha", otherwise)})
	}
}

func softmax(operator string) func(*call) error {
	return func(c *call) error {
		x, err := c.need(0)
		if err != nil {
			return err
		}
		return c.done(operator, c.arg("self", x), graph.Arg{Name: "dim", Value: c.whole("axis", -1)})
	}
}

// arithmetic is an operator of two tensors, or of two lists of sizes.
func arithmetic(name string) func(*call) error {
	return func(c *call) error {
		a, b := c.operand(0), c.operand(1)
		if a.sizes != nil && b.sizes != nil {
			return sizes(c, name, a, b)
		}
		if a.ref == nil && a.sizes == nil || !b.given {
			return fmt.Errorf("an operand is missing")
		}
		args := []graph.Arg{{Name: "self", Value: c.number(a)}, {Name: "other", Value: c.number(b)}}
		if name == "div" && c.integral(a.name) {
			return c.done("div.Tensor_mode", append(args, graph.Arg{Name: "rounding_mode", Value: "trunc"})...)
		}
		return c.done(name+".Tensor", args...)
	}
}

// sizes computes with sizes one by one.
func sizes(c *call, name string, a, b operand) error {
	operator, known := map[string]string{"add": "operator.add", "sub": "operator.sub", "mul": "operator.mul",
		"div": "operator.floordiv"}[name]
	if !known || len(a.sizes) != len(b.sizes) && len(a.sizes) != 1 && len(b.sizes) != 1 {
		return fmt.Errorf("cannot combine a list of %d sizes with a list of %d sizes", len(a.sizes), len(b.sizes))
	}
	var list []any
	for k := range max(len(a.sizes), len(b.sizes)) {
		x, y := a.sizes[min(k, len(a.sizes)-1)], b.sizes[min(k, len(b.sizes)-1)]
		list = append(list, c.emit(operator, c.node.out[0], graph.Arg{Name: "a", Value: x},
			graph.Arg{Name: "b", Value: y}))
	}
	c.values[c.node.out[0]] = operand{sizes: list, one: a.one && b.one, given: true, name: c.node.out[0]}
	return nil
}
