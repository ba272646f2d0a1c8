package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	networks "graft/model/graph"
	"graft/torch/weights"
)

// networkEncoder writes a network that runs as a graph, node after node.
type networkEncoder struct {
	graph
	net       *networks.Graph
	weights   map[string]weights.Tensor
	shapes    map[networks.Value][]int // shapes for the example
	larger    map[networks.Value][]int // shapes for one more example
	names     map[any]string           // names of written values and tensors
	types     map[string]int64         // types of results and initializers; missing means typeFloat
	batchSize string                   // tensor of the number of examples; empty until needed
	n         *networks.Node           // current node
}

const typeBool = 9 // TensorProto.DataType

// onnxTypes are the types of values; all computed values are float32.
var onnxTypes = map[weights.DType]int64{weights.Int64: typeInt64, weights.Int32: typeInt64, weights.Int16: typeInt64,
	weights.Int8: typeInt64, weights.Uint8: typeInt64, weights.Bool: typeBool,
	weights.Float32: typeFloat, weights.Float64: typeFloat, weights.Float16: typeFloat, weights.BFloat16: typeFloat}

// encodeNetwork returns the graph of a network, and the descriptions of its input and output.
func encodeNetwork(net *networks.Graph, set map[string]weights.Tensor) (g *graph, in, out message, err error) {
	if err := net.Single(); err != nil {
		return nil, nil, nil, err
	}
	e := &networkEncoder{net: net, weights: set, names: map[any]string{net.Input.Value: "input"},
		types: map[string]int64{"input": onnxTypes[net.Input.DType]}}
	if e.shapes, err = net.Shapes(); err != nil {
		return nil, nil, nil, err
	}
	more := *net
	more.Input.Shape = append([]networks.Size{}, net.Input.Shape...)
	// other variable sizes, such as the length of a text, stay as in the example
	if first := &more.Input.Shape[0]; first.Name != "" {
		first.N++
	}
	if e.larger, err = more.Shapes(); err != nil {
		return nil, nil, nil, err
	}
	if err := e.write(); err != nil {
		return nil, nil, nil, err
	}
	last, ok := e.names[net.Output]
	if !ok {
		return nil, nil, nil, errors.New("the network's output is not a tensor")
	}
	e.nodes = append(e.nodes, named("Identity", last, "output"))
	return &e.graph, e.described("input", net.Input.Value, e.types["input"]),
		e.described("output", net.Output, e.kind(last)), nil
}

