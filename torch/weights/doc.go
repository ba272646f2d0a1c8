// Package weights reads and writes files of tensors: PyTorch's .pth in its two
// formats, and safetensors. It needs neither PyTorch nor LibTorch, runs nothing
// that a file asks for, and ends in an error on files that are cut short,
// damaged or hostile.
//
// A Set is the content of a file: tensors in order, with dotted names, and a map of texts. Nested state dicts are
// flattened: {"model": {"bias": t}} becomes the tensor "model.bias", and the items of lists and tuples are named by
// their position. Numbers, texts and truth values in between, such as an epoch, become metadata under the same kind
// of name; everything else that is not a tensor (None, bytes, sets, classes) is left out.
package weights
