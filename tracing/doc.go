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
package tracing
