package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/wangkuiyi/gotorch"
)

// Tensor is a LibTorch tensor owned by a scope. The zero Tensor is empty: using it is an error, never a crash.
type Tensor struct {
	handle unsafe.Pointer // an at::Tensor*, or nil once freed
	scope  *Scope
	index  int // index in the scope's list
}

// gotorch returns the handle for a call of gotorch. The copy must not outlive the call.
func (t *Tensor) gotorch() gotorch.Tensor { return gotorch.Tensor{T: &t.handle} }

// Info describes a tensor: its type, shape and device, but not its values.
type Info struct {
	DType        DType
	Shape        []int
	Device       Device
	RequiresGrad bool
}

// Count returns the number of elements.
func (i Info) Count() int {
	n := 1
	for _, size := range i.Shape {
		n *= size
	}
	return n
}

// Info returns the tensor's type, shape and device. It returns an error for an empty or closed tensor.
func (t *Tensor) Info() (Info, error) {
	if t == nil || t.handle == nil {
		return Info{}, &Error{Op: "describe tensor", Cause: errors.New("the tensor is closed or was never created"),
			kind: ErrClosed}
	}
	var c C.graft_info
	if err := take("describe tensor", C.graft_tensor_info(C.graft_t(t.handle), &c)); err != nil {
		return Info{}, err
	}
	if c.defined == 0 {
		return Info{}, &Error{Op: "describe tensor", Cause: errors.New("the tensor is undefined")}
	}
	info := Info{DType: DType(c.dtype), RequiresGrad: c.requires_grad != 0, Shape: make([]int, c.dims)}
	for k := range info.Shape {
		info.Shape[k] = int(c.sizes[k])
	}
	info.Device = Device{CUDA: c.device_type == 1, Index: int(c.device_index)}
	return info, nil
}

// Shape returns the size of each dimension, or nil for an empty tensor.
func (t *Tensor) Shape() []int {
	info, err := t.Info()
	if err != nil {
		return nil
	}
	return info.Shape
}

func (t *Tensor) brief() string {
	info, err := t.Info()
	if err != nil {
		return "nothing"
	}
	text := fmt.Sprintf("%v %v", info.DType, info.Shape)
	if info.Device.CUDA {
		text += " on " + info.Device.String()
	}
	return text
}

// From copies a Go slice, in row-major order, into a new tensor on the CPU.
func From[T Element](s *Scope, data []T, shape ...int) *Tensor {
	return FromOn(s, CPU, data, shape...)
}

// FromOn copies a Go slice, in row-major order, into a new tensor on a device.
func FromOn[T Element](s *Scope, d Device, data []T, shape ...int) *Tensor {
	return s.fromHost(d, dtypeOf[T](), unsafe.Pointer(unsafe.SliceData(data)), len(data), shape)
}

// FromBytes creates a tensor from little-endian bytes in row-major order, the layout of weights files.
func FromBytes(s *Scope, d Device, dtype DType, data []byte, shape ...int) *Tensor {
	size := dtype.Size()
	if size == 0 || len(data)%size != 0 {
		return s.fail(&Error{Op: "make tensor",
			Cause: fmt.Errorf("%d bytes are not a multiple of the size of %v", len(data), dtype), kind: ErrShape})
	}
	return s.fromHost(d, dtype, unsafe.Pointer(unsafe.SliceData(data)), len(data)/size, shape)
}

func (s *Scope) fromHost(d Device, dtype DType, data unsafe.Pointer, count int, shape []int) *Tensor {
	if !s.ready("make tensor", nil) {
		return &Tensor{}
	}
	if n := (Info{Shape: shape}).Count(); n != count || slices.Min(append([]int{0}, shape...)) < 0 {
		return s.fail(&Error{Op: "make tensor", Cause: fmt.Errorf("%d values do not fit the shape %v", count, shape),
			kind: ErrShape})
	}
	sizes := int64s(shape)
	kind, index := d.code()
	var out C.graft_t
	message := C.graft_from_host(data, C.int32_t(dtype), (*C.int64_t)(unsafe.SliceData(sizes)), C.int32_t(len(sizes)),
		C.int32_t(kind), C.int32_t(index), &out)
	if err := take("make tensor", message); err != nil {
		return s.fail(err)
	}
	return s.adopt(unsafe.Pointer(out))
}

// Values copies the tensor's elements into a new Go slice, in row-major order.
func Values[T Element](t *Tensor) ([]T, error) {
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	if want := dtypeOf[T](); info.DType != want {
		return nil, &Error{Op: "read tensor", Subject: t.brief(), Cause: fmt.Errorf("the tensor's elements do not "+
			"have type %v", want),
			kind: ErrShape, Remedy: "convert the tensor with To first"}
	}
	data := make([]T, info.Count())
	size := int(unsafe.Sizeof(*new(T)))
	return data, t.toHost(unsafe.Pointer(unsafe.SliceData(data)), len(data)*size)
}

// Bytes returns the tensor's elements as little-endian bytes, in row-major order.
func (t *Tensor) Bytes() ([]byte, error) {
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Count()*info.DType.Size())
	return data, t.toHost(unsafe.Pointer(unsafe.SliceData(data)), len(data))
}

func (t *Tensor) toHost(data unsafe.Pointer, bytes int) error {
	return take("read tensor", C.graft_to_host(C.graft_t(t.handle), data, C.int64_t(bytes)))
}

// Item returns the value of a tensor with one element, as a float64.
func (t *Tensor) Item() (float64, error) {
	var value float64
	err := With(func(s *Scope) error {
		values, err := Values[float64](s.To(t, Float64, CPU))
		if s.Err() != nil {
			return s.Err()
		}
		if err != nil || len(values) != 1 {
			return errors.Join(err, &Error{Op: "item", Subject: t.brief(),
				Cause: errors.New("the tensor must have exactly one value"), kind: ErrShape})
		}
		value = values[0]
		return nil
	})
	return value, err
}

func int64s(values []int) []C.int64_t {
	out := make([]C.int64_t, len(values))
	for k, v := range values {
		out[k] = C.int64_t(v)
	}
	return out
}
