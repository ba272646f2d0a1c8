package python

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/model"
	"graft/model/graph"
	"graft/torch/weights"
)

// graphSource returns the text of a module for a network that runs as a graph: its modules with PyTorch's names and
// prints, and its operators as calls of torch.ops.aten in order.
func graphSource(n *model.Network, o Options) string {
	g := n.Graph
	w := &graphWriter{Graph: g, names: map[graph.Value]string{}}
	inputs := w.inputs()
	var b strings.Builder
	fmt.Fprintf(&b, head, inDocstring.Replace(n.Name()), n.Input, inDocstring.Replace(o.Weights))
	b.WriteString(graphClasses)
	class, arguments := printing(g.Modules[0])
	fmt.Fprintf(&b, "\n\nclass Network(%s):\n    def __init__(self):\n        super().__init__(%s)\n", class, arguments)
	for _, m := range g.Modules[1:] {
		class, arguments := printing(m)
		fmt.Fprintf(&b, "        self.put(%s, %s(%s))\n", quote(m.Path), class, arguments)
	}
	for _, t := range g.Tensors {
		fmt.Fprintf(&b, "        self.hold(%s, %s, %s, %s, %s)\n", quote(t.Name), quote(string(t.Role)),
			shapeText(t.Shape), dtypeText(t.DType), quote(t.Tied))
	}
	if slices.ContainsFunc(g.Tensors, isConstant) {
		b.WriteString("        self.restore({k: v for k, v in read(_beside()).items() if k in self.constants})\n")
	}
	fmt.Fprintf(&b, "\n    def forward(self, %s):\n        aten, w = torch.ops.aten, self.tensors()\n", inputs)
	for k := range g.Nodes {
		fmt.Fprintf(&b, "        %s\n", w.call(&g.Nodes[k]))
		if counter := g.Counter(&g.Nodes[k]); counter != "" {
			fmt.Fprintf(&b, "        if self.training:\n            w[%s].add_(1)\n", quote(counter))
		}
	}
	fmt.Fprintf(&b, "        return %s\n", w.outputs())
	b.WriteString(o.images())
	fmt.Fprintf(&b, tail, quote(o.Weights), "Network", "net.load(read(path))", "Network")
	return b.String()
}

// printing returns the class of graphClasses that prints as a module does, and its arguments.
func printing(m graph.Module) (class, arguments string) {
	arguments = quote(m.Class) + ", " + quote(m.Extra)
	switch {
	case m.Print != "":
		return "_Printed", arguments + ", " + quote(m.Print)
	case m.Folds:
		return "_List", arguments
	}
	return "_Module", arguments
}

// isConstant reports whether a tensor is missing from the state dict.
func isConstant(t graph.Tensor) bool { return t.Role == graph.Constant }

const graphClasses = `

class _Module(nn.Module):
    """A module that prints like the PyTorch module that it replaces."""

    def __init__(self, name, extra):
        super().__init__()
        self._name, self._extra = name, extra
        self.held, self.constants = {}, set()

    def _get_name(self):
        return self._name

    def extra_repr(self):
        return self._extra

    def put(self, path, module):
        parent, _, name = path.rpartition(".")
        (self.get_submodule(parent) if parent else self).add_module(name, module)

    def hold(self, path, role, shape, dtype, tied):
        """Add a tensor to the module whose path begins its name."""
        module, rest = self, path.split(".")
        while len(rest) > 1 and rest[0] in module._modules:
            module, rest = module._modules[rest[0]], rest[1:]
        name = "_".join(rest)
        self.held[path] = (module, name)
        tensor = getattr(*self.held[tied]) if tied else torch.zeros(shape, dtype=dtype)
        if role != "parameter":
            module.register_buffer(name, tensor, persistent=role == "buffer")
        else:
            module.register_parameter(name, tensor if tied else nn.Parameter(tensor))
        if role == "constant":
            self.constants.add(path)

    def tensors(self):
        return {path: getattr(module, name) for path, (module, name) in self.held.items()}

    def restore(self, state):
        """Copy tensors by name, including constants, which are not in state dicts."""
        own = self.tensors()
        with torch.no_grad():
            for path, tensor in state.items():
                if path not in own or own[path].shape != tensor.shape:
                    raise RuntimeError("the weights contain %s of shape %s, which does not match the network"
                                       % (path, list(tensor.shape)))
                own[path].copy_(tensor)

    def load(self, state):
        """Load all tensors; missing constants keep their values."""
        missing = [path for path in self.held if path not in state and path not in self.constants]
        if missing:
            raise RuntimeError("the weights lack " + ", ".join(missing))
        self.restore(state)


class _List(_Module):
    """A module that prints equal children in one line."""

    __repr__ = nn.ModuleList.__repr__

    def __iter__(self):
        return iter(self._modules.values())

    def __len__(self):
        return len(self._modules)


class _Printed(_Module):
    """A module whose class defines its printed text."""

    def __init__(self, name, extra, text):
        super().__init__(name, extra)
        self._text = text

    def __repr__(self):
        return self._text
`

