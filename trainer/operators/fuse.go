package operators

import (
	"math"
	"strings"

	"graft/model"
	"graft/torch"
)

// channelsLast ends the names of operators on images in the fast path, which keeps images in this layout.
const channelsLast = " channels-last"

// Endings of the names of operators by the reader of the result: a layer that flattens images, an adaptive pool, or
// several layers without a sum.
const (
	beforeFlatten = " before flatten"
	beforePool    = " before pool"
	beforeFork    = " before fork"
)

// readers describes the layers that read a value.
type readers struct {
	count int // number of layers
	layer int // number of the first layer whose first input is the value, from 1; 0 if there is none
	sums  int // number of sums among the layers
}

// fuse joins the layers that graft computes together: a ReLU with the average pool after it and, on the fast path, a
// batch normalisation with the ReLU and the pool after it. A layer is joined if it alone reads the result before it.
// The arguments are the calls of the layers.
func (l *lister) fuse(calls []Call) {
	fast := l.path == Fast
	for k := range calls {
		if _, is := l.layers[k].layer.(model.BatchNorm); is && fast {
			l.absorb(calls, k, isReLU)
			l.absorb(calls, k, tiles)
		}
	}
	for k := range calls {
		if isReLU(l.layers[k].layer) && !l.layers[k].gone {
			l.absorb(calls, k, halves)
		}
	}
	for k := range calls {
		o := &l.layers[k]
		if !fast || len(o.in[0]) != 4 {
			continue
		}
		if _, is := o.layer.(model.Flatten); is && (pixels(o.in[0]) == 1 || o.in[0][1] == 1) {
			continue // a view, as in other layouts
		}
		calls[k].Name = l.join(l.join(calls[k].Name, channelsLast), l.before(o))
	}
}

// pixels returns the number of pixels of images.
func pixels(shape []int) int {
	if len(shape) != 4 {
		return 0
	}
	return shape[2] * shape[3]
}

// before returns the ending of the name of a layer whose gradient may have another layout than its result, because of
// the layers that read the result.
func (l *lister) before(o *listed) string {
	of := l.readers[o.makes]
	if of.count > 1 && of.sums == 0 {
		return beforeFork // the gradients of a sum's inputs are the gradient of the sum
	}
	if of.layer == 0 || pixels(o.out) <= 1 {
		return ""
	}
	switch l.layers[of.layer-1].layer.(type) {
	case model.Flatten:
		return beforeFlatten
	case model.AdaptiveAvgPool2d:
		return beforePool
	}
	return ""
}

// absorb joins a layer with its only reader if the reader is of the given kind.
func (l *lister) absorb(calls []Call, k int, kind func(model.Layer) bool) {
	first := &l.layers[k]
	of := l.readers[first.makes]
	if of.count != 1 || of.layer == 0 || !kind(l.layers[of.layer-1].layer) {
		return
	}
	second := &l.layers[of.layer-1]
	name, c, out := calls[of.layer-1].Name, &calls[k], [][]int{second.out}
	c.Name = l.join(l.join(c.Name, " "), name)
	c.Bytes, c.Operations = width*(values(first.in)+values(out)), c.Operations+calls[of.layer-1].Operations
	c.sizes = nodeSizes(name, first.in, out)
	first.out, first.makes = second.out, second.makes
	second.gone = true
}

func isReLU(l model.Layer) bool {
	a, is := l.(model.Activation)
	return is && a.Kind == torch.ReLU
}

// tiles reports whether a layer is an average pool whose windows tile the image.
func tiles(l model.Layer) bool {
	if p, is := l.(model.AdaptiveAvgPool2d); is {
		return p.Size.H == 1 && p.Size.W == 1
	}
	p, is := l.(model.AvgPool2d)
	same := func(a, b model.Pair) bool { return a.H == b.H && a.W == b.W }
	return is && same(p.Kernel, p.Stride) && same(p.Padding, model.Pair{}) && !p.Ceil
}

// halves reports whether a layer is an average pool of 2 x 2 pixels.
func halves(l model.Layer) bool {
	p, is := l.(model.AvgPool2d)
	return is && tiles(l) && p.Kernel.H == 2 && p.Kernel.W == 2
}

