package model

import (
	"strings"

	"graft/model/graph"
)

// Blocks lists block sizes, in channels. To fill a processor's vector units, libraries pad the number of channels to a
// multiple of a block size. Padding has one value per entry of Blocks.
var Blocks = [...]int{8, 16}

// Padding holds the additional operations of convolutions whose channels are padded for vector units. It has one value
// per entry of Blocks: the number of operations that padding to this block size adds. Convolutions with groups have no
// additional operations.
type Padding [len(Blocks)]int64

// fewChannels is the largest number of channels that is not rounded up, as in images.
const fewChannels = 4

// paddingOf returns the padding of a convolution with a number of operations.
func paddingOf(operations int64, in, out int) (p Padding) {
	for k, block := range Blocks {
		up := func(channels int) float64 {
			return float64((channels+block-1)/block*block) / float64(channels)
		}
		factor := up(out)
		if in > fewChannels {
			factor *= up(in)
		}
		p[k] = int64((factor - 1) * float64(operations))
	}
	return p
}

// layerPadding returns the padding of a layer of a tree.
func layerPadding(l Layer, operations int64) Padding {
	if c, ok := l.(Conv2d); ok && c.Groups <= 1 {
		return paddingOf(operations, c.In, c.Out)
	}
	return Padding{}
}

// nodePadding returns the padding of a node of a graph.
func nodePadding(sizes *graph.Sizes, n *graph.Node, operations int64) Padding {
	name, ok := n.Arg("weight").(graph.Weight)
	if !ok || !strings.HasPrefix(n.Operator, "conv") {
		return Padding{}
	}
	w := sizes.Of(name)
	if groups, _ := n.Arg("groups").(int64); groups > 1 || len(w) < 3 || w[0] < 1 || w[1] < 1 {
		return Padding{}
	}
	if strings.HasPrefix(n.Operator, "conv_transpose") { // its weights have the input channels first
		return paddingOf(operations, w[0], w[1])
	}
	return paddingOf(operations, w[1], w[0])
}

func (p *Padding) add(other Padding) {
	for k := range p {
		p[k] += other[k]
	}
}
