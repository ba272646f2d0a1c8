// Package weights reads and writes files of tensors: PyTorch's .pth in its two formats, and safetensors. It needs
// neither PyTorch nor LibTorch, executes no code from a file, and returns an error for truncated, damaged or hostile
// files.
//
// A Set is the content of a file: tensors in order, with dotted names, and a map of texts. Nested state dicts are
// flattened: {"model": {"bias": t}} becomes the tensor "model.bias", and items of lists and tuples are named by their
// position. Numbers, texts and booleans in the state dict, such as an epoch, become metadata with the same kind of
// name. All other values except tensors (None, bytes, sets, classes) are left out.
package weights
