package torch

import (
	"fmt"
	"strings"
)

// Precision is the type in which convolutions and linear layers compute and round. The zero
// Precision is Single.
type Precision int

// The precisions.
const (
	Single Precision = iota // float32, the type of the tensors
	Brain                   // bfloat16: float32 with 8 instead of 24 significant bits
)

// precisionNames are the precisions' names in files, which are PyTorch's.
var precisionNames = []string{Single: "float32", Brain: "bfloat16"}

// PrecisionNames lists the names that UnmarshalText reads.
func PrecisionNames() []string { return append([]string{}, precisionNames...) }

// String is the precision's name.
func (p Precision) String() string {
	if p < 0 || int(p) >= len(precisionNames) {
		return fmt.Sprintf("precision %d", int(p))
	}
	return precisionNames[p]
}

// MarshalText writes the precision's name.
func (p Precision) MarshalText() ([]byte, error) {
	if p < 0 || int(p) >= len(precisionNames) {
		return nil, fmt.Errorf("the precision %d has no name", int(p))
	}
	return []byte(precisionNames[p]), nil
}

// UnmarshalText parses a precision's name; the empty name means Single.
func (p *Precision) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = Single
		return nil
	}
	for known, name := range precisionNames {
		if name == string(text) {
			*p = Precision(known)
			return nil
		}
	}
	return fmt.Errorf("there is no precision %q; there are %s", text, strings.Join(precisionNames, ", "))
}
