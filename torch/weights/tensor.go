package weights

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// maxDimensions is LibTorch's own limit on the dimensions of a tensor (at::kVmapMaxTensorDims and TensorIterator assume
// 64).
const maxDimensions = 64

// Tensor is an array of numbers. The zero value is not a valid tensor, since it has no type.
type Tensor struct {
	// Name is the dotted path of the tensor, such as "conv1.layers.0.weight".
	Name string
	// DType is the type of the items.
	DType DType
	// Shape is the size of each dimension; empty for a single number.
	Shape []int64
	// Data holds the items in row-major order, little-endian, without gaps. Tensors read from a file can share memory,
	// so copy Data before changing it.
	Data []byte
}

// FromFloat32s creates a float32 tensor from values in row-major order. The shape must match the number of values.
func FromFloat32s(name string, shape []int64, values []float32) (Tensor, error) {
	data := make([]byte, 0, 4*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	t := Tensor{Name: name, DType: Float32, Shape: append([]int64{}, shape...), Data: data}
	return t, t.Validate()
}

// FromFloat64s creates a float64 tensor with one dimension.
func FromFloat64s(name string, values []float64) Tensor {
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return Tensor{Name: name, DType: Float64, Shape: []int64{int64(len(values))}, Data: data}
}

// Count returns the number of items; it is 1 for a tensor without dimensions. The tensor must be valid.
func (t Tensor) Count() int64 {
	n, _ := count(t.Shape)
	return n
}

// Validate checks that type, shape and data are consistent.
func (t Tensor) Validate() error {
	bytes, err := byteCount(t.DType, t.Shape)
	if err == nil && bytes != int64(len(t.Data)) {
		err = fmt.Errorf("type %s with shape %v takes %d bytes, got %d", t.DType, t.Shape, bytes, len(t.Data))
	}
	if err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return nil
}

// errHuge is the error for a shape with too many items.
var errHuge = errors.New("the shape has too many items")

// byteCount is the size in bytes of items of a shape, checked for overflow.
func byteCount(d DType, shape []int64) (int64, error) {
	size := d.Size()
	if size == 0 {
		return 0, fmt.Errorf("tensors cannot have type %s", d)
	}
	n, err := count(shape)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64/size {
		return 0, errHuge
	}
	return n * size, nil
}

// count multiplies the sizes. A size of zero does not hide the overflow of the others, which would cause an error in
// LibTorch later.
func count(shape []int64) (int64, error) {
	if len(shape) > maxDimensions {
		return 0, fmt.Errorf("the tensor has %d dimensions, expected at most %d", len(shape), maxDimensions)
	}
	n, empty := int64(1), false
	for _, size := range shape {
		switch {
		case size < 0:
			return 0, fmt.Errorf("the shape %v has a negative size", shape)
		case size == 0:
			empty = true
		case n > math.MaxInt64/size:
			return 0, errHuge
		default:
			n *= size
		}
	}
	if empty {
		return 0, nil
	}
	return n, nil
}
