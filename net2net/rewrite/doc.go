// Package rewrite plans surgery on graphs as data: the new graph, and the construction of each of its tensors from an
// old tensor. Weights, the optimizer's moments, replays and reversals follow from the plan. The axes of package
// tracing/axes determine the dimensions that change together, so no rule depends on the name or class of a module.
//
// The rules for copies are from Net2Net (Chen, Goodfellow and Shlens 2016). The rules for the residual stream of
// transformers, with unequal shares and padding by the mean, are from LEMON (Wang and others 2024). The rules for
// attention scores, and Partition, are our own.
package rewrite
