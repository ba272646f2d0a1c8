// Package tracing reads a network for surgery: its layers in execution order, the blocks that can be deepened, and its
// channel spaces, which are sets of channels that must change together.
//
// Every edge carries channels of one or more spaces. A convolution or a linear layer opens a space; normalisations,
// activations and pools pass it on; a flattening spreads each channel over its positions; a sum unites two spaces; a
// grouped or depthwise convolution ties its output channels to its input channels. A space consists of units, the
// smallest runs of channels that can be copied alone: one channel each, unless a layer works on several channels
// together.
//
// # Design
//
// Axes. tracing/axes gives each dimension of a graph a term: an axis, a product or a sum of terms. Operators unify
// terms, as in type inference; a view divides an axis into a product, a split into a sum. The remaining axes are the
// ones that surgery may change, with the places where the network sums, normalises or looks up along them. An operator
// without a rule fixes its axes. net2net/rewrite plans surgery on graphs as data: the new graph, and for each tensor
// the index, shares and padding of each dimension. Weights, moments, records and reversals follow from a plan, and
// after each plan the sizes of all values are checked against the sizes of the axes.
//
// Channel spaces. An edge carries channels of one or more spaces. Layers declare whether they open channels, tie them
// in groups, or pass them on; from that the trace unites and divides spaces. Each space has a number of *units*, the
// greatest common divisor of all layers on it: a depthwise convolution allows units of one channel, a group
// normalisation units of a group, a layer normalisation one unit of all channels, since only whole copies keep its mean
// and variance. Widening always copies units, with the same code for convolutions, flattened features, groups and sums.
package tracing
