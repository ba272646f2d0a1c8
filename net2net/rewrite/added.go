package rewrite

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"graft/torch"
)

// Added holds values that surgery adds to slices of a tensor, such as the weights of new units.
type Added struct {
	At     int     `json:"at"`     // dimension of the slices
	Slices []int   `json:"slices"` // index of each slice
	Values Numbers `json:"values"` // values of the slices, in the layout of a tensor that has only these slices
}

// Numbers are float64 values, which JSON stores as the base64 text of their little-endian bytes.
type Numbers []float64

// MarshalText returns the base64 text.
func (n Numbers) MarshalText() ([]byte, error) {
	bytes := make([]byte, 0, 8*len(n))
	for _, v := range n {
		bytes = binary.LittleEndian.AppendUint64(bytes, math.Float64bits(v))
	}
	return base64.StdEncoding.AppendEncode(nil, bytes), nil
}

// UnmarshalText reads the base64 text. All values must be finite.
func (n *Numbers) UnmarshalText(text []byte) error {
	bytes, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(bytes)%8 != 0 {
		return fmt.Errorf("read numbers: %d characters are not the base64 text of float64 values", len(text))
	}
	*n = make(Numbers, 0, len(bytes)/8)
	for ; len(bytes) > 0; bytes = bytes[8:] {
		v := math.Float64frombits(binary.LittleEndian.Uint64(bytes))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("read numbers: value %d is %v; must be finite", len(*n), v)
		}
		*n = append(*n, v)
	}
	return nil
}

// Apply adds the values to a tensor in place. Values that do not fit the tensor are an error.
func (a Added) Apply(s *torch.Scope, t *torch.Tensor) error {
	info, err := t.Info()
	if err != nil {
		return err
	}
	shape, others := info.Shape, 1
	for k, size := range shape {
		if k != a.At {
			others *= size
		}
	}
	if a.At < 0 || a.At >= len(shape) || len(a.Slices)*others != len(a.Values) {
		return fmt.Errorf("%d values do not fit %d slices along dimension %d of a tensor of shape %v", len(a.Values),
			len(a.Slices), a.At, shape)
	}
	index := make([]int64, len(a.Slices))
	for k, slice := range a.Slices {
		if slice < 0 || slice >= shape[a.At] {
			return fmt.Errorf("slice %d does not exist along dimension %d of a tensor of shape %v", slice, a.At, shape)
		}
		index[k] = int64(slice)
	}
	shape[a.At] = len(a.Slices)
	values := s.To(torch.From(s, []float64(a.Values), shape...), info.DType, info.Device)
	s.IndexAdd(t, a.At, on(s, t, torch.From(s, index, len(index))), values, 1)
	return s.Err()
}