// write adds all nodes, or lists the operators without a form in ONNX.
func (e *networkEncoder) write() error {
	var missing []string
	for k := range e.net.Nodes {
		e.n = &e.net.Nodes[k]
		if e.n.Sizes() {
			continue // shapes are known
		}
		op := e.n.Name()
		rule := operatorRules[op]
		err := fmt.Errorf("ONNX has no equivalent operator")
		if rule != nil && e.n.Returns == nil {
			var results []string
			if results, err = rule(e); err == nil {
				for j, v := range e.n.Results[:min(len(results), len(e.n.Results))] {
					e.names[v] = results[j]
				}
			}
		}
		if err != nil && len(missing) < 20 {
			missing = append(missing, fmt.Sprintf("%s in %q: %v", e.n.Operator, e.n.Module, err))
		}
		if err != nil { // readers of the results are not at fault
			for _, v := range e.n.Results {
				e.names[v] = "input"
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("these operators cannot be written as ONNX:\n  %s\n"+
			"export the network to .py for PyTorch instead", strings.Join(missing, "\n  "))
	}
	return nil
}

// described is a ValueInfoProto.
func (e *networkEncoder) described(name string, v networks.Value, kind int64) (m message) {
	var dims, tensor, all message
	for k, size := range e.shapes[v] {
		var d message
		if e.larger[v][k] == size {
			d.number(1, int64(size))
		} else if v == e.net.Input.Value {
			d.text(2, e.net.Input.Shape[k].Name)
		} else {
			d.text(2, fmt.Sprintf("output%d", k))
		}
		dims.bytes(1, d)
	}
	tensor.number(1, kind)
	tensor.bytes(2, dims)
	all.bytes(1, tensor)
	m.text(1, name)
	m.bytes(2, all)
	return m
}

// typed adds a node whose result has a given type.
func (e *networkEncoder) typed(kind int64, operator string, inputs []string, attributes ...attribute) string {
	name := e.node(operator, inputs, attributes...)
	e.types[name] = kind
	return name
}

// op adds a node whose result has the type of its first input.
func (e *networkEncoder) op(operator string, inputs []string, attributes ...attribute) string {
	return e.typed(e.kind(inputs[0]), operator, inputs, attributes...)
}

func (e *networkEncoder) kind(name string) int64 {
	if kind := e.types[name]; kind != 0 {
		return kind
	}
	return typeFloat
}

// tensorOf is the name of a value or a tensor of the network.
func (e *networkEncoder) tensorOf(arg any) (string, error) {
	if name, ok := e.names[arg]; ok {
		return name, nil
	}
	weight, ok := arg.(networks.Weight)
	if !ok {
		return "", fmt.Errorf("the argument %v is not a tensor", arg)
	}
	t := e.net.Tensor(string(weight))
	if t != nil && t.Tied != "" {
		name, err := e.tensorOf(networks.Weight(t.Tied))
		e.names[arg] = name
		return name, err
	}
	stored, ok := e.weights[string(weight)]
	if !ok {
		return "", fmt.Errorf("the weights have no tensor %s", string(weight))
	}
	dims := make([]int, len(stored.Shape))
	for k, d := range stored.Shape {
		dims[k] = int(d)
	}
	if stored.DType == weights.Int64 { // beyond float64's 53 bits too
		name := e.tensor(e.fresh(), typeInt64, dims, stored.Data)
		e.names[arg], e.types[name] = name, typeInt64
		return name, stored.Validate()
	}
	values, err := stored.Float64s()
	if err != nil {
		return "", err
	}
	e.names[arg] = e.filled(onnxTypes[stored.DType], values, dims...)
	return e.names[arg], nil
}

// integers adds an initializer of integers.
func (e *networkEncoder) integers(values []int64, dims ...int) string {
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	name := e.tensor(e.fresh(), typeInt64, dims, data)
	e.types[name] = typeInt64
	return name
}

// filled adds an initializer of any type.
func (e *networkEncoder) filled(kind int64, values []float64, dims ...int) (name string) {
	switch kind {
	case typeInt64:
		whole := make([]int64, len(values))
		for k, v := range values {
			whole[k] = int64(v)
		}
		return e.integers(whole, dims...)
	case typeBool:
		data := make([]byte, len(values))
		for k, v := range values {
			if v != 0 {
				data[k] = 1
			}
		}
		name = e.tensor(e.fresh(), typeBool, dims, data)
	default:
		name = e.floats(values, dims...)
	}
	e.types[name] = kind
	return name
}

// extent is the tensor of a shape's sizes. A single variable size is -1 if inferred is set; otherwise variable sizes
// are multiples of the batch.
func (e *networkEncoder) extent(shape, larger []int, inferred bool) (string, error) {
	sizes, changing := make([]int, len(shape)), 0
	for k, size := range shape {
		if sizes[k] = size; larger[k] != size {
			sizes[k] = -1
			changing++
		}
	}
	if changing == 0 || changing == 1 && inferred {
		return e.graph.shape(sizes...), nil
	}
	var parts []string
	for k, size := range sizes {
		switch rise := larger[k] - shape[k]; {
		case size >= 0:
			parts = append(parts, e.graph.shape(size))
		case e.net.Input.Shape[0].Name == "" || rise*e.net.Input.Shape[0].N != shape[k]:
			return "", errors.New("a dimension varies with the batch size, but is not a multiple of the batch size; " +
				"this is not supported")
		case rise == 1:
			parts = append(parts, e.batch())
		default:
			parts = append(parts, e.node("Mul", []string{e.batch(), e.graph.shape(rise)}))
		}
	}
	return e.node("Concat", parts, attribute{"axis", 0}), nil
}

// batch is the number of examples as a tensor with one value.
func (e *networkEncoder) batch() string {
	if e.batchSize == "" {
		all := e.node("Shape", []string{"input"})
		e.batchSize = e.node("Slice", []string{all, e.graph.shape(0), e.graph.shape(1), e.graph.shape(0)})
	}
	return e.batchSize
}
