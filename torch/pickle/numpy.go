package pickle

import (
	"encoding/binary"
	"math"
	"math/big"
)

// Array is a NumPy array of plain numbers. The reader creates the zero value, then calls Build to fill it.
type Array struct {
	// DType is NumPy's type string: byte order, kind and bytes per number, such as "<f4", ">i2" or "|u1".
	DType string
	// Shape is the size of each dimension; empty for a single number.
	Shape []int64
	// FortranOrder means that consecutive numbers in Data differ in the first index (column-major order). False means
	// row-major order.
	FortranOrder bool
	// Data holds the numbers without gaps. It must not be changed, since several arrays can share it.
	Data []byte
}

// NumPy returns constructors that read arrays and single numbers of plain types, for use in Options.Constructors. The
// constructors support the formats of NumPy 1 and 2. They return an error for arrays of objects, strings and records.
func NumPy() map[string]Constructor {
	made := map[string]Constructor{"numpy.dtype": newDType}
	for _, core := range []string{"numpy.core", "numpy._core"} {
		made[core+".multiarray._reconstruct"] = emptyArray
		made[core+".multiarray.scalar"] = newScalar
		made[core+".numeric._frombuffer"] = arrayOfBuffer
	}
	return made
}

// dtype is numpy.dtype; its byte order comes later, as its state.
type dtype struct {
	order byte
	kind  string // such as "f4"
}

func (d *dtype) String() string { return string(d.order) + d.kind }

// itemSizes are the supported types, with their size in bytes.
var itemSizes = map[string]int64{
	"b1": 1, "i1": 1, "u1": 1, "i2": 2, "u2": 2, "i4": 4, "u4": 4, "i8": 8, "u8": 8,
	"f2": 2, "f4": 4, "f8": 8,
}

func newDType(args Tuple) (any, error) {
	if len(args) == 0 {
		return nil, malformed("a dtype has no name")
	}
	kind, ok := args[0].(string)
	if !ok || itemSizes[kind] == 0 {
		return nil, malformed("unsupported array dtype %.40v; only plain numbers are supported", args[0])
	}
	return &dtype{order: '|', kind: kind}, nil
}

// Build sets the byte order from the pickled state (version, byte order, subtype, names, fields, …).
func (d *dtype) Build(state any) error {
	fields, ok := state.(Tuple)
	if !ok || len(fields) < 5 || fields[2] != nil || fields[3] != nil || fields[4] != nil {
		return malformed("the dtype is not a plain number")
	}
	order, ok := fields[1].(string)
	if !ok || len(order) != 1 || (order != "<" && order != ">" && order != "|") {
		return malformed("a dtype has unknown byte order %.40v", fields[1])
	}
	d.order = order[0]
	return nil
}

func emptyArray(Tuple) (any, error) { return &Array{}, nil }

// Build fills the array from the state (version, shape, dtype, fortran order, data). Old files lack the version.
func (a *Array) Build(state any) error {
	fields, ok := state.(Tuple)
	if !ok || len(fields) < 4 || len(fields) > 5 {
		return malformed("invalid state of an array")
	}
	fields = fields[len(fields)-4:]
	fortran, ok := fields[2].(bool)
	if !ok {
		return malformed("the order of an array is a %T, expected a bool", fields[2])
	}
	return a.fill(fields[3], fields[1], fields[0], fortran)
}

func arrayOfBuffer(args Tuple) (any, error) {
	if len(args) != 4 || (args[3] != "C" && args[3] != "F") {
		return nil, malformed("invalid arguments of an array")
	}
	a := &Array{}
	return a, a.fill(args[0], args[1], args[2], args[3] == "F")
}

func (a *Array) fill(data, kind, shape any, fortran bool) error {
	d, ok := kind.(*dtype)
	if !ok {
		return malformed("the type of an array is a %T, expected a dtype", kind)
	}
	sizes, err := asShape(shape)
	if err != nil {
		return err
	}
	bytes, err := asBytes(data)
	if err != nil {
		return err
	}
	want, ok := product(sizes, itemSizes[d.kind])
	if !ok || want != int64(len(bytes)) {
		return malformed("an array of shape %v and type %s has %d bytes, expected %d", sizes, d, len(bytes), want)
	}
	*a = Array{DType: d.String(), Shape: sizes, FortranOrder: fortran, Data: bytes}
	return nil
}

// maxDimensions is NumPy's own limit (NPY_MAXDIMS of NumPy 2).
const maxDimensions = 64

func asShape(value any) ([]int64, error) {
	items, ok := value.(Tuple)
	if !ok || len(items) > maxDimensions {
		return nil, malformed("invalid shape of an array")
	}
	shape := make([]int64, len(items))
	for i, item := range items {
		size, ok := item.(int64)
		if !ok || size < 0 {
			return nil, malformed("invalid shape of an array")
		}
		shape[i] = size
	}
	return shape, nil
}

// asBytes also accepts a str of Python 2.
func asBytes(value any) ([]byte, error) {
	switch v := value.(type) {
	case []byte:
		return v, nil
	case string:
		return []byte(v), nil
	}
	return nil, malformed("the data of an array are a %T, expected bytes or a str", value)
}

// product multiplies non-negative sizes, and reports whether the result fits.
func product(sizes []int64, n int64) (int64, bool) {
	for _, size := range sizes {
		if size == 0 {
			return 0, true
		}
	}
	for _, size := range sizes {
		if n > math.MaxInt64/size {
			return 0, false
		}
		n *= size
	}
	return n, true
}

// newScalar makes the Go number of a NumPy number.
func newScalar(args Tuple) (any, error) {
	if len(args) != 2 {
		return nil, malformed("invalid arguments of a number")
	}
	a := &Array{}
	if err := a.fill(args[1], args[0], Tuple{}, false); err != nil {
		return nil, err
	}
	return scalar(a.DType[1:], a.bits())
}

// bits is the first item as an unsigned number.
func (a *Array) bits() uint64 {
	var wide [8]byte
	if a.DType[0] == '>' {
		copy(wide[8-len(a.Data):], a.Data)
		return binary.BigEndian.Uint64(wide[:])
	}
	copy(wide[:], a.Data)
	return binary.LittleEndian.Uint64(wide[:])
}

func scalar(kind string, bits uint64) (any, error) {
	unused := 64 - 8*itemSizes[kind]
	switch {
	case kind == "f8":
		return math.Float64frombits(bits), nil
	case kind == "f4":
		return float64(math.Float32frombits(uint32(bits))), nil
	case kind == "b1":
		return bits != 0, nil
	case kind[0] == 'i':
		return int64(bits<<unused) >> unused, nil
	case kind[0] == 'u':
		return narrow(new(big.Int).SetUint64(bits)), nil
	}
	return nil, malformed("unsupported single number of type %q", kind)
}
