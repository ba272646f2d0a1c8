package graph

import (
	"slices"
	"strings"
)

// dimensions are arguments that name a dimension, from the front or, if negative, from the back.
var dimensions = []string{"dim", "dims", "dim0", "dim1", "dim2", "axis0", "axis1", "start_dim", "end_dim", "dimension",
	"source", "destination", "axis"}

// checkDimensions checks arguments that LibTorch only reads when the operator runs. The dims of tile are counts.
func (c *checker) checkDimensions(at string, n Node) {
	for _, a := range n.Args {
		items, list := a.Value.([]any)
		if !list {
			items = []any{a.Value}
		}
		for _, item := range items {
			v, whole := item.(int64)
			switch {
			case !whole:
			case slices.Contains(dimensions, a.Name) && !strings.HasPrefix(n.Operator, "tile.") &&
				(v > mostDims || v < -mostDims-1):
				c.bad("%s: argument %s: no dimension %d; a tensor has at most %d", at, a.Name, v, mostDims)
			case a.Name == "step" && v < 1 && strings.HasPrefix(n.Operator, "slice"):
				c.bad("%s: argument step is %d; must be positive", at, v)
			}
		}
	}
}

// recurrent are the operators whose weights are one list.
var recurrent = []string{"lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input"}

// checkRecurrent compares the number of weights with the layers: LibTorch reads beyond the end of a short list.
func (c *checker) checkRecurrent(at string, n Node) {
	params, list := n.Arg("params").([]any)
	if !list || !slices.Contains(recurrent, n.Operator) {
		return
	}
	layers, known := n.Arg("num_layers").(int64)
	if biases, _ := n.Arg("has_biases").(bool); biases {
		layers *= 2
	}
	if both, _ := n.Arg("bidirectional").(bool); both {
		layers *= 2
	}
	if want := 2 * layers; !known || int64(len(params)) < want {
		c.bad("%s: argument params has %d tensors, expected %d for its layers", at, len(params), want)
	}
}
