// Package trial runs a graph that a file gave in a process of its own, with limits on memory and processor
// time. LibTorch checks most arguments, not all: an operator that ends its process, or takes too much, then
// is an error that names it.
package trial
