package weights

import (
	"encoding/binary"
	"math"
)

// Float32s returns the items as float32. The conversion is exact for float16, bfloat16, bool and integers of up to 16
// bits; other types are rounded to nearest even, as by PyTorch's float().
func (t Tensor) Float32s() ([]float32, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	out := make([]float32, t.Count())
	read := float32Readers[t.DType]
	for i := range out {
		out[i] = read(t.Data, i)
	}
	return out, nil
}

// Float64s returns the items as float64. The conversion is exact except for int64 beyond 2^53, which is rounded to
// nearest even.
func (t Tensor) Float64s() ([]float64, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	out := make([]float64, t.Count())
	for i := range out {
		out[i] = t.float64At(i)
	}
	return out, nil
}

// float64At converts by float32 if that is exact.
func (t Tensor) float64At(i int) float64 {
	switch t.DType {
	case Float64:
		return math.Float64frombits(u64(t.Data, i))
	case Int64:
		return float64(int64(u64(t.Data, i)))
	case Int32:
		return float64(int32(u32(t.Data, i)))
	}
	return float64(float32Readers[t.DType](t.Data, i))
}

var float32Readers = map[DType]func(data []byte, i int) float32{
	Float32:  func(b []byte, i int) float32 { return math.Float32frombits(u32(b, i)) },
	Float64:  func(b []byte, i int) float32 { return float32(math.Float64frombits(u64(b, i))) },
	Float16:  func(b []byte, i int) float32 { return halfToFloat(u16(b, i)) },
	BFloat16: func(b []byte, i int) float32 { return math.Float32frombits(uint32(u16(b, i)) << 16) },
	Int8:     func(b []byte, i int) float32 { return float32(int8(b[i])) },
	Int16:    func(b []byte, i int) float32 { return float32(int16(u16(b, i))) },
	Int32:    func(b []byte, i int) float32 { return float32(int32(u32(b, i))) },
	Int64:    func(b []byte, i int) float32 { return float32(int64(u64(b, i))) },
	Uint8:    func(b []byte, i int) float32 { return float32(b[i]) },
	Bool:     func(b []byte, i int) float32 { return float32(min(b[i], 1)) },
}

func u16(b []byte, i int) uint16 { return binary.LittleEndian.Uint16(b[2*i:]) }
func u32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
func u64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }

// halfToFloat widens an IEEE 754 binary16 number, which float32 holds exactly.
// A NaN keeps its payload.
func halfToFloat(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent := uint32(h>>10) & 0x1f
	fraction := uint32(h & 0x3ff)
	switch exponent {
	case 0: // zero, or subnormal: fraction · 2^-24
		value := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(value) | sign)
	case 0x1f: // infinity or NaN
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	const rebias = 127 - 15
	return math.Float32frombits(sign | (exponent+rebias)<<23 | fraction<<13)
}

// swapBytes reverses the bytes of each item of a big-endian storage, in place.
func swapBytes(data []byte, size int64) {
	for ; int64(len(data)) >= size && size > 1; data = data[size:] {
		for i, j := int64(0), size-1; i < j; i, j = i+1, j-1 {
			data[i], data[j] = data[j], data[i]
		}
	}
}

// exponents holds the bits of the exponent of floating-point types. All of them are set in NaN and in infinities.
var exponents = map[DType]uint64{Float32: 0x7f8 << 20, Float64: 0x7ff << 52, Float16: 0x7c00, BFloat16: 0x7f80}

// NotFinite counts the items that are NaN, and the infinite items.
func (t Tensor) NotFinite() (nan, infinite int64) {
	mask, size := exponents[t.DType], int(t.DType.Size())
	if mask == 0 {
		return 0, 0
	}
	fractions := mask&^(mask<<1) - 1 // all bits below the exponent
	for data := t.Data; len(data) >= size; data = data[size:] {
		var bits uint64
		switch size {
		case 2:
			bits = uint64(binary.LittleEndian.Uint16(data))
		case 4:
			bits = uint64(binary.LittleEndian.Uint32(data))
		default:
			bits = binary.LittleEndian.Uint64(data)
		}
		switch {
		case bits&mask != mask:
		case bits&fractions == 0:
			infinite++
		default:
			nan++
		}
	}
	return nan, infinite
}
