// Package trial runs a graph from a file in a separate process, with limits on memory and processor time. LibTorch
// checks most arguments, but not all of them. If an operator crashes the process or exceeds a limit, the trial
// returns an error that names the operator.
package trial
