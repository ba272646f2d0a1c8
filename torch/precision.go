package torch

// Precision is the numeric type of convolutions and linear layers. The zero Precision is Single.
type Precision int

// The precisions.
const (
	Single Precision = iota // float32, the type of the tensors
	Brain                   // bfloat16: float32 with 8 instead of 24 significant bits
	Half                    // float16: 11 significant bits and a small range; for CUDA devices
	TF32                    // float32 with operands rounded to 11 significant bits; for CUDA devices
)

// precisions are the names of the precisions in files, as in PyTorch.
var precisions = enum[Precision]{"precision", []string{Single: "float32", Brain: "bfloat16", Half: "float16",
	TF32: "tf32"}}

// PrecisionNames lists the names that UnmarshalText reads.
func PrecisionNames() []string { return precisions.list() }

// String returns the precision's name.
func (p Precision) String() string { return precisions.text(p) }

// MarshalText writes the precision's name.
func (p Precision) MarshalText() ([]byte, error) { return precisions.marshal(p) }

// UnmarshalText parses a precision's name; the empty name means Single.
func (p *Precision) UnmarshalText(text []byte) error { return precisions.unmarshal(p, text) }
