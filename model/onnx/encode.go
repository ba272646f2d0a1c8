package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"graft/model"
	"graft/torch/weights"
)

const (
	irVersion = 8  // of ONNX 1.12 and later
	opset     = 17 // the first with LayerNormalization

	// largest is the maximum size of a protocol buffer that all readers accept.
	largest = 1<<31 - 1
)

// Options configures the ONNX model that Encode returns.
type Options struct {
	Producer   string            // name and version of the program that writes the model
	Properties map[string]string // additional texts in the model; nil means none
}

// Encode returns a network with its weights as an ONNX model in eval mode. The model has one input, "input", and one
// output, "output", for any batch size. All computations are in float32. The set holds the network's tensors by name,
// as model.Network.Save returns them.
func Encode(n *model.Network, set *weights.Set, o Options) ([]byte, error) {
	stored := map[string]weights.Tensor{}
	for _, t := range set.Tensors {
		stored[t.Name] = t
	}
	write := encodeTree
	if n.Graph != nil {
		write = func(n *model.Network, set map[string]weights.Tensor) (*graph, message, message, error) {
			return encodeNetwork(n.Graph, set)
		}
	}
	g, in, out, err := write(n, stored)
	if err != nil {
		return nil, fmt.Errorf("write %s as ONNX: %w", n.Name(), err)
	}
	var body, m message
	for _, node := range g.nodes {
		body.bytes(1, node)
	}
	body.text(2, n.Name())
	for _, t := range g.initializers {
		body.bytes(5, t)
	}
	body.bytes(11, in)
	body.bytes(12, out)
	m.number(1, irVersion)
	m.text(2, o.Producer)
	m.bytes(7, body)
	var version message
	version.text(1, "")
	version.number(2, opset)
	m.bytes(8, version)
	for _, key := range slices.Sorted(maps.Keys(o.Properties)) {
		var property message
		property.text(1, key)
		property.text(2, o.Properties[key])
		m.bytes(14, property)
	}
	if len(m) > largest {
		return nil, errors.New("write ONNX: the model exceeds 2 GiB, the limit of a single ONNX file; " +
			"export to .safetensors and .py instead")
	}
	return m, nil
}

// encodeTree returns the graph of a tree of layers, and the descriptions of its input and output.
func encodeTree(n *model.Network, set map[string]weights.Tensor) (g *graph, in, out message, err error) {
	e := &encoder{weights: set}
	first := value{"input", n.Input}
	last, err := model.Run(n, first, e)
	if err != nil {
		return nil, nil, nil, err
	}
	e.nodes = append(e.nodes, named("Identity", last.name, "output"))
	return &e.graph, described(first), described(value{"output", last.shape}), nil
}

// named returns a node whose result has a given name.
func named(operator, in, out string) (m message) {
	m.text(1, in)
	m.text(2, out)
	m.text(4, operator)
	return m
}

// encoder is the algebra of ONNX graphs.
type encoder struct {
	graph
	weights map[string]weights.Tensor
}

// Sum adds an operator that computes the sum of two values.
func (e *encoder) Sum(_ string, body, shortcut value) (value, error) {
	return value{e.node("Add", []string{body.name, shortcut.name}), body.shape}, nil
}

// Cat adds an operator that concatenates the channels of several values.
func (e *encoder) Cat(_ string, parts []value) (value, error) {
	names, shape := []string{}, append(model.Shape{}, parts[0].shape...)
	shape[0] = 0
	for _, p := range parts {
		names = append(names, p.name)
		shape[0] += p.shape[0]
	}
	return value{e.node("Concat", names, attribute{"axis", 1}), shape}, nil
}

// Layer adds the operators of a layer to the ONNX model.
func (e *encoder) Layer(at model.Place, leaf *model.Leaf, x value) (value, error) {
	shape, err := leaf.Layer.Infer(x.shape)
	if err != nil {
		return x, err
	}
	var given []string
	for _, slot := range leaf.Layer.Slots() {
		if slot.Role == model.Seen {
			continue
		}
		name, err := e.weight(at.Path + "." + slot.Name)
		if err != nil {
			return x, err
		}
		given = append(given, name)
	}
	name, err := e.layer(leaf.Layer, x, shape, given)
	if err != nil {
		return x, fmt.Errorf("%s: %w", at.Path, err)
	}
	return value{name, shape}, nil
}

// weight adds a tensor of the network.
func (e *encoder) weight(name string) (string, error) {
	t, ok := e.weights[name]
	if !ok {
		return "", fmt.Errorf("the weights have no tensor %s", name)
	}
	values, err := t.Float32s()
	if err != nil {
		return "", err
	}
	wide, dims := make([]float64, len(values)), make([]int, len(t.Shape))
	for k, v := range values {
		wide[k] = float64(v)
	}
	for k, d := range t.Shape {
		dims[k] = int(d)
	}
	return e.floats(wide, dims...), nil
}
