// Package probes draws the networks on which a device's operators are measured.
//
// The cost of an operator depends on its shapes, and on the operators before it, which leave its inputs in a cache or
// not. So operators are not measured alone, but in small networks of the usual families, with random sizes: residual
// and plain convolutional networks, separable convolutions, multi-layer perceptrons, and transformers. The sizes are
// spread evenly on a logarithmic scale. Convolutional networks and perceptrons are measured both as trees of layers and
// as graphs of operators, in which imported networks run.
package probes
