// Package graph holds networks as operators on named values. An operator may have several inputs and outputs, so a
// graph can represent any network of torch.export. The graph runs; the modules, with PyTorch's names, classes and
// nesting, are only for display.
//
// A graph is plain data: weights are a set of package torch/weights until Bind makes tensors from them. Operators have
// the names and arguments of ATen and are pure: no operator changes its inputs.
package graph
