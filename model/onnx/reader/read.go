package reader

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/torch/weights"
)

// largestModel is the size limit of protocol buffers, in bytes.
const largestModel = 2 << 30

// Read reads an ONNX model. If the model has operators that graft does not support, the error is graph.Unmapped, which
// lists all of them.
func Read(r io.ReaderAt, size int64) (*graph.Imported, error) {
	imported, err := read(r, size)
	if err != nil {
		return nil, fmt.Errorf("read ONNX model: %w", err)
	}
	return imported, nil
}

func read(r io.ReaderAt, size int64) (*graph.Imported, error) {
	if size > largestModel {
		return nil, fmt.Errorf("the model has %d bytes, expected at most %d", size, largestModel)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), data); err != nil {
		return nil, err
	}
	m, err := parse(data)
	if err != nil {
		return nil, err
	}
	b := &builder{message: m, out: &graph.Imported{Graph: &graph.Graph{}, Weights: &weights.Set{}},
		values: map[string]operand{}, tensors: map[string]*tensor{}, roles: map[string]graph.Role{},
		taken: map[graph.Value]bool{}, modules: map[string]bool{}, inferred: &graph.Graph{}}
	if err := b.build(); err != nil {
		return nil, err
	}
	return b.out, b.out.Graph.Check()
}

// operand holds an input of an operator.
type operand struct {
	ref   any    // a value, or a tensor of the model; nil for sizes
	sizes []any  // whole numbers, known or computed, instead of a tensor
	one   bool   // sizes is one number, not a list
	wide  int    // sizes is a matrix with rows of this length; zero for a list
	given bool   // the operand exists
	name  string // name in the model
}

// builder makes a graph of a message.
type builder struct {
	message *message
	out     *graph.Imported
	values  map[string]operand
	tensors map[string]*tensor // initializers by name
	roles   map[string]graph.Role
	added   []string // tensors that operators read, in order of use
	taken   map[graph.Value]bool
	modules map[string]bool
	module  string // module of the current operator
	missed  graph.Unmapped
	// the nodes and all tensors of the model, for shapes that the file does not state
	inferred *graph.Graph
	sizes    *graph.Sizes
}

func (b *builder) build() error {
	b.readModules()
	for _, t := range b.message.initializers {
		if b.values[t.name].given || t.name == "" {
			return fmt.Errorf("duplicate or empty tensor name %.100q; export the model again", t.name)
		}
		b.addInitializer(t)
	}
	if err := b.readInput(); err != nil {
		return err
	}
	b.inferred.Input = b.out.Graph.Input
	b.sizes = b.inferred.NewSizes()
	for _, n := range b.message.nodes {
		if err := b.addNode(n); err != nil {
			return fmt.Errorf("operator %.60s %.100q: %w", n.op, n.name, err)
		}
	}
	if len(b.missed) > 0 {
		return b.missed
	}
	if err := b.readOutput(); err != nil {
		return err
	}
	b.out.Graph.DropSizes()
	b.out.Notes = append(b.out.Notes, "ONNX does not mark trained tensors: graft treats each floating-point tensor as "+
		"a parameter, and normalisations may be merged into convolutions; a .pt2 archive keeps both")
	return b.addTensors()
}

// addInitializer records a tensor. Small integer tensors may also be sizes.
func (b *builder) addInitializer(t *tensor) {
	o := operand{ref: graph.Weight(t.name), given: true, name: t.name}
	if list, ok := t.ints(); ok && len(t.dims) <= 1 {
		o.sizes, o.one = list, len(t.dims) == 0
	}
	b.tensors[t.name], b.values[t.name] = t, o
	b.message.kinds[t.name] = t.kind
	shaped := graph.Tensor{Name: t.name}
	for _, size := range t.dims {
		shaped.Shape = append(shaped.Shape, int(size))
	}
	b.inferred.Tensors = append(b.inferred.Tensors, shaped)
}

