package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Recover sets the printed text of the modules, if their operators and tensors determine it. It returns the modules
// whose class is a guess. Classes are guessed for containers that are only indexed, and for modules that run no
// operator. The map holds the paths of in-place layers.
func (g *Graph) Recover(inPlace map[string]bool) (guessed []string) {
	r := newRecoverer(g, inPlace)
	children := map[string][]string{}
	for _, m := range g.Modules[1:] {
		at := strings.LastIndexByte(m.Path, '.')
		children[m.Path[:max(at, 0)]] = append(children[m.Path[:max(at, 0)]], m.Path[at+1:])
	}
	for k := range g.Modules {
		m := &g.Modules[k]
		if m.Class == "" {
			m.Class = guess(m.Path, children[m.Path], r.class(parentOf(m.Path)))
			if len(children[m.Path]) == 0 && m.Class == "Identity" {
				guessed = append(guessed, m.Path)
			}
		}
		m.Folds = m.Class == "ModuleList"
		if write := prints[m.Class]; write != nil {
			m.Extra = write(r, m.Path)
		}
	}
	return guessed
}

func newRecoverer(g *Graph, inPlace map[string]bool) *recoverer {
	r := &recoverer{graph: g, nodes: map[string][]*Node{}, tensors: map[string]*Tensor{}, inPlace: inPlace}
	for k := range g.Nodes {
		r.nodes[g.Nodes[k].Module] = append(r.nodes[g.Nodes[k].Module], &g.Nodes[k])
	}
	for k := range g.Tensors {
		r.tensors[g.Tensors[k].Name] = &g.Tensors[k]
	}
	return r
}

func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// guess returns the likely class of a module that runs no operator of its own.
func guess(path string, children []string, parent string) string {
	numbered := func(name string) bool { _, err := strconv.Atoi(name); return err == nil }
	switch {
	case path == "":
		return "Network"
	case parent == "MultiheadAttention" && strings.HasSuffix(path, ".out_proj"):
		return "NonDynamicallyQuantizableLinear"
	case len(children) == 0:
		return "Identity"
	case !slices.ContainsFunc(children, func(name string) bool { return !numbered(name) }):
		return "ModuleList"
	}
	return "ModuleDict"
}

// recoverer looks up the operators of modules.
type recoverer struct {
	graph   *Graph
	nodes   map[string][]*Node
	tensors map[string]*Tensor
	inPlace map[string]bool
}

func (r *recoverer) class(path string) string {
	if k := slices.IndexFunc(r.graph.Modules, func(m Module) bool { return m.Path == path }); k >= 0 {
		return r.graph.Modules[k].Class
	}
	return ""
}

// node returns the first call of an operator in a module, or an empty one.
func (r *recoverer) node(path string) *Node {
	if nodes := r.nodes[path]; len(nodes) > 0 {
		return nodes[0]
	}
	return &Node{}
}

// shape returns the shape of a tensor of a module; nil if the module has no such tensor.
func (r *recoverer) shape(path, name string) []int {
	if t := r.tensors[path+"."+name]; t != nil {
		return t.Shape
	}
	return nil
}

// size returns a size of a tensor of a module; zero if it does not exist.
func (r *recoverer) size(path, name string, dim int) int {
	if shape := r.shape(path, name); dim < len(shape) {
		return shape[dim]
	}
	return 0
}

func (r *recoverer) has(path, name string) bool { return r.tensors[path+"."+name] != nil }

