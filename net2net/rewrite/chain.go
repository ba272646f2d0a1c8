package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/tracing/axes"
)

// Chain is the part of a graph between the only operator that makes an axis of units and the only operator that sums
// over it. The operators in between work on each unit alone.
type Chain struct {
	Producer, Consumer *graph.Node
	Norm               *graph.Node  // batch normalisation that directly follows Producer; nil if there is none
	From, To           graph.Value  // output of Producer, and input of Consumer, without the normalisation
	Middle             []graph.Node // operators in between, without normalisation and dropout
	// Straight holds the operators of Middle without activations; its output is StraightTo.
	Straight   []graph.Node
	StraightTo graph.Value
}

// pointwise are operators that compute each value from values at the same place.
var pointwise = strings.Fields(`relu relu6 hardtanh leaky_relu elu selu celu gelu silu mish hardswish hardsigmoid sigmoid
	tanh softplus log_sigmoid hardshrink softshrink threshold neg abs exp square erf clamp clamp_min clamp_max add sub mul
	div pow maximum minimum`)

// placing are operators that move or pool the values of each unit.
var placing = strings.Fields(`max_pool2d avg_pool2d adaptive_avg_pool2d flatten contiguous clone alias dropout
	feature_dropout`)

// FindChain finds the chain of an axis. The error says why there is none.
func FindChain(a *axes.Axes, axis *axes.Term) (*Chain, error) {
	c := &chainReader{Axes: a, axis: axis.Find(), chain: &Chain{}}
	if err := c.ends(); err != nil {
		return nil, err
	}
	if err := c.owners(); err != nil {
		return nil, err
	}
	return c.chain, c.between()
}

type chainReader struct {
	*axes.Axes
	axis  *axes.Term
	chain *Chain
}

// multiplies reports whether a node is a linear layer or a convolution with a plain window.
func multiplies(n *graph.Node) bool {
	groups, grouped := n.Arg("groups").(int64)
	return n.Operator == "linear.default" || n.Operator == "conv2d.default" && (!grouped || groups == 1)
}

// ends finds the producer and the consumer.
func (c *chainReader) ends() error {
	set := func(to **graph.Node, n *graph.Node, role string) error {
		if *to != nil {
			return fmt.Errorf("the layers %s and %s both %s the units", (*to).Module, n.Module, role)
		}
		*to = n
		return nil
	}
	for k := range c.Graph.Nodes {
		n := &c.Graph.Nodes[k]
		w, ok := n.Arg("weight").(graph.Weight)
		if !ok || !multiplies(n) {
			continue
		}
		dims := c.Tensors[string(w)]
		if _, plain := n.Arg("bias").(graph.Weight); !plain && n.Arg("bias") != nil &&
			(dims[0].Has(c.axis) || dims[1].Has(c.axis)) {
			return fmt.Errorf("the bias of layer %s is computed", n.Module)
		}
		if dims[0].Has(c.axis) {
			if err := set(&c.chain.Producer, n, "make"); err != nil {
				return err
			}
		}
		if dims[1].Has(c.axis) {
			if err := set(&c.chain.Consumer, n, "read"); err != nil {
				return err
			}
		}
	}
	p, n := c.chain.Producer, c.chain.Consumer
	if p == nil || n == nil || p == n {
		return fmt.Errorf("it needs a linear layer or a convolution that makes the units, and another that reads them")
	}
	if t := c.Tensors[weightOf(p)][0]; t.Find() != c.axis {
		return fmt.Errorf("layer %s makes units of several channels, such as heads", p.Module)
	}
	if factors := c.Tensors[weightOf(n)][1].Factors(); len(factors) == 0 || factors[0].Find() != c.axis {
		return fmt.Errorf("layer %s does not read the units one after the other", n.Module)
	}
	return nil
}

func weightOf(n *graph.Node) string {
	w, _ := n.Arg("weight").(graph.Weight)
	return string(w)
}

// owners checks that only the chain has tensors with the axis, and finds the normalisation.
func (c *chainReader) owners() error {
	for _, t := range c.Graph.Tensors {
		if t.Tied != "" && slices.ContainsFunc(c.Tensors[t.Name], func(d *axes.Term) bool { return d.Has(c.axis) }) {
			return fmt.Errorf("the tensors %s and %s share their memory", t.Name, t.Tied)
		}
	}
	p := c.chain.Producer
	c.chain.From = p.Results[0]
	readers := c.Readers(c.chain.From)
	if len(readers) != 1 {
		return nil
	}
	if n := &c.Graph.Nodes[readers[0]]; n.Operator == "batch_norm.default" {
		if n.Arg("weight") == nil || n.Arg("bias") == nil {
			return fmt.Errorf("the normalisation %s has no scale", n.Module)
		}
		c.chain.Norm = n
	}
	return nil
}

// between collects the operators in between.
func (c *chainReader) between() error {
	whole, straight := map[graph.Value]graph.Value{c.chain.From: c.chain.From}, map[graph.Value]graph.Value{}
	straight[c.chain.From] = c.chain.From
	for k := range c.Graph.Nodes {
		n := &c.Graph.Nodes[k]
		first, derived := c.reads(n, whole)
		if !derived {
			continue
		}
		op := n.Name()
		out := graph.Value("")
		if len(n.Results) > 0 {
			out = n.Results[0]
		}
		switch {
		case n == c.chain.Consumer && n.Arg("input") == any(first):
			c.chain.To, c.chain.StraightTo = whole[first], straight[first]
			continue
		case n == c.chain.Norm, strings.HasSuffix(op, "dropout"):
			whole[out], straight[out] = whole[first], straight[first]
		case slices.Contains(placing, op):
			whole[out], straight[out] = out, out
			c.chain.Middle = append(c.chain.Middle, renamed(n, whole))
			c.chain.Straight = append(c.chain.Straight, renamed(n, straight))
		case slices.Contains(pointwise, op):
			whole[out], straight[out] = out, straight[first]
			c.chain.Middle = append(c.chain.Middle, renamed(n, whole))
		default:
			return fmt.Errorf("operator %s in %s combines the units", n.Operator, n.Module)
		}
		if err := c.alone(n, whole); err != nil {
			return err
		}
		if out == c.Graph.Output {
			return fmt.Errorf("the units are the network's output")
		}
	}
	if c.chain.To == "" {
		return fmt.Errorf("layer %s does not read the units of layer %s directly", c.chain.Consumer.Module,
			c.chain.Producer.Module)
	}
	return nil
}

// reads returns the first value of the chain that a node reads.
func (c *chainReader) reads(n *graph.Node, known map[graph.Value]graph.Value) (first graph.Value, derived bool) {
	n.Reads(func(v any) {
		if value, ok := v.(graph.Value); ok && known[value] != "" && !derived {
			first, derived = value, true
		}
	})
	return first, derived
}

// alone checks that a node reads nothing but values of the chain.
func (c *chainReader) alone(n *graph.Node, known map[graph.Value]graph.Value) (err error) {
	n.Reads(func(v any) {
		_, weight := v.(graph.Weight)
		value, _ := v.(graph.Value)
		if weight && n != c.chain.Norm || !weight && known[value] == "" {
			err = fmt.Errorf("operator %s in %s combines the units with %v", n.Operator, n.Module, v)
		}
	})
	return err
}

func renamed(n *graph.Node, to map[graph.Value]graph.Value) graph.Node {
	out := *n
	out.Args = slices.Clone(n.Args)
	out.Rename(to)
	return out
}