// readInput reads the only input that is not an initializer.
func (b *builder) readInput() error {
	var found []*described
	for _, in := range b.message.inputs {
		if b.tensors[in.name] == nil {
			found = append(found, in)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("the model has %d inputs; graft supports networks with one input", len(found))
	}
	in := graph.Input{Value: b.value(found[0].name), DType: kinds[found[0].kind]}
	for k, d := range found[0].dims {
		size := graph.Size{Name: d.name, N: int(d.size)}
		if d.name != "" || d.size < 1 {
			size = graph.Size{Name: orName(d.name, k), N: 1}
		}
		in.Shape = append(in.Shape, size)
	}
	b.out.Graph.Input = in
	b.values[found[0].name] = operand{ref: in.Value, given: true, name: found[0].name}
	return nil
}

func orName(name string, k int) string {
	if name == "" {
		return fmt.Sprintf("dimension%d", k)
	}
	return name
}

func (b *builder) readOutput() error {
	if len(b.message.outputs) != 1 {
		return fmt.Errorf("the model has %d outputs; graft supports networks with one output", len(b.message.outputs))
	}
	out, ok := b.values[b.message.outputs[0].name].ref.(graph.Value)
	if !ok {
		return fmt.Errorf("no operator computes the output %.100q", b.message.outputs[0].name)
	}
	b.out.Graph.Output = out
	return nil
}

// addTensors adds the tensors that operators read.
func (b *builder) addTensors() error {
	for _, name := range b.added {
		w, err := b.tensors[name].weights()
		if err != nil {
			return err
		}
		t := graph.Tensor{Name: name, Role: b.roles[name], DType: w.DType}
		for _, size := range w.Shape {
			t.Shape = append(t.Shape, int(size))
		}
		switch {
		case t.Role != "":
		case slices.Contains([]weights.DType{weights.Float32, weights.Float64, weights.Float16, weights.BFloat16},
			w.DType) && t.Count() > 1:
			t.Role = graph.Parameter
		default:
			t.Role = graph.Constant
		}
		w.Name = name
		b.out.Graph.Tensors = append(b.out.Graph.Tensors, t)
		b.out.Weights.Tensors = append(b.out.Weights.Tensors, w)
	}
	return nil
}

// read marks a tensor as read by an operator.
func (b *builder) read(o operand) any {
	if name, ok := o.ref.(graph.Weight); ok {
		if _, known := b.roles[string(name)]; !known {
			b.roles[string(name)] = ""
			b.added = append(b.added, string(name))
		}
	}
	return o.ref
}

// value makes a unique name from letters, digits and underscores.
func (b *builder) value(name string) graph.Value {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	v := graph.Value(clean)
	for k := 2; clean == "" || b.taken[v]; k++ {
		v = graph.Value(fmt.Sprintf("%s_%d", clean, k))
		if clean == "" {
			clean = "value"
		}
	}
	b.taken[v] = true
	return v
}

// emit adds a node with one result.
func (b *builder) emit(operator, result string, args ...graph.Arg) graph.Value {
	return b.emitAll(operator, []string{result}, args...)[0]
}

func (b *builder) emitAll(operator string, results []string, args ...graph.Arg) []graph.Value {
	n := graph.Node{Operator: operator, Module: b.module, Args: args}
	for _, name := range results {
		n.Results = append(n.Results, b.value(name))
	}
	b.out.Graph.Nodes = append(b.out.Graph.Nodes, n)
	return n.Results
}

// arg reads an operand as an argument.
func (b *builder) arg(name string, o operand) graph.Arg {
	return graph.Arg{Name: name, Value: b.read(o)}
}

// optional is an argument that may be missing.
func (b *builder) optional(name string, o operand) graph.Arg {
	if !o.given {
		return graph.Arg{Name: name}
	}
	return b.arg(name, o)
}

// number returns a scalar of the model as a number, so it takes the type of the other operand; other operands are read
// unchanged.
func (b *builder) number(o operand) any {
	if o.one && len(o.sizes) == 1 {
		return o.sizes[0]
	}
	if t := b.tensors[o.name]; t != nil && o.ref != nil && len(t.dims) == 0 {
		if w, err := t.weights(); err == nil && w.DType == weights.Float32 {
			if v, err := w.Float64s(); err == nil {
				return v[0]
			}
		}
	}
	return b.read(o)
}

// set sets the value for a name of the model.
func (b *builder) set(name string, v graph.Value) {
	b.values[name] = operand{ref: v, given: true, name: name}
}

// readModules makes the tree of modules that the exporter recorded with each operator.
func (b *builder) readModules() {
	g := b.out.Graph
	g.Modules = []graph.Module{{Class: "Network"}}
	b.modules[""] = true
	classes := map[string]string{}
	var paths []string
	for _, n := range b.message.nodes {
		scopes, names := scopesOf(n)
		for k, path := range scopes {
			if classes[path] == "" {
				classes[path] = names[k]
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		b.addModule(path)
	}
	for k := range g.Modules {
		if class := classes[g.Modules[k].Path]; class != "" {
			g.Modules[k].Class = class
		} else if g.Modules[k].Path != "" {
			g.Modules[k].Class = "ModuleList"
		}
	}
	g.Name = g.Modules[0].Class
}

func (b *builder) addModule(path string) {
	if b.modules[path] {
		return
	}
	if at := strings.LastIndexByte(path, '.'); at > 0 {
		b.addModule(path[:at])
	}
	b.modules[path] = true
	b.out.Graph.Modules = append(b.out.Graph.Modules, graph.Module{Path: path})
}

// scopesOf returns the paths of the modules whose code calls an operator, outermost first, and their classes.
func scopesOf(n *node) (paths, classes []string) {
	scopes, names := pythonList(n.properties["pkg.torch.onnx.name_scopes"]),
		pythonList(n.properties["pkg.torch.onnx.class_hierarchy"])
	if len(scopes) == 0 || len(scopes) != len(names) || strings.HasPrefix(scopes[0], "_empty_nn_module_stack") {
		return nil, nil
	}
	for k, name := range names[:len(names)-1] {
		if strings.HasPrefix(scopes[k], ".") || strings.HasSuffix(scopes[k], ".") || strings.Contains(scopes[k], "..") {
			return nil, nil
		}
		paths, classes = append(paths, scopes[k]), append(classes, name[strings.LastIndexByte(name, '.')+1:])
	}
	return paths, classes
}

// pythonList parses a list of texts as Python prints it.
func pythonList(text string) []string {
	inner, ok := strings.CutPrefix(strings.TrimSuffix(text, "]"), "[")
	if !ok || inner == "" {
		return nil
	}
	var list []string
	for item := range strings.SplitSeq(inner, ", ") {
		list = append(list, strings.Trim(item, `'"`))
	}
	return list
}
