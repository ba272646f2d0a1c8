package weights

import "fmt"

// DType is the type of a tensor's items. The zero value, Invalid, is not a valid type.
type DType int

// The types of items that all formats support.
const (
	Invalid DType = iota
	Float32
	Float64
	Float16
	BFloat16
	Int8
	Int16
	Int32
	Int64
	Uint8
	Bool
)

// format holds the names and the size of a type.
type format struct {
	name        string
	size        int64
	storage     string // class of PyTorch's storages: torch.<storage>
	safetensors string
}

// formats follows the tables of PyTorch's torch/storage.py and of the
// safetensors format.
var formats = map[DType]format{
	Float32:  {"float32", 4, "FloatStorage", "F32"},
	Float64:  {"float64", 8, "DoubleStorage", "F64"},
	Float16:  {"float16", 2, "HalfStorage", "F16"},
	BFloat16: {"bfloat16", 2, "BFloat16Storage", "BF16"},
	Int8:     {"int8", 1, "CharStorage", "I8"},
	Int16:    {"int16", 2, "ShortStorage", "I16"},
	Int32:    {"int32", 4, "IntStorage", "I32"},
	Int64:    {"int64", 8, "LongStorage", "I64"},
	Uint8:    {"uint8", 1, "ByteStorage", "U8"},
	Bool:     {"bool", 1, "BoolStorage", "BOOL"},
}

// String returns PyTorch's name of the type, such as "float32".
func (d DType) String() string {
	if f, ok := formats[d]; ok {
		return f.name
	}
	return fmt.Sprintf("DType(%d)", int(d))
}

// MarshalText writes the name that String returns.
func (d DType) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses a name that String returns.
func (d *DType) UnmarshalText(text []byte) error {
	found, ok := dtypeBy(func(f format) string { return f.name }, string(text))
	if !ok {
		return fmt.Errorf("unknown tensor type %q", text)
	}
	*d = found
	return nil
}

// Size returns the number of bytes per item, or zero for Invalid.
func (d DType) Size() int64 { return formats[d].size }

func dtypeBy(column func(format) string, name string) (DType, bool) {
	for d, f := range formats {
		if column(f) == name {
			return d, true
		}
	}
	return Invalid, false
}
