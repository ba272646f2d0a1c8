// Package trial runs a graph from a file in a separate process, with limits on memory and processor time. LibTorch
// checks most arguments, but not all: an operator that crashes its process, or exceeds a limit, becomes an error that
// names the operator.
package trial
