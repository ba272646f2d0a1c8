// Package tracing reads a network the way surgery needs it: its layers in the
// order in which they run, the blocks that can be deepened, and its channel
// spaces: the sets of channels that widening must change together.
//
// Every edge carries channels of one or more spaces. A convolution or a linear
// layer opens a space; normalisations, activations and pools pass it on; a
// flattening spreads each channel over its positions; a sum unites two spaces;
// a grouped or depthwise convolution ties what comes out to what goes in. A space
// is made of units, the smallest runs of channels that can be copied by
// themselves: one channel each, unless a layer works on several together.
//
// # Design
//
// Axes. tracing/axes gives each dimension of a graph a term: an axis, a product or a sum of terms. Operators
// unify terms, as types are inferred; a view divides an axis into a product, a split into a sum. What is left
// are the axes that surgery may change, with the places where the network sums, normalises or looks up along
// them. An operator without a rule fixes its axes. net2net/rewrite plans surgery on graphs as data: the graph
// afterwards, and for each tensor the index, shares and padding of each dimension. Weights, moments, records
// and ways back follow from a plan, and after each plan the sizes of all values are checked against those of
// the axes.
//
// Channel spaces. An edge carries channels of one or more spaces. Layers declare whether they open channels,
// tie them in groups, or pass them on; from that the trace unites and divides spaces. Each space has a number
// of *units*, the greatest common divisor of all layers on it: a depthwise convolution allows units of one
// channel, a group normalisation units of a group, a layer normalisation one unit of all channels, since only
// whole copies keep its mean and variance. Widening always copies units, with one code for convolutions,
// flattened features, groups and sums.
package tracing
