package torch

// Precision is the numeric type that convolutions and linear layers compute in. The zero Precision is Single.
type Precision int

// The supported precisions.
const (
	Single Precision = iota // float32, the type of the tensors
	Brain                   // bfloat16: like float32, but with 8 instead of 24 significant bits
	Half                    // float16: 11 significant bits and a small range; only for CUDA devices
	TF32                    // float32, but operands are rounded to 11 significant bits; only for CUDA devices
)

// precisions are the names of the precisions in files, as in PyTorch.
var precisions = enum[Precision]{"precision", []string{Single: "float32", Brain: "bfloat16", Half: "float16",
	TF32: "tf32"}}

// PrecisionNames returns the names that UnmarshalText accepts.
func PrecisionNames() []string { return precisions.list() }

// String returns the precision's name.
func (p Precision) String() string { return precisions.text(p) }

// MarshalText writes the precision's name.
func (p Precision) MarshalText() ([]byte, error) { return precisions.marshal(p) }

// UnmarshalText parses a precision's name; the empty name means Single.
func (p *Precision) UnmarshalText(text []byte) error { return precisions.unmarshal(p, text) }
