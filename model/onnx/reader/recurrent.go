package reader

import (
	"fmt"
	"slices"

	"graft/model/graph"
	"graft/torch/weights"
)

// cell describes a recurrent operator of ONNX, whose gates are PyTorch's in a different order.
type cell struct {
	gates  []int64 // ONNX's gates in PyTorch's order
	states int     // initial and final states
}

// cells are the recurrent operators. ONNX has input, output, forget and cell gates of an LSTM, and update, reset and
// new gates of a GRU. PyTorch has input, forget, cell and output gates, and reset, update and new gates.
var cells = map[string]cell{
	"LSTM": {[]int64{0, 2, 3, 1}, 2},
	"GRU":  {[]int64{1, 0, 2}, 1},
	"RNN":  {[]int64{0}, 1},
}

// recurrent maps a layer. ONNX's output has the directions before the batch.
func recurrent(c *call) error {
	x, err := c.need(0)
	if err != nil {
		return err
	}
	of := cells[c.node.op]
	states, err := c.states(of)
	if err != nil {
		return err
	}
	operator, err := c.recurrentOperator()
	if err != nil {
		return err
	}
	w, r, bias := c.tensors[c.operand(1).name], c.tensors[c.operand(2).name], c.tensors[c.operand(3).name]
	if !c.fit(of, w, r, bias) {
		return fmt.Errorf("unsupported %s; expected weights that are stored in the model, sequences of equal "+
			"length, no peepholes, and the direction forward or bidirectional", c.node.op)
	}
	params, err := c.params(of, w, r, bias)
	if err != nil {
		return err
	}
	directions, out := w.dims[0], c.node.out[0]
	results := c.emitAll(operator, []string{out + "_y", out + "_h", out + "_c"}[:1+of.states], c.arg("input", x),
		graph.Arg{Name: "hx", Value: states}, graph.Arg{Name: "params", Value: params},
		graph.Arg{Name: "has_biases", Value: true}, graph.Arg{Name: "num_layers", Value: int64(1)},
		graph.Arg{Name: "dropout", Value: 0.0}, graph.Arg{Name: "bidirectional", Value: directions == 2},
		graph.Arg{Name: "batch_first", Value: false})
	split := c.emit("unflatten.int", out+"_d", graph.Arg{Name: "self", Value: results[0]},
		graph.Arg{Name: "dim", Value: int64(2)},
		graph.Arg{Name: "sizes", Value: []any{directions, c.whole("hidden_size", 0)}})
	c.set(out, c.emit("permute.default", out, graph.Arg{Name: "self", Value: split},
		graph.Arg{Name: "dims", Value: anys([]int64{0, 2, 1, 3})}))
	for k, name := range c.node.out[1:] {
		if k < of.states && name != "" {
			c.set(name, results[k+1])
		}
	}
	return nil
}

// states returns the initial states: one, or for an LSTM a list with the cell's.
func (c *call) states(of cell) (any, error) {
	var list []any
	for k := range of.states {
		state, err := c.need(5 + k)
		if err != nil {
			return nil, fmt.Errorf("the %s has no initial state: %w", c.node.op, err)
		}
		list = append(list, c.read(state))
	}
	if of.states == 1 {
		return list[0], nil
	}
	return list, nil
}

// recurrentOperator returns PyTorch's operator, which depends on the activation or on the place of the reset gate.
func (c *call) recurrentOperator() (string, error) {
	switch c.node.op {
	case "LSTM":
		return "lstm.input", nil
	case "GRU":
		if c.whole("linear_before_reset", 0) != 1 {
			return "", fmt.Errorf("the attribute linear_before_reset is 0, and PyTorch computes only 1; export the " +
				"network as a .pt2 archive")
		}
		return "gru.input", nil
	}
	var used []string
	if a := c.attributes["activations"]; a != nil {
		used = slices.Compact(slices.Clone(a.texts))
	}
	switch {
	case len(used) == 0 || slices.Equal(used, []string{"Tanh"}):
		return "rnn_tanh.input", nil
	case slices.Equal(used, []string{"Relu"}):
		return "rnn_relu.input", nil
	}
	return "", fmt.Errorf("the activations are %.40q; expected Tanh or Relu for all directions", used)
}

// fit reports whether the weights have the sizes of PyTorch's layer, and no further inputs exist.
func (c *call) fit(of cell, w, r, bias *tensor) bool {
	hidden := c.whole("hidden_size", 0)
	rows := int64(len(of.gates)) * hidden
	if w == nil || r == nil || bias == nil || len(w.dims) != 3 || len(r.dims) != 3 || len(bias.dims) != 2 ||
		hidden < 1 || hidden > largestModel {
		return false
	}
	direction := map[int64]string{1: "forward", 2: "bidirectional"}[w.dims[0]]
	return w.dims[1] == rows && r.dims[1] == rows && bias.dims[1] == 2*rows && w.dims[0] == r.dims[0] &&
		w.dims[0] == bias.dims[0] && c.text("direction", "forward") == direction && !c.operand(4).given &&
		!c.operand(7).given
}

// params adds PyTorch's tensors of a layer: for each direction the weights of input and state, and both biases.
func (c *call) params(of cell, w, r, bias *tensor) (params []any, err error) {
	for d := range w.dims[0] {
		for k, part := range []struct {
			of        *tensor
			from, row int64 // blocks of gates, and items per row
		}{{w, d, w.dims[2]}, {r, d, r.dims[2]}, {bias, 2 * d, 1}, {bias, 2*d + 1, 1}} {
			name := c.node.out[0] + fmt.Sprintf(".%d.%d", d, k)
			made, err := gates(part.of, of, name, part.from, c.whole("hidden_size", 0), part.row, k < 2)
			if err != nil {
				return nil, err
			}
			c.addInitializer(made)
			params = append(params, c.read(c.values[name]))
		}
	}
	return params, nil
}

// gates copies a block of gates in PyTorch's order.
func gates(t *tensor, of cell, name string, block, hidden, row int64, matrix bool) (*tensor, error) {
	w, err := t.weights()
	if err != nil || w.DType != weights.Float32 {
		return nil, orElse(err, "the weights of a recurrent layer must be float32")
	}
	count, size := int64(len(of.gates)), hidden*row*4 // gates, and bytes per gate
	made := &tensor{name: name, kind: t.kind, dims: []int64{count * hidden}}
	if matrix {
		made.dims = append(made.dims, row)
	}
	for _, gate := range of.gates {
		made.raw = append(made.raw, w.Data[(count*block+gate)*size:][:size]...)
	}
	return made, nil
}
