// Package graph holds networks as operators on named values. An operator may have several inputs
// and outputs, so that any network of torch.export can be one. The graph is what runs; the
// modules beside it are what people read: PyTorch's names, classes and nesting.
//
// A graph is plain data: weights are a set of package torch/weights until Bind makes tensors of
// them. Operators have the names and arguments of ATen and are pure: none changes its inputs.
package graph
