package operators

import (
	"fmt"
	"slices"
	"strings"

	"graft/model"
	"graft/torch"
)

// value is the result of a layer.
type value struct {
	dims  []int // shape of the batch
	made  int   // number of the layer that made it, from 1; 0 is the network's input
	flows bool  // whether it has a gradient
}

// listed is a layer in the list of calls.
type listed struct {
	layer model.Layer // nil for sums and concatenations
	makes int         // number of the value that it makes
	in    [][]int     // shapes of the values and the weights that it reads
	out   []int       // shape of the value that it makes
	gone  bool        // whether another call computes the layer too
}

// tree lists the operators of a tree of layers.
func (l *lister) tree() error {
	before := len(l.calls)
	out, err := model.Run[value](l.network, value{dims: l.batch(l.network.Input)}, l)
	if err != nil {
		return err
	}
	l.output = out.dims
	l.readers[out.made].count++
	if l.path != Program {
		l.fuse(l.calls[before:])
		l.calls = l.calls[:before+l.compact(l.calls[before:])]
	}
	return nil
}

// compact removes the calls that others compute, and returns the number of the rest.
func (l *lister) compact(calls []Call) (kept int) {
	for k := range calls {
		if !l.layers[k].gone {
			calls[kept] = calls[k]
			kept++
		}
	}
	return kept
}

// Layer adds the operator of a layer to the list of calls.
func (l *lister) Layer(at model.Place, leaf *model.Leaf, in value) (value, error) {
	of, err := l.onBatch(leaf.Layer, in.dims)
	if err != nil {
		return value{}, fmt.Errorf("%s: %w", at.Path, err)
	}
	if of.call.Name == "" {
		return value{of.out, in.made, in.flows}, nil
	}
	l.updated[leaf] = of.updated
	c := of.call
	c.Place, c.leads = at.Path, of.weighted && !in.flows
	made := l.add(c, leaf.Layer, of.in, of.out, in)
	made.flows = made.flows || of.weighted
	return made, nil
}

// add adds a call. The argument shapes has the shapes of the values and the weights that it reads.
func (l *lister) add(c Call, layer model.Layer, shapes [][]int, out []int, in ...value) value {
	c.from, c.length = l.next, 1
	l.next++
	flows := false
	for _, v := range in {
		l.readers[v.made].count++
		if c.Name == adding {
			l.readers[v.made].sums++
		}
		flows = flows || v.flows
	}
	c.still = !flows && !c.leads
	l.calls = append(l.calls, c)
	l.layers = append(l.layers, listed{layer: layer, makes: len(l.readers), in: shapes, out: out})
	if first := &l.readers[in[0].made]; first.layer == 0 {
		first.layer = len(l.layers)
	}
	l.readers = append(l.readers, readers{})
	return value{out, len(l.readers) - 1, flows}
}

// layerName returns the operator of a layer, and whether programs may omit it.
func layerName(layer model.Layer) (name string, optional bool) {
	switch l := layer.(type) {
	case model.Identity:
		return "", true
	case model.Flatten:
		return "flatten", true
	case model.Dropout:
		return "dropout", true
	case model.Conv2d:
		if l.Groups > 1 {
			return "conv2d" + grouped, false
		}
		return "conv2d", false
	case model.Linear:
		return "linear", false
	case model.BatchNorm:
		return "batch_norm", false
	case model.LayerNorm:
		return "layer_norm", false
	case model.GroupNorm:
		return "group_norm", false
	case model.AvgPool2d:
		return "avg_pool2d", false
	case model.MaxPool2d:
		return "max_pool2d", false
	case model.AdaptiveAvgPool2d:
		return "adaptive_avg_pool2d", false
	case model.Activation:
		switch l.Kind {
		case torch.ReLU:
			return "relu", false
		case torch.LeakyReLU:
			return "leaky_relu", false
		}
	}
	class, _, _ := strings.Cut(layer.String(), "(")
	return strings.ToLower(class), false
}

// adding is the name of the operator of a residual connection.
const adding = "add"

// Sum adds the operator of a residual connection to the list of calls.
func (l *lister) Sum(path string, body, shortcut value) (value, error) {
	both := [][]int{body.dims, body.dims}
	c := l.described(Call{Name: adding, Place: path, Operations: values(both[:1]), Bytes: width * 1.5 * values(both)},
		both, body.dims)
	return l.add(c, nil, both, body.dims, body, shortcut), nil
}

// Cat adds the operator of a concatenation to the list of calls.
func (l *lister) Cat(path string, parts []value) (value, error) {
	out, shapes := slices.Clone(parts[0].dims), make([][]int, len(parts))
	out[1] = 0
	for k, part := range parts {
		out[1] += part.dims[1]
		shapes[k] = part.dims
	}
	c := l.described(Call{Name: "cat", Place: path, Bytes: width * 2 * values(shapes)}, shapes, out)
	return l.add(c, nil, shapes, out, parts...), nil
}
