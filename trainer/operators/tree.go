package operators

import (
	"cmp"
	"fmt"
	"strings"

	"graft/model"
)

// treeCalls lists the operators of a tree of layers. The argument first is the index of the tree's first instruction.
func treeCalls(n *model.Network, rows, first int, p Path) ([]Call, error) {
	l := &lister{path: p, rows: rows, next: first, readers: map[int]int{}}
	out, err := model.Run[value](n, value{shape: n.Input}, l)
	if err != nil {
		return nil, err
	}
	l.readers[out.made]++
	if p != Program {
		l.fuse(p == Fast)
	}
	calls := make([]Call, len(l.layers))
	for k := range l.layers {
		calls[k] = l.layers[k].call
	}
	return calls, nil
}

// value is the result of a layer.
type value struct {
	shape model.Shape
	made  int  // number of the layer that made it, from 1; 0 is the network's input
	flows bool // whether it has a gradient
}

// listed is a layer in the list of calls.
type listed struct {
	call  Call
	layer model.Layer // nil for sums and concatenations
	reads int         // number of the first value that it reads
	makes int         // number of the value that it makes
	in    [][]int     // shapes of the values and the weights that it reads
	out   [][]int     // shape of the value that it makes
}

// lister follows the shapes through a tree.
type lister struct {
	path    Path
	rows    int
	next    int // index of the next instruction
	made    int // number of values so far
	readers map[int]int
	layers  []listed
}

func (l *lister) batch(s model.Shape) []int { return append([]int{l.rows}, s...) }

// Layer adds the operator of a layer to the list of calls.
func (l *lister) Layer(at model.Place, leaf *model.Leaf, in value) (value, error) {
	out, err := leaf.Layer.Infer(in.shape)
	if err != nil {
		return value{}, fmt.Errorf("%s: %w", at.Path, err)
	}
	name, optional := layerName(leaf.Layer)
	if name == "" {
		return value{out, in.made, in.flows}, nil
	}
	shapes := [][]int{l.batch(in.shape)}
	for _, slot := range leaf.Layer.Slots() {
		if len(slot.Shape) > 0 {
			shapes = append(shapes, slot.Shape)
		}
	}
	c := Call{Name: name, Shapes: l.path.shapesText(shapes), Place: at.Path, Optional: optional,
		Operations: float64(l.rows) * float64(leaf.Layer.Operations(in.shape, out)),
		Bytes:      width * (values(shapes) + values([][]int{l.batch(out)}))}
	weighted := len(leaf.Layer.Slots()) > 0
	c.leads = weighted && !in.flows
	made := l.add(c, leaf.Layer, shapes, out, in)
	made.flows = made.flows || weighted
	return made, nil
}

// add adds a call. The argument shapes has the shapes of the values and the weights that it reads.
func (l *lister) add(c Call, layer model.Layer, shapes [][]int, out model.Shape, in ...value) value {
	result := [][]int{l.batch(out)}
	c.sizes = nodeSizes(c.Name, shapes, result)
	c.from, c.length = l.next, 1
	l.next++
	l.made++
	flows := false
	for _, v := range in {
		l.readers[v.made]++
		flows = flows || v.flows
	}
	l.layers = append(l.layers, listed{c, layer, in[0].made, l.made, shapes, result})
	return value{out, l.made, flows}
}

// layerNames are names of operators that differ from the class in PyTorch.
var layerNames = map[string]string{"Conv2d": "conv2d", "Linear": "linear", "BatchNorm2d": "batch_norm",
	"BatchNorm1d": "batch_norm", "LayerNorm": "layer_norm", "GroupNorm": "group_norm", "AvgPool2d": "avg_pool2d",
	"MaxPool2d": "max_pool2d", "AdaptiveAvgPool2d": "adaptive_avg_pool2d", "LeakyReLU": "leaky_relu"}

// layerName returns the operator of a layer, and whether programs may omit it.
func layerName(layer model.Layer) (name string, optional bool) {
	switch layer.(type) {
	case model.Identity:
		return "", true
	case model.Flatten, model.Dropout:
		optional = true
	}
	class, _, _ := strings.Cut(layer.String(), "(")
	name = cmp.Or(layerNames[class], strings.ToLower(class))
	if c, ok := layer.(model.Conv2d); ok && c.Groups > 1 {
		name += grouped
	}
	return name, optional
}

// Sum adds the operator of a residual connection to the list of calls.
func (l *lister) Sum(path string, body, shortcut value) (value, error) {
	both := [][]int{l.batch(body.shape), l.batch(body.shape)}
	c := Call{Name: "add", Shapes: l.path.shapesText(both), Place: path,
		Operations: float64(l.rows) * float64(body.shape.Count()), Bytes: width * 1.5 * values(both)}
	return l.add(c, nil, both, body.shape, body, shortcut), nil
}

// Cat adds the operator of a concatenation to the list of calls.
func (l *lister) Cat(path string, parts []value) (value, error) {
	out, shapes := append(model.Shape{0}, parts[0].shape[1:]...), [][]int{}
	for _, part := range parts {
		out[0] += part.shape[0]
		shapes = append(shapes, l.batch(part.shape))
	}
	c := Call{Name: "cat", Shapes: l.path.shapesText(shapes), Place: path, Bytes: width * 2 * values(shapes)}
	return l.add(c, nil, shapes, out, parts...), nil
}