// prints are the texts of extra_repr() of classes, as torch/nn/modules of PyTorch 2.15 writes them.
var prints = map[string]func(r *recoverer, path string) string{
	"Conv1d": printConv, "Conv2d": printConv, "Conv3d": printConv, "ConvTranspose1d": printConv,
	"ConvTranspose2d": printConv,
	"Linear":          printLinear, "NonDynamicallyQuantizableLinear": printLinear, "Embedding": printEmbedding,
	"BatchNorm1d": printBatchNorm, "BatchNorm2d": printBatchNorm, "BatchNorm3d": printBatchNorm,
	"InstanceNorm1d": printBatchNorm, "InstanceNorm2d": printBatchNorm, "LayerNorm": printLayerNorm,
	"RMSNorm": printRMSNorm, "GroupNorm": printGroupNorm,
	"ReLU": printInPlace, "ReLU6": printInPlace, "SiLU": printInPlace, "Hardswish": printInPlace,
	"Hardsigmoid": printInPlace, "Mish": printInPlace,
	"LeakyReLU": func(r *recoverer, path string) string {
		return "negative_slope=" + number(r.node(path).Arg("negative_slope"), 0.01) + r.inPlaceText(path)
	},
	"ELU": func(r *recoverer, path string) string {
		return "alpha=" + number(r.node(path).Arg("alpha"), 1) + r.inPlaceText(path)
	},
	"GELU": func(r *recoverer, path string) string {
		kind, _ := r.node(path).Arg("approximate").(string)
		return "approximate='" + orText(kind, "none") + "'"
	},
	"Softmax": func(r *recoverer, path string) string { return "dim=" + pythonText(r.node(path).Arg("dim")) },
	"Dropout": func(r *recoverer, path string) string {
		return "p=" + number(r.node(path).Arg("p"), 0.5) + ", inplace=False"
	},
	"StochasticDepth": func(r *recoverer, path string) string {
		for _, n := range r.nodes[path] {
			if p := n.Arg("p"); p != nil {
				return "p=" + number(p, 0) + ", mode=row"
			}
		}
		return ""
	},
	"MaxPool2d": printMaxPool, "AvgPool2d": printAvgPool, "LSTM": printLSTM, "GRU": printLSTM, "RNN": printLSTM,
	"Upsample": printUpsample,
	"AdaptiveAvgPool2d": func(r *recoverer, path string) string {
		return "output_size=" + tuple(r.node(path).Arg("output_size"))
	},
	"Flatten": func(r *recoverer, path string) string {
		n := r.node(path)
		return "start_dim=" + orText(pythonText(n.Arg("start_dim")), "0") + ", end_dim=" +
			orText(pythonText(n.Arg("end_dim")), "-1")
	},
}

func orText(text, otherwise string) string {
	if text == "" || text == "None" {
		return otherwise
	}
	return text
}

// number formats a float as Python does.
func number(value any, otherwise float64) string {
	v, ok := value.(float64)
	if n, whole := value.(int64); whole {
		v, ok = float64(n), true
	}
	if !ok {
		v = otherwise
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// pythonText formats a value as Python does.
func pythonText(value any) string {
	switch v := value.(type) {
	case nil:
		return "None"
	case bool:
		return truthText(v)
	}
	return fmt.Sprint(value)
}

func truthText(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

// tuple formats a list of sizes as a tuple.
func tuple(value any) string {
	list, ok := value.([]any)
	if !ok {
		return pythonText(value)
	}
	return sizesText(list)
}

func sizesText[T any](list []T) string {
	items := make([]string, len(list))
	for k, v := range list {
		items[k] = fmt.Sprint(v)
	}
	if len(items) == 1 {
		return "(" + items[0] + ",)"
	}
	return "(" + strings.Join(items, ", ") + ")"
}

// short returns one number for equal sizes, like a pool that was made with one number.
func short(value any) string {
	list, ok := value.([]any)
	if ok && len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return v != list[0] }) {
		return fmt.Sprint(list[0])
	}
	return tuple(value)
}

// all reports whether all sizes of a list are n; a missing list has the default.
func all(value any, n int64) bool {
	list, _ := value.([]any)
	return !slices.ContainsFunc(list, func(v any) bool { return v != n })
}

func (r *recoverer) inPlaceText(path string) string {
	if r.inPlace[path] {
		return ", inplace=True"
	}
	return ""
}

func printInPlace(r *recoverer, path string) string {
	return strings.TrimPrefix(r.inPlaceText(path), ", ")
}
