package pt2

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// readGraph reads the nodes in their order, and the output.
func (b *builder) readGraph() error {
	if err := b.addNodes(b.program.GraphModule.Graph.Nodes); err != nil {
		return err
	}
	if len(b.unmapped) > 0 {
		return b.unmapped
	}
	b.out.Graph.DropSizes()
	if b.train {
		b.note("exported in train mode: normalisation and dropout follow graft's mode, train or eval")
	}
	return b.readOutputs()
}

func (b *builder) addNodes(nodes []node) error {
	for k := range nodes {
		n := &nodes[k]
		add := b.addNode
		if on, ok := isBlock(n); ok {
			add = func(n *node) error { return b.inline(n, on) }
		}
		if err := add(n); err != nil {
			return fmt.Errorf("operator %.100s in %q: %w", n.Target, b.modulePath(n), err)
		}
	}
	return nil
}

// readOutputs reads the outputs, which must be tensors. A constant that a program's network returns is skipped.
func (b *builder) readOutputs() error {
	var found []string
	for _, output := range b.program.GraphModule.Signature.Outputs {
		var s spec
		if err := decode(output, &s); err != nil {
			return err
		}
		switch output.kind {
		case "user_output":
			var tensor struct{ Name string }
			if s.Arg != nil && s.Arg.constant() && b.several {
				continue
			}
			if s.Arg == nil || s.Arg.kind != "as_tensor" {
				return fmt.Errorf("the network returns a value that is not a tensor; " +
					"export a network that returns only logits")
			}
			if err := decode(*s.Arg, &tensor); err != nil {
				return err
			}
			found = append(found, tensor.Name)
		case "buffer_mutation":
		default:
			return fmt.Errorf("unsupported output of kind %.40q", output.kind)
		}
	}
	for k, name := range found {
		value, err := b.ref(name)
		if err != nil {
			return err
		}
		out, ok := value.(graph.Value)
		switch {
		case !ok:
			return fmt.Errorf("the network returns the tensor %v without computing it; export a network that returns "+
				"its logits", value)
		case k == 0:
			b.out.Graph.Output = out
		default:
			b.out.Graph.MoreOutputs = append(b.out.Graph.MoreOutputs, out)
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("the network returns no tensor; export a network that returns its logits")
	}
	return nil
}

// ref finds a value or weight that a node reads.
func (b *builder) ref(name string) (any, error) {
	value, ok := b.names[name]
	if !ok {
		return nil, fmt.Errorf("no earlier operator computes the input %.200q", name)
	}
	if _, weight := value.(graph.Weight); weight || b.views.aliases[name] == nil {
		return value, nil
	}
	current, err := b.views.read(name)
	if err != nil {
		return nil, fmt.Errorf("read the input %.200q: %w", name, err)
	}
	return current, nil
}

// asserts are checks of shapes and types, which LibTorch's operators do themselves.
var asserts = []string{"_assert_tensor_metadata.default", "_assert_scalar.default", "_assert_async.msg",
	"sym_constrain_range.default", "sym_constrain_range_for_size.default"}

// renamed maps operators to equivalent ones for a network.
var renamed = map[string]string{
	"lift_fresh_copy.default": "clone.default", "lift_fresh.default": "alias.default",
	"detach_.default":      "detach.default",
	"_unsafe_view.default": "view.default", "zero_.default": "zeros_like.default", "fill_.Scalar": "full_like.default",
	"copy_.default": "expand_as.default", "to.device": "to.dtype", "to.dtype_layout": "to.dtype",
	"__and__.Tensor": "bitwise_and.Tensor", "__or__.Tensor": "bitwise_or.Tensor",
	"__xor__.Tensor": "bitwise_xor.Tensor", "__and__.Scalar": "bitwise_and.Scalar",
	"swapdims.default": "swapaxes.default", "transpose_.default": "transpose.int", decomposedNorm: "batch_norm.default",
	"floor_divide.default": "div.Tensor_mode", "floor_divide.Scalar": "div.Tensor_mode",
	"floor_divide_.Tensor": "div.Tensor_mode", "floor_divide_.Scalar": "div.Tensor_mode",
	"rrelu.default": "leaky_relu.default", "rrelu_.default": "leaky_relu.default",
	"alpha_dropout.default": "alias.default", "feature_alpha_dropout.default": "alias.default",
	"mT.default": "transpose.int", "broadcast_to.default": "expand.default", "movedim.intlist": "permute.default",
	"moveaxis.intlist": "permute.default", "moveaxis.int": "movedim.int",
}

// decomposedNorm is the batch normalization in eval mode of PyTorch 2.5, and of later versions after
// run_decompositions. It also returns two tensors that nothing reads.
const decomposedNorm = "_native_batch_norm_legit_no_training.default"

// argumentNames are the names of arguments in the operators of renamed, if they differ.
var argumentNames = map[string]map[string]string{
	"fill_.Scalar": {"value": "fill_value"}, "copy_.default": {"self": "other", "src": "self"},
	"dropout_.default": {"self": "input"}, "feature_dropout_.default": {"self": "input"},
	"swapdims.default":      {"dim0": "axis0", "dim1": "axis1"},
	"alpha_dropout.default": {"input": "self"}, "feature_alpha_dropout.default": {"input": "self"},
}

func (b *builder) addNode(n *node) error {
	target, inner := strings.CutPrefix(n.Target, "torch.ops.aten.")
	if !inner {
		target, inner = strings.CutPrefix(n.Target, "_operator.")
		target = "operator." + target
	}
	if inner && slices.Contains(asserts, target) {
		return nil
	}
	if target == decomposedNorm && len(n.Outputs) > 1 {
		first := *n
		first.Outputs = n.Outputs[:1]
		n = &first
	}
	if formula := cells[target]; formula != nil {
		return b.addCell(n, formula)
	}
	changes := inPlace(target) && target != "detach_.default"
	out := graph.Node{Operator: operatorOf(target, changes), Module: b.modulePath(n)}
	if !inner || !torch.KnowsOperator(out.Operator) && !comparesSizes(out.Operator) {
		if out.Returns = b.returns(n); out.Returns == nil || !inner || changes || !torch.PassesOperator(out.Operator) {
			b.miss(n, out.Module)
			return b.addResults(n, &out, "")
		}
		b.pass(&out)
	}
	self, err := b.addArgs(&out, n, argumentNames[target])
	if err != nil {
		return err
	}
	if err := b.rewrite(&out, n, target, self); err != nil {
		return err
	}
	if reshapes(target) {
		return b.reshape(&out, n, self)
	}
	if target == "copy_.default" && !b.sameType(n) {
		return fmt.Errorf("an in-place copy to another type is not supported; create a new tensor in the " +
			"network's code")
	}
	if _, counts := b.names[self].(graph.Weight); counts && changes {
		return b.changeTensor(n, self)
	}
	if err := b.addResults(n, &out, self); err != nil {
		return err
	}
	b.out.Graph.Nodes = append(b.out.Graph.Nodes, out)
	if changes && len(out.Results) == 1 {
		b.inPlace[out.Module] = true
		return b.views.change(self, resultNames(n)[0], n.Target, b.keepType(n, &out))
	}
	return nil
}

// keepType returns the result of an operator in place in the type of its first argument. The operator that does not
// change its argument has the common type of all arguments instead: this differs if another argument is a tensor of
// another type, unless it is a condition, or an integer for a floating-point tensor.
func (b *builder) keepType(n *node, out *graph.Node) graph.Value {
	var types []weights.DType
	for _, input := range n.Inputs {
		if m := b.program.GraphModule.Graph.TensorValues[nameIn(input.Arg)]; input.Arg.kind == "as_tensor" && m != nil {
			types = append(types, dtypes[m.DType])
		}
	}
	differs := func(t weights.DType) bool {
		return t != types[0] && t != weights.Bool && (floating(t) || !floating(types[0]))
	}
	if !slices.ContainsFunc(types, differs) {
		return out.Results[0]
	}
	kept := b.unique(resultNames(n)[0] + "_kept")
	b.out.Graph.Nodes = append(b.out.Graph.Nodes, graph.Node{Operator: "to.dtype", Module: out.Module,
		Args:    []graph.Arg{{Name: "self", Value: out.Results[0]}, {Name: "dtype", Value: types[0]}},
		Results: []graph.Value{kept}})
	return kept
}

// floating reports whether a type has fractions.
func floating(t weights.DType) bool {
	return slices.Contains([]weights.DType{weights.Float64, weights.Float32, weights.Float16, weights.BFloat16}, t)
}

// operatorOf returns the operator that graft computes for a target: the one that does not change its argument.
func operatorOf(target string, changes bool) string {
	if other, ok := renamed[target]; ok {
		return other
	}
	if !changes {
		return target
	}
	name, overload, _ := strings.Cut(target, ".")
	return strings.TrimSuffix(name, "_") + "." + overload
}

// addArgs adds the inputs of a node, some under other names. It returns the name of the first input if it is a tensor.
func (b *builder) addArgs(out *graph.Node, n *node, names map[string]string) (self string, err error) {
	for k, input := range n.Inputs {
		if k == 0 && input.Arg.kind == "as_tensor" {
			var tensor struct{ Name string }
			if err := decode(input.Arg, &tensor); err != nil {
				return "", err
			}
			self = tensor.Name
		}
		if err := b.addArg(out, cmp.Or(names[input.Name], input.Name), input.Arg); err != nil {
			return "", fmt.Errorf("argument %.60s: %w", input.Name, err)
		}
	}
	return self, nil
}

// reshapes reports whether an operator changes the shape of its first argument in place, but none of its values.
func reshapes(target string) bool {
	return slices.Contains([]string{"squeeze_.default", "squeeze_.dim", "unsqueeze_.default", "t_.default",
		"transpose_.default", "swapaxes_.default"}, target)
}

// reshape adds an operator of reshapes as a view, which the name of its first argument reads from now on.
func (b *builder) reshape(out *graph.Node, n *node, self string) error {
	if _, weight := b.names[self].(graph.Weight); weight {
		return b.changeTensor(n, self)
	}
	if err := b.addResults(n, out, self); err != nil {
		return err
	}
	b.out.Graph.Nodes = append(b.out.Graph.Nodes, *out)
	result := resultNames(n)[0]
	b.names[self], b.views.aliases[self] = b.names[result], b.views.aliases[result]
	return nil
}

// inPlace reports whether an operator changes its first argument.
func inPlace(target string) bool {
	name, _, _ := strings.Cut(target, ".")
	return strings.HasSuffix(name, "_") && !strings.HasSuffix(name, "__")
}

// changeTensor omits the batch count of a normalisation, because a graph counts batches itself in train mode. Any other
// change of the network's tensors is an error.
func (b *builder) changeTensor(n *node, self string) error {
	weight := b.names[self].(graph.Weight)
	if !strings.HasSuffix(string(weight), "num_batches_tracked") {
		return fmt.Errorf("the operator modifies the network's tensor %q; forward must not modify the network's state",
			string(weight))
	}
	for _, name := range resultNames(n) {
		b.names[name] = weight
	}
	return nil
}

// miss records an operator that cannot be mapped.
func (b *builder) miss(n *node, module string) {
	advice := "rewrite the module with operators that graft supports"
	switch {
	case strings.HasPrefix(n.Target, "torch.ops.higher_order."):
		advice = "write the network without control flow that depends on tensors"
	case !strings.HasPrefix(n.Target, "torch.ops.aten.") && !strings.HasPrefix(n.Target, "_operator."):
		advice = "replace the custom operator with PyTorch operators"
	case inPlace(strings.TrimPrefix(n.Target, "torch.ops.aten.")):
		advice = "use the operator's out-of-place form"
	}
	b.unmapped = append(b.unmapped, graph.Miss{Operator: n.Target, Module: module, Advice: advice})
}

// resultNames returns the names of a node's results; items of a list count separately.
func resultNames(n *node) []string {
	var names []string
	for _, output := range n.Outputs {
		var one struct {
			Name   string `json:"name"`
			AsName string `json:"as_name"`
		}
		var list []struct{ Name string }
		switch output.kind {
		case "as_tensors":
			if json.Unmarshal(output.body, &list) == nil {
				for _, item := range list {
					names = append(names, item.Name)
				}
			}
		default:
			if json.Unmarshal(output.body, &one) == nil {
				names = append(names, one.Name+one.AsName)
			}
		}
	}
	return names
}

// addResults names the results of a node. If it returns a view, the view shares self's memory.
func (b *builder) addResults(n *node, out *graph.Node, self string) error {
	for _, name := range resultNames(n) {
		if _, taken := b.names[name]; taken || name == "" {
			return fmt.Errorf("duplicate or empty value name %.200q", name)
		}
		value := b.unique(name)
		out.Results = append(out.Results, value)
		b.names[name] = value
	}
	if len(n.Outputs) > 0 && !strings.HasPrefix(n.Outputs[0].kind, "as_tensor") {
		return nil // a size
	}
	for k, name := range resultNames(n) {
		b.views.add(name, *out, k, self, b.contiguous(self))
		if from := reordered(n); from != "" {
			b.views.share(name, from, *out)
		}
	}
	return nil
}

// reordered returns the operand of an einsum that only reorders the dimensions of one tensor; empty for others. The
// result shares the memory of the operand.
func reordered(n *node) string {
	if n.Target != "torch.ops.aten.einsum.default" || len(n.Inputs) < 2 {
		return ""
	}
	var equation string
	var operands []struct{ Name string }
	if decode(n.Inputs[0].Arg, &equation) != nil || decode(n.Inputs[1].Arg, &operands) != nil || len(operands) != 1 {
		return ""
	}
	from, to, explicit := strings.Cut(equation, "->")
	for _, letter := range from {
		if explicit && letter != ' ' && letter != '.' && !strings.ContainsRune(to, letter) {
			return "" // a sum
		}
	}
	return operands[0].Name
}

// contiguous reports whether the items of a value are contiguous in memory.
func (b *builder) contiguous(name string) bool {
	m := b.program.GraphModule.Graph.TensorValues[name]
	if m == nil || len(m.Strides) != len(m.Sizes) {
		return false
	}
	v := view{}
	for k := range m.Sizes {
		v.shape, v.strides = append(v.shape, int(m.Sizes[k].number)), append(v.strides, m.Strides[k].number)
	}
	return v.contiguous()
}

// comparesSizes reports whether an operator compares sizes; only assertions use the result.
func comparesSizes(operator string) bool {
	return slices.Contains([]string{"operator.ge", "operator.le", "operator.gt", "operator.lt", "operator.eq",
		"operator.ne", "operator.and_"}, operator)
}

// sameType reports whether a value has the type of the value copied into it. The copy is expand_as(src, self).
func (b *builder) sameType(n *node) bool {
	var types []int
	for _, input := range n.Inputs[:min(2, len(n.Inputs))] {
		var tensor struct{ Name string }
		if input.Arg.kind != "as_tensor" || decode(input.Arg, &tensor) != nil {
			return false
		}
		if m := b.program.GraphModule.Graph.TensorValues[tensor.Name]; m != nil {
			types = append(types, m.DType)
		}
	}
	return len(types) == 2 && types[0] == types[1]
}
