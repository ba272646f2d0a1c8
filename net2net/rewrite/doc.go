// Package rewrite plans surgery on graphs as data: the graph afterwards, and for each of its tensors how it is made of
// one before. Weights, the optimizer's moments, replays and ways back follow from the plan. Which dimensions change
// together is read off the axes of package tracing/axes, so no rule depends on the name or class of a module.
//
// The rules are those of Net2Net (Chen, Goodfellow and Shlens 2016) for copies, of LEMON (Wang and others 2024) for the
// residual stream of transformers with unequal shares and padding by the mean, and our own for scores of attention.
package rewrite