// graphWriter names the values of a graph.
type graphWriter struct {
	*graph.Graph
	names map[graph.Value]string
}

// modes are the arguments that depend on the mode of the network.
var modes = map[string]string{"batch_norm": "training", "instance_norm": "use_input_stats", "dropout": "train",
	"feature_dropout": "train", "lstm": "train", "gru": "train", "rnn_tanh": "train", "rnn_relu": "train"}

// inputs names the inputs: x, or x1, x2 and so on.
func (w *graphWriter) inputs() string {
	var names []string
	for k, in := range w.Inputs() {
		name := "x"
		if len(w.MoreInputs) > 0 {
			name = fmt.Sprintf("x%d", k+1)
		}
		w.names[in.Value] = name
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// outputs returns the names of the outputs.
func (w *graphWriter) outputs() string {
	var names []string
	for _, v := range w.Outputs() {
		names = append(names, w.names[v])
	}
	return strings.Join(names, ", ")
}

// call returns a node as a statement.
func (w *graphWriter) call(n *graph.Node) string {
	var results []string
	op, overload, _ := strings.Cut(n.Operator, ".")
	expression := ""
	switch {
	case op == "sym_size":
		dim, _ := n.Arg("dim").(int64)
		expression = fmt.Sprintf("%s.shape[%d]", w.value(n.Args[0].Value), dim)
	case op == "operator":
		sign := map[string]string{"add": "+", "sub": "-", "mul": "*", "floordiv": "//"}[overload]
		expression = fmt.Sprintf("%s %s %s", w.value(n.Args[0].Value), sign, w.value(n.Args[1].Value))
	default:
		args := w.arguments(op, n)
		expression = fmt.Sprintf("aten.%s.%s(%s)", op, overload, strings.Join(args, ", "))
	}
	for _, v := range n.Results {
		w.names[v] = fmt.Sprintf("v%d", len(w.names))
		results = append(results, w.names[v])
	}
	return strings.Join(results, ", ") + " = " + expression
}

// positional are the arguments that are given by position, in the order of the operator's schema, if they are not only
// self. Older versions do not accept self as a keyword.
var positional = map[string][]string{"where": {"condition", "self"}, "polygamma": {"n", "self"},
	"special_polygamma": {"n", "self"}}

// arguments returns the arguments of a call.
func (w *graphWriter) arguments(op string, n *graph.Node) []string {
	first := positional[op]
	if first == nil {
		first = []string{"self"}
	}
	args := make([]string, 0, len(n.Args)+2)
	for _, name := range first {
		for _, a := range n.Args {
			if a.Name == name {
				args = append(args, w.value(a.Value))
			}
		}
	}
	for _, a := range n.Args {
		text := w.value(a.Value)
		if op == "scaled_dot_product_attention" && a.Name == "dropout_p" {
			text += " if self.training else 0.0"
		}
		if !slices.Contains(first, a.Name) {
			args = append(args, a.Name+"="+text)
		}
	}
	if mode := modes[op]; mode != "" && n.Arg(mode) == nil {
		args = append(args, mode+"="+modeOf(op, n))
	}
	if op == "batch_norm" || op == "instance_norm" {
		args = append(args, "cudnn_enabled=True")
	}
	return args
}

// modeOf returns the value of an argument that depends on the mode. A norm without running statistics uses the
// statistics of the batch in each mode.
func modeOf(op string, n *graph.Node) string {
	if (op == "batch_norm" || op == "instance_norm") && n.Arg("running_mean") == nil {
		return "True"
	}
	return "self.training"
}

// value returns Python's text of an argument.
func (w *graphWriter) value(arg any) string {
	switch v := arg.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Sprintf("float(\"%v\")", strings.TrimPrefix(strings.ToLower(fmt.Sprint(v)), "+"))
		}
		return model.PythonFloat(v)
	case string:
		return quote(v)
	case weights.DType:
		return dtypeText(v)
	case graph.Value:
		return w.names[v]
	case graph.Weight:
		return "w[" + quote(string(v)) + "]"
	case []any:
		items := make([]string, len(v))
		for k := range v {
			items[k] = w.value(v[k])
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprint(arg)
}

func shapeText(shape []int) string {
	items := make([]string, len(shape))
	for k, size := range shape {
		items[k] = strconv.Itoa(size)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func dtypeText(d weights.DType) string { return "torch." + d.String() }
