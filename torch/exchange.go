package torch

import (
	"fmt"

	"graft/torch/weights"
)

// stored maps the types of files to types of tensors.
var stored = map[weights.DType]DType{
	weights.Float64: Float64, weights.Float32: Float32, weights.Float16: Float16, weights.BFloat16: BFloat16,
	weights.Int64: Int64, weights.Int32: Int32, weights.Int16: Int16, weights.Int8: Int8,
	weights.Uint8: Uint8, weights.Bool: Bool,
}

// FromWeights copies a tensor from a weights file to a new tensor on a device.
func FromWeights(s *Scope, d Device, w weights.Tensor) *Tensor {
	dtype, ok := stored[w.DType]
	if !ok {
		return s.fail(&Error{Op: "make tensor", Subject: w.Name, Cause: fmt.Errorf("LibTorch has no type %v", w.DType),
			kind: ErrShape})
	}
	shape := make([]int, len(w.Shape))
	for k, n := range w.Shape {
		shape[k] = int(n)
	}
	return FromBytes(s, d, dtype, w.Data, shape...)
}

// TypeOf returns the tensor type for an element type in a weights file, and false if tensors do not support the element
// type.
func TypeOf(d weights.DType) (DType, bool) {
	t, ok := stored[d]
	return t, ok
}

// Weights returns a copy of the tensor, with the given name, for a weights file.
func (t *Tensor) Weights(name string) (weights.Tensor, error) {
	info, err := t.Info()
	if err != nil {
		return weights.Tensor{}, err
	}
	w := weights.Tensor{Name: name}
	for from, to := range stored {
		if to == info.DType {
			w.DType = from
		}
	}
	for _, n := range info.Shape {
		w.Shape = append(w.Shape, int64(n))
	}
	if w.Data, err = t.Bytes(); err != nil {
		return weights.Tensor{}, err
	}
	return w, w.Validate()
}
