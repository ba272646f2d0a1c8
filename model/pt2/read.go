package pt2

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/torch/weights"
)

// Read reads an archive that torch.export.save wrote, for a network with one input and one output. If the network has
// operators that graft does not support, the error is graph.Unmapped, which lists all of them.
func Read(r io.ReaderAt, size int64) (*graph.Imported, error) { return named(read(r, size, false)) }

// ReadSeveral reads an archive whose network may have several inputs and outputs. Inputs and outputs that are not
// tensors are left out.
func ReadSeveral(r io.ReaderAt, size int64) (*graph.Imported, error) {
	return named(read(r, size, true))
}

func named(imported *graph.Imported, err error) (*graph.Imported, error) {
	if err != nil {
		return nil, fmt.Errorf("read archive of torch.export: %w", err)
	}
	return imported, nil
}

func read(r io.ReaderAt, size int64, several bool) (*graph.Imported, error) {
	a, err := open(r, size)
	if err != nil {
		return nil, err
	}
	name, err := a.findProgram()
	if err != nil {
		return nil, err
	}
	text, err := a.read(name, largestProgram)
	if err != nil {
		return nil, err
	}
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	b := &builder{program: p, out: &graph.Imported{Graph: &graph.Graph{}, Weights: &weights.Set{}},
		names: map[string]any{}, used: map[graph.Value]bool{}, inPlace: map[string]bool{},
		symbols: map[string]string{}, passed: map[string]bool{}, several: several}
	b.views = newViews(func(n graph.Node) { b.out.Graph.Nodes = append(b.out.Graph.Nodes, n) })
	if err := b.readTensors(a); err != nil {
		return nil, err
	}
	b.readModules()
	if err := b.readGraph(); err != nil {
		return nil, err
	}
	if err := b.describe(a); err != nil {
		return nil, err
	}
	if !several {
		if err := b.checkTraining(); err != nil {
			return nil, err
		}
	}
	if err := b.out.Graph.Single(); err != nil && !several {
		return nil, err
	}
	return b.out, b.out.Graph.Check()
}

// describe reads the description of the modules from the archive, if graft_export.py has added one, and otherwise
// recovers it from the operators.
func (b *builder) describe(a *archive) error {
	name := a.extra + graph.SidecarName
	if a.records[name] == nil {
		for _, path := range b.out.Graph.Recover(b.inPlace) {
			b.note("module %q runs no operator; its class is assumed to be Identity", path)
		}
		return nil
	}
	text, err := a.read(name, graph.LargestSidecar)
	if err != nil {
		return err
	}
	modules, err := graph.ReadModules(text)
	if err != nil {
		return err
	}
	b.out.Graph.Describe(modules)
	return nil
}

// builder makes a graph of a program.
type builder struct {
	program  *program
	out      *graph.Imported
	names    map[string]any // values and weights, by their names in the program
	views    *views
	modules  map[string]bool // paths
	inPlace  map[string]bool // paths of modules that work in place
	used     map[graph.Value]bool
	symbols  map[string]string // names of the variable sizes, by their expressions
	passed   map[string]bool   // operators passed on to LibTorch
	depth    int               // nesting of blocks
	unmapped graph.Unmapped
	train    bool  // an operator was exported in train mode
	several  bool  // several inputs and outputs are allowed
	frozen   []int // places of the parameters that PyTorch does not train
}

// spec is the supported part of an input's or output's description.
type spec struct {
	Arg        *union `json:"arg"`
	Parameter  string `json:"parameter_name"`
	Buffer     string `json:"buffer_name"`
	Constant   string `json:"tensor_constant_name"`
	Persistent bool   `json:"persistent"`
}

// readTensors reads the parameters, buffers and constants, and the input's description.
func (b *builder) readTensors(a *archive) error {
	stored, err := readPayloads(a, "weights")
	if err != nil {
		return err
	}
	lifted, err := readPayloads(a, "constants")
	if err != nil {
		return err
	}
	first := map[string]string{} // first tensor of each payload
	for _, input := range b.program.GraphModule.Signature.Inputs {
		var s spec
		if err := decode(input, &s); err != nil {
			return err
		}
		switch input.kind {
		case "parameter":
			err = b.addTensor(s, s.Parameter, graph.Parameter, stored, first)
		case "buffer":
			from, role := stored, graph.Buffer
			if !s.Persistent {
				from, role = lifted, graph.Constant
			}
			err = b.addTensor(s, s.Buffer, role, from, first)
		case "tensor_constant":
			err = b.addTensor(s, s.Constant, graph.Constant, lifted, first)
		case "user_input":
			if s.Arg != nil && s.Arg.constant() && b.several {
				continue
			}
			err = b.addInput(s)
		default:
			err = fmt.Errorf("unsupported input of kind %.40q", input.kind)
		}
		if err != nil {
			return err
		}
	}
	if b.out.Graph.Input.Value == "" {
		return fmt.Errorf("the network has no input")
	}
	return nil
}

