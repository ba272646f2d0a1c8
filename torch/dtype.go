package torch

import "fmt"

// DType is the type of a tensor's elements. The constants have the same values as in LibTorch and gotorch. The zero
// DType is Uint8.
type DType int8

// The element types that graft supports.
const (
	Uint8    DType = 0
	Int8     DType = 1
	Int16    DType = 2
	Int32    DType = 3
	Int64    DType = 4
	Float16  DType = 5
	Float32  DType = 6
	Float64  DType = 7
	Bool     DType = 11
	BFloat16 DType = 15
)

var dtypes = map[DType]struct {
	name string
	size int
}{
	Uint8: {"uint8", 1}, Int8: {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Float16: {"float16", 2}, Float32: {"float32", 4}, Float64: {"float64", 8}, Bool: {"bool", 1},
	BFloat16: {"bfloat16", 2},
}

// String returns PyTorch's name of the type, without the prefix "torch.".
func (d DType) String() string {
	if known, ok := dtypes[d]; ok {
		return known.name
	}
	return fmt.Sprintf("dtype %d", int8(d))
}

// Size returns the number of bytes per element, or zero for an unknown type.
func (d DType) Size() int { return dtypes[d].size }

// Floating reports whether elements are floating-point numbers.
func (d DType) Floating() bool { return d == Float16 || d == Float32 || d == Float64 || d == BFloat16 }

// Element lists the Go types whose slices can be copied to and from tensors.
type Element interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64 | bool
}

func dtypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case uint8:
		return Uint8
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	case float64:
		return Float64
	default:
		return Bool
	}
}
