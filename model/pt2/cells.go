package pt2

import (
	"fmt"

	"graft/model/graph"
)

// cells are the operators for a single step of a recurrent layer. graft adds the operators of their formulas, so that
// their rules apply.
var cells = map[string]func(c *cell) ([]graph.Value, error){
	"lstm_cell.default": lstmCell, "gru_cell.default": gruCell,
	"rnn_tanh_cell.default": rnnCell("tanh.default"), "rnn_relu_cell.default": rnnCell("relu.default"),
}

// cell adds the operators of one step.
type cell struct {
	*builder
	args   graph.Node // arguments of the step
	module string
	names  []string // names of the results
}

// addCell adds one step of a recurrent layer.
func (b *builder) addCell(n *node, formula func(c *cell) ([]graph.Value, error)) error {
	c := &cell{builder: b, module: b.modulePath(n), names: resultNames(n)}
	if _, err := b.addArgs(&c.args, n, nil); err != nil {
		return err
	}
	if len(c.names) == 0 {
		return fmt.Errorf("the cell has no results")
	}
	values, err := formula(c)
	if err != nil {
		return err
	}
	if len(values) != len(c.names) {
		return fmt.Errorf("the cell has %d results; expected %d", len(c.names), len(values))
	}
	for k, value := range values {
		if _, taken := b.names[c.names[k]]; taken || c.names[k] == "" {
			return fmt.Errorf("duplicate or empty value name %.200q", c.names[k])
		}
		b.names[c.names[k]] = value
	}
	return nil
}

// call adds an operator of the first argument, and of the second one if it is given.
func (c *cell) call(operator string, self any, other ...any) graph.Value {
	args := []graph.Arg{{Name: "self", Value: self}}
	for _, v := range other {
		args = append(args, graph.Arg{Name: "other", Value: v})
	}
	return c.add(operator, args)
}

func (c *cell) add(operator string, args []graph.Arg) graph.Value {
	value := c.unique(c.names[0] + "_gate")
	c.out.Graph.Nodes = append(c.out.Graph.Nodes, graph.Node{Operator: operator, Module: c.module, Args: args,
		Results: []graph.Value{value}})
	return value
}

// linear adds a linear layer of the input or of the state.
func (c *cell) linear(x any, weight, bias string) graph.Value {
	args := []graph.Arg{{Name: "input", Value: x}, {Name: "weight", Value: c.args.Arg(weight)}}
	if v := c.args.Arg(bias); v != nil {
		args = append(args, graph.Arg{Name: "bias", Value: v})
	}
	return c.add("linear.default", args)
}

// chunks divides the gates.
func (c *cell) chunks(gates graph.Value, count int) []graph.Value {
	parts := make([]graph.Value, count)
	for k := range parts {
		parts[k] = c.unique(c.names[0] + "_gate")
	}
	c.out.Graph.Nodes = append(c.out.Graph.Nodes, graph.Node{Operator: "chunk.default", Module: c.module,
		Args: []graph.Arg{{Name: "self", Value: gates}, {Name: "chunks", Value: int64(count)},
			{Name: "dim", Value: int64(-1)}}, Results: parts})
	return parts
}

// lstmCell adds gates that are the sum of two linear layers, in the order input, forget, cell, output.
func lstmCell(c *cell) ([]graph.Value, error) {
	state, ok := c.args.Arg("hx").([]any)
	if !ok || len(state) != 2 {
		return nil, fmt.Errorf("the cell of the LSTM has %d states; expected 2", len(state))
	}
	gates := c.chunks(c.call("add.Tensor", c.linear(c.args.Arg("input"), "w_ih", "b_ih"),
		c.linear(state[0], "w_hh", "b_hh")), 4)
	kept := c.call("mul.Tensor", c.call("sigmoid.default", gates[1]), state[1])
	added := c.call("mul.Tensor", c.call("sigmoid.default", gates[0]), c.call("tanh.default", gates[2]))
	next := c.call("add.Tensor", kept, added)
	hidden := c.call("mul.Tensor", c.call("sigmoid.default", gates[3]), c.call("tanh.default", next))
	return []graph.Value{hidden, next}, nil
}

// gruCell adds gates in the order reset, update, new: the reset gate multiplies the state's part of the new gate.
func gruCell(c *cell) ([]graph.Value, error) {
	state := c.args.Arg("hx")
	x := c.chunks(c.linear(c.args.Arg("input"), "w_ih", "b_ih"), 3)
	h := c.chunks(c.linear(state, "w_hh", "b_hh"), 3)
	reset := c.call("sigmoid.default", c.call("add.Tensor", x[0], h[0]))
	update := c.call("sigmoid.default", c.call("add.Tensor", x[1], h[1]))
	fresh := c.call("tanh.default", c.call("add.Tensor", x[2], c.call("mul.Tensor", reset, h[2])))
	kept := c.call("mul.Tensor", c.call("sub.Tensor", state, fresh), update)
	return []graph.Value{c.call("add.Tensor", kept, fresh)}, nil
}

func rnnCell(activation string) func(c *cell) ([]graph.Value, error) {
	return func(c *cell) ([]graph.Value, error) {
		sum := c.call("add.Tensor", c.linear(c.args.Arg("input"), "w_ih", "b_ih"),
			c.linear(c.args.Arg("hx"), "w_hh", "b_hh"))
		return []graph.Value{c.call(activation, sum)}, nil
	}
}