// addTensor adds a tensor. A tensor with the payload of an earlier one is tied to it.
func (b *builder) addTensor(s spec, name string, role graph.Role, from *payloads, first map[string]string) error {
	in, described, err := b.described(s)
	if err != nil {
		return err
	}
	name = from.next(name)
	w, err := from.tensor(name)
	if err != nil {
		return err
	}
	shape, err := described.shape()
	if err != nil {
		return err
	}
	t := graph.Tensor{Name: name, Role: role, DType: w.DType, Shape: shape}
	if !slices.EqualFunc(w.Shape, shape, func(x int64, y int) bool { return x == int64(y) }) ||
		dtypes[described.DType] != w.DType {
		return fmt.Errorf("tensor %.200q has type %v and shape %v in the list of %s, but type %v and shape %v in the "+
			"graph", name, w.DType, w.Shape, from.folder, dtypes[described.DType], shape)
	}
	key := fmt.Sprint(from.memory(w), shape, w.DType, role)
	if other, ok := first[key]; ok && t.Count() > 0 {
		t.Tied = other
	} else {
		first[key] = name
	}
	if role == graph.Parameter && described.Grad != nil && !*described.Grad {
		b.frozen = append(b.frozen, len(b.out.Graph.Tensors))
	}
	b.out.Graph.Tensors = append(b.out.Graph.Tensors, t)
	b.out.Weights.Tensors = append(b.out.Weights.Tensors, w)
	b.names[in] = graph.Weight(name)
	b.views.aliases[in] = &alias{of: &memory{weight: name}}
	return nil
}

// described returns the name of an input in the graph, and the graph's description of it.
func (b *builder) described(s spec) (string, *meta, error) {
	var tensor struct{ Name string }
	if s.Arg == nil {
		return "", nil, fmt.Errorf("an input has no name")
	}
	body := *s.Arg
	if body.kind == "as_tensor" { // user inputs; descriptions of weights have only the name
		if err := decode(body, &tensor); err != nil {
			return "", nil, err
		}
	} else if body.kind == "name" {
		if err := decode(body, &tensor.Name); err != nil {
			return "", nil, err
		}
	} else {
		return "", nil, fmt.Errorf("an input has type %.40q; expected a tensor; "+
			"export the network with tensor inputs only", body.kind)
	}
	m := b.program.GraphModule.Graph.TensorValues[tensor.Name]
	if m == nil {
		return "", nil, fmt.Errorf("the graph does not describe the tensor %.200q", tensor.Name)
	}
	if _, taken := b.names[tensor.Name]; taken {
		return "", nil, fmt.Errorf("duplicate input name %.200q", tensor.Name)
	}
	return tensor.Name, m, nil
}

// addInput adds the network's input.
func (b *builder) addInput(s spec) error {
	name, m, err := b.described(s)
	if err != nil {
		return err
	}
	dtype, ok := dtypes[m.DType]
	if !ok {
		return fmt.Errorf("the input has ScalarType %d of torch.export's schema, which graft does not support", m.DType)
	}
	in := graph.Input{Value: b.unique(name), DType: dtype}
	for k, size := range m.Sizes {
		in.Shape = append(in.Shape, graph.Size{Name: symbolName(b.symbols, k, size.expression), N: int(size.number)})
	}
	b.names[name] = in.Value
	b.views.aliases[name] = &alias{of: &memory{value: in.Value}, value: in.Value}
	if b.out.Graph.Input.Value != "" {
		b.out.Graph.MoreInputs = append(b.out.Graph.MoreInputs, in)
		return nil
	}
	if len(in.Shape) > 0 && in.Shape[0].Name == "" {
		b.note("exported only for batches of %d; for other batches, make dimension 0 dynamic in torch.export",
			in.Shape[0].N)
	}
	b.out.Graph.Input = in
	return nil
}

// symbolName names a variable dimension.
func symbolName(known map[string]string, k int, expression string) string {
	if expression == "" {
		return ""
	}
	if name, ok := known[expression]; ok {
		return name
	}
	name := fmt.Sprintf("dimension%d", k)
	switch {
	case k == 0:
		name = "batch"
	case k == 1 && !strings.Contains(expression, "("), len(known) == 1 && known["length"] == "":
		name = "length"
	}
	for _, taken := range known { // another size at the same place of another input
		if taken == name {
			name = fmt.Sprintf("size%d", len(known))
			break
		}
	}
	known[expression] = name
	return name
}

func (b *builder) note(format string, args ...any) {
	b.out.Notes = append(b.out.Notes, fmt.Sprintf(format, args...))
}