// sizes are the sizes that determine the time of a call, in an order that depends on its operator. Unused sizes are
// zero. The last two sizes are the footprint and the kinds of the step.
type sizes [9]int

const (
	// footprint is the index of the memory of all operators of a step, in units of 1024 bytes, rounded to a power of
	// two. The larger it is, the less of an operator's inputs is still in a cache.
	footprint = len(sizes{}) - 2
	// kinds is the index of the number of different operators of a step. The larger it is, the less of an operator's
	// instructions is still in a cache. It is zero in measurements of earlier versions of graft, which lack it.
	kinds = len(sizes{}) - 1
)

// footprintOf returns the footprint of a step.
func footprintOf(calls []Call) int {
	sum := 0.0
	for k := range calls {
		sum += calls[k].Bytes
	}
	return int(math.Exp2(math.Round(math.Log2(max(1, sum/1024)))))
}

// nodeSizes returns the sizes of an operator. Convolutions have the number of places in the result, the channels of a
// group, and of the result, the area of the kernel, the number of groups, the stride and the number of examples. Linear
// layers have rows, inputs and outputs. Attention has the heads of all examples, the queries and the keys of a head,
// the sizes of a query and of a value, and the number of heads. Other operators have the values that they read, the
// channels of the result, the values that they read for each value of the result, and the pixels of the images.
func nodeSizes(name string, in, out [][]int) sizes {
	result := int(values(out))
	if len(in) == 0 || len(out) == 0 || len(out[0]) == 0 || result == 0 {
		return sizes{}
	}
	shape := out[0]
	weighted := len(in) > 1 && len(in[1]) > 1
	switch {
	case len(name) >= 4 && name[:4] == "conv" && weighted && len(shape) > 1 && shape[1] > 0:
		w := in[1]
		area := 1
		for _, n := range w[2:] {
			area *= n
		}
		stride := 1
		if last := len(shape) - 1; len(in[0]) == len(shape) && shape[last] > 0 {
			stride = max(1, in[0][last]/shape[last])
		}
		return sizes{result / shape[1], w[1], shape[1], area, max(1, in[0][1]/max(1, w[1])), stride, shape[0]}
	case name == "linear" && weighted:
		return sizes{result / max(1, in[1][0]), in[1][1], in[1][0]}
	case name == attending && len(in) > 2 && len(in[0]) > 2 && len(in[1]) == len(in[0]) && len(in[2]) == len(in[0]):
		return attentionSizes(in[0], in[1], in[2])
	}
	channels := shape[len(shape)-1]
	if len(shape) == 4 {
		channels = shape[1]
	}
	read := int(values(in[:1]))
	return sizes{read, channels, max(1, read/result), pixels(in[0])}
}

// pixelSize is the index of the pixels of images in the sizes of operators other than convolutions, linear layers and
// attention.
const pixelSize = 3

// pixelled reports whether a call has the pixels of images among its sizes since format 1 of points.
func (c *Call) pixelled() bool {
	return !strings.HasPrefix(c.Name, "conv") && !strings.HasPrefix(c.Name, "linear") && !around(base(c.Name))
}

// Indices in the sizes of attention.
const (
	valueSize = 4
	headsSize = 5
)

// attentionSizes returns the sizes of attention with queries, keys and values.
func attentionSizes(q, k, v []int) sizes {
	last := len(q) - 1
	queries, size := q[last-1], q[last]
	heads := 1
	if last > 2 {
		heads = q[last-2]
	}
	return sizes{int(values([][]int{q})) / max(1, queries*size), queries, k[last-1], size, v[last], heads}
}

// olderAttention returns the sizes of attention as earlier versions of graft measured it: the values of the queries,
// the heads, and the size of a query over the size of a value.
func (s sizes) olderAttention() sizes {
	older := sizes{s[0] * s[1] * s[3], s[headsSize], max(1, s[3]/max(1, s[valueSize]))}
	older[footprint], older[kinds] = s[footprint], s[kinds]
	return older
}
