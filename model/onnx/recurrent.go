package onnx

import (
	"errors"
	"strings"

	networks "graft/model/graph"
)

// cell describes a recurrent layer in ONNX, whose gates are PyTorch's in a different order.
type cell struct {
	operator string
	gates    []int // PyTorch's gates in ONNX's order
	states   int
	more     []attribute
}

// cells are the recurrent operators. PyTorch has input, forget, cell and output gates, and reset, update and new gates.
// ONNX resets the new gate after its product, like PyTorch, only with linear_before_reset.
var cells = map[string]cell{
	"lstm":     {"LSTM", []int{0, 3, 1, 2}, 2, nil},
	"gru":      {"GRU", []int{1, 0, 2}, 1, []attribute{{"linear_before_reset", 1}}},
	"rnn_tanh": {"RNN", []int{0}, 1, nil}, "rnn_relu": {"RNN", []int{0}, 1, nil},
}

// recurrentRule writes the layers one after the other, each in one or both directions.
func recurrentRule(e *networkEncoder) ([]string, error) {
	op, overload, _ := strings.Cut(e.n.Operator, ".")
	if overload != "input" || !e.truth("has_biases") {
		return nil, errors.New("packed sequences and layers without biases are not supported")
	}
	c := cells[op]
	x, err := e.arg("input")
	states, err1 := e.states(c)
	if err := errors.Join(err, err1); err != nil {
		return nil, err
	}
	params, _ := e.n.Arg("params").([]any)
	layers, directions := int(e.number("num_layers", 1)), 1
	if e.truth("bidirectional") {
		directions = 2
	}
	if len(params) != 4*layers*directions {
		return nil, errors.New("layers with projections are not supported")
	}
	hidden := e.shapeOf(params[0])[0] / len(c.gates)
	swap := attribute{"perm", []int{1, 0, 2}} // swaps examples and positions
	if e.truth("batch_first") {
		x = e.op("Transpose", []string{x}, swap)
	}
	last := make([][]string, c.states)
	for layer := range layers {
		var final []string
		if x, final, err = e.recurrent(c, op, x, params[4*directions*layer:4*directions*(layer+1)], states, layer,
			directions, hidden); err != nil {
			return nil, err
		}
		for k := range last {
			last[k] = append(last[k], final[k])
		}
	}
	if e.truth("batch_first") {
		x = e.op("Transpose", []string{x}, swap)
	}
	results := []string{x}
	for _, parts := range last {
		results = append(results, e.op("Concat", parts, attribute{"axis", 0}))
	}
	return results, nil
}

// states returns the initial states: one, or for an LSTM also the cell's.
func (e *networkEncoder) states(c cell) ([]string, error) {
	if c.states == 2 {
		return e.parts("hx")
	}
	x, err := e.arg("hx")
	return []string{x}, err
}

// recurrent adds a layer and returns its output, and its final states.
func (e *networkEncoder) recurrent(c cell, op, x string, params []any, states []string,
	layer, directions, hidden int) (string, []string, error) {
	in := []string{x}
	for k, columns := range []int{e.shapeOf(params[0])[1], hidden, 2} { // for the input, the state, and both biases
		var values []float64
		for d := range directions {
			of := params[4*d+k : 4*d+k+1]
			if k == 2 {
				of = params[4*d+2 : 4*d+4]
			}
			for _, param := range of {
				gates, err := e.gates(c, param)
				if err != nil {
					return "", nil, err
				}
				values = append(values, gates...)
			}
		}
		dims := []int{directions, len(c.gates) * hidden, columns}
		if k == 2 {
			dims = []int{directions, 2 * len(c.gates) * hidden}
		}
		in = append(in, e.filled(typeFloat, values, dims...))
	}
	in = append(in, "") // all texts have the full length
	for _, state := range states {
		in = append(in, e.op("Slice", []string{state, e.graph.shape(layer * directions),
			e.graph.shape((layer + 1) * directions), e.graph.shape(0)}))
	}
	all := append([]attribute{{"hidden_size", hidden},
		{"direction", []string{"forward", "bidirectional"}[directions-1]}}, c.more...)
	if op == "rnn_relu" {
		all = append(all, attribute{"activations", strings.Fields(strings.Repeat("Relu ", directions))})
	}
	results := e.several(c.operator, in, 1+c.states, all...)
	// positions, directions, examples, values: PyTorch has the directions last
	y := e.op("Transpose", []string{results[0]}, attribute{"perm", []int{0, 2, 1, 3}})
	return e.op("Reshape", []string{y, e.graph.shape(0, 0, directions*hidden)}), results[1:], nil
}

// gates returns the values of a weight or a bias with its gates in ONNX's order.
func (e *networkEncoder) gates(c cell, param any) (ordered []float64, err error) {
	weight, ok := param.(networks.Weight)
	if !ok {
		return nil, errors.New("computed weights are not supported")
	}
	name := string(weight)
	if t := e.net.Tensor(name); t != nil && t.Tied != "" {
		name = t.Tied
	}
	values, err := e.weights[name].Float64s()
	if err != nil {
		return nil, err
	}
	size := len(values) / len(c.gates)
	for _, gate := range c.gates {
		ordered = append(ordered, values[gate*size:(gate+1)*size]...)
	}
	return ordered, nil
}
