package operators

import (
	"reflect"

	"graft/model"
)

// layerAt identifies what a layer does with a batch.
type layerAt struct {
	layer model.Layer
	in    [mostDimensions]int // shape of the batch; further dimensions are zero
}

// mostDimensions is the largest number of dimensions of a batch for which calls of layers are remembered: images.
const mostDimensions = 4

// layerCall is the call of a layer on a batch, without its place.
type layerCall struct {
	call     Call    // empty name: the layer, such as an identity, is not an operator
	weighted bool    // whether the layer has tensors
	in       [][]int // shapes of the batch and of the tensors
	out      []int   // shape of the result
	updated  []int   // sizes of the parameters
}

// mostLayers limits the remembered calls of layers.
const mostLayers = 1 << 14

// onBatch returns the call of a layer on a batch. Grown networks have most of their layers in common, so it remembers
// the calls.
func (l *lister) onBatch(layer model.Layer, in []int) (*layerCall, error) {
	at := layerAt{layer: layer}
	remembers := len(in) <= len(at.in) && reflect.TypeOf(layer).Comparable()
	if remembers {
		copy(at.in[:], in)
		if of := l.batches[at]; of != nil {
			return of, nil
		}
	}
	of, err := l.listLayer(layer, in)
	if err != nil || !remembers {
		return of, err
	}
	if len(l.batches) == mostLayers {
		clear(l.batches)
	}
	l.batches[at] = of
	return of, nil
}

// listLayer computes the call of a layer on a batch.
func (l *lister) listLayer(layer model.Layer, in []int) (*layerCall, error) {
	example := model.Shape(in[1:])
	out, err := layer.Infer(example)
	if err != nil {
		return nil, err
	}
	name, optional := layerName(layer)
	of := &layerCall{out: l.batch(out)}
	if name == "" {
		return of, nil
	}
	slots := layer.Slots()
	of.weighted, of.updated = len(slots) > 0, updatesOf(slots)
	of.in = append(of.in, in)
	for k := range slots {
		if len(slots[k].Shape) > 0 {
			of.in = append(of.in, slots[k].Shape)
		}
	}
	of.call = l.described(Call{Name: name, Optional: optional,
		Operations: float64(l.rows) * float64(layer.Operations(example, out)),
		Bytes:      width * (values(of.in) + values([][]int{of.out}))}, of.in, of.out)
	return of, nil
}

// described returns a call with the texts and sizes of the shapes that it reads and makes.
func (l *lister) described(c Call, in [][]int, out []int) Call {
	c.Shapes, c.sizes = l.path.shapesText(in), nodeSizes(c.Name, in, [][]int{out})
	return c
}
