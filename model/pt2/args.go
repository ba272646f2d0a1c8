package pt2

import (
	"encoding/json"
	"fmt"
	"slices"

	"graft/model/graph"
)

// decode reads the value of a union.
func decode(u union, into any) error {
	if err := json.Unmarshal(u.body, into); err != nil {
		return fmt.Errorf("%.40s: %w", u.kind, err)
	}
	return nil
}

// placement are arguments that select a tensor's location, which follows from the weights, or the library that computes
// it.
var placement = []string{"device", "pin_memory", "layout", "memory_format", "non_blocking", "cudnn_enabled",
	"cudnn_enable", "copy"}

// modes are arguments that depend on the mode of the network.
var modes = map[string]string{
	"batch_norm.default": "training", "instance_norm.default": "use_input_stats", "dropout.default": "train",
	"feature_dropout.default": "train",
	"lstm.input":              "train", "gru.input": "train", "rnn_tanh.input": "train", "rnn_relu.input": "train",
}

// addArg adds an argument to a node, unless it does not affect the result.
func (b *builder) addArg(n *graph.Node, name string, arg union) error {
	if modes[n.Operator] == name {
		var on bool
		if err := decode(arg, &on); err != nil {
			return err
		}
		_, stateful := n.Arg("running_mean").(graph.Weight)
		b.train = b.train || on && (stateful || name == "train")
		return nil
	}
	value, err := b.value(arg)
	if err != nil || slices.Contains(placement, name) || name == "sparse" && n.Operator == "embedding.default" {
		return err // graft's optimizers need dense gradients, which have the same values
	}
	if n.Operator == "scaled_dot_product_attention.default" && name == "dropout_p" && value != 0.0 {
		b.train = true
	}
	n.Args = append(n.Args, graph.Arg{Name: name, Value: value})
	return nil
}

// value converts an argument.
func (b *builder) value(arg union) (any, error) {
	switch arg.kind {
	case "as_none":
		return nil, nil
	case "as_tensor":
		return b.tensor(arg.body)
	case "as_tensors", "as_optional_tensors":
		return each(arg, b.tensor)
	case "as_int":
		return whole(arg.body)
	case "as_ints":
		return each(arg, whole)
	case "as_float":
		return real(arg.body)
	case "as_floats":
		return each(arg, func(text json.RawMessage) (any, error) { return real(text) })
	case "as_bool":
		return truth(arg.body)
	case "as_bools":
		return each(arg, truth)
	case "as_string":
		var text string
		err := decode(arg, &text)
		return text, err
	case "as_sym_int":
		return b.size(arg.body)
	case "as_sym_ints":
		return each(arg, b.size)
	case "as_scalar_type":
		var number int
		if err := decode(arg, &number); err != nil {
			return nil, err
		}
		dtype, ok := dtypes[number]
		if !ok {
			return nil, fmt.Errorf("graft does not support ScalarType %d of torch.export's schema", number)
		}
		return dtype, nil
	case "as_device", "as_memory_format", "as_layout":
		return nil, nil
	case "as_graph":
		return nil, fmt.Errorf("the argument contains a graph; write the network without control flow that depends " +
			"on tensors")
	}
	return nil, fmt.Errorf("unsupported value kind %.40q", arg.kind)
}

// each converts the items of a list.
func each(arg union, one func(json.RawMessage) (any, error)) (any, error) {
	var items []json.RawMessage
	if err := decode(arg, &items); err != nil {
		return nil, err
	}
	list := make([]any, len(items))
	for k, item := range items {
		var err error
		if list[k], err = one(item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func whole(text json.RawMessage) (any, error) {
	var n int64
	err := json.Unmarshal(text, &n)
	return n, err
}

func truth(text json.RawMessage) (any, error) {
	var on bool
	err := json.Unmarshal(text, &on)
	return on, err
}

// tensor reads {"name": …}, also inside {"as_tensor": …} or next to {"as_none": …}.
func (b *builder) tensor(text json.RawMessage) (any, error) {
	var t struct {
		Name   *string `json:"name"`
		Tensor *struct {
			Name string `json:"name"`
		} `json:"as_tensor"`
		None *bool `json:"as_none"`
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, err
	}
	switch {
	case t.None != nil:
		return nil, nil
	case t.Tensor != nil:
		return b.ref(t.Tensor.Name)
	case t.Name != nil:
		return b.ref(*t.Name)
	}
	return nil, fmt.Errorf("a tensor has no name")
}

// size reads a number or the name of a size. An expression is replaced by the example's number.
func (b *builder) size(text json.RawMessage) (any, error) {
	var i integer
	if err := json.Unmarshal(text, &i); err != nil {
		return nil, err
	}
	if i.name != "" {
		return b.ref(i.name)
	}
	return i.number, nil
}
