package weights

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// Summary describes a tensor by a few numbers, for comparing files. The JSON names are part of the format of `graft
// weights show --json`.
type Summary struct {
	Name  string  `json:"name"`  // name of the tensor in the file
	DType DType   `json:"dtype"` // type of the tensor's items
	Shape []int64 `json:"shape"` // size of each dimension, from the outermost
	// Count is the number of items, including NaN and Inf.
	Count int64 `json:"count"`
	// Mean is the mean of the finite items. It is null if no item is finite, or if the mean is outside the range of
	// float64.
	Mean *float64 `json:"mean"`
	// Spread is the population standard deviation of the finite items: the divisor is their number n, not n - 1. It
	// is null if Mean is null.
	Spread *float64 `json:"spread"`
	// NaN is the number of NaN items.
	NaN int64 `json:"nan"`
	Inf int64 `json:"inf"` // number of infinite items
	// SHA256 is the hash, in hexadecimal, of all items converted to little-endian float32 in row-major order: tensors
	// with equal values have equal hashes, whether their type is float16, float32 or int64. See Tensor.Float32s for the
	// conversion.
	SHA256 string `json:"sha256"`
}

// Describe returns the summary of a tensor. It returns an error for an invalid tensor.
func Describe(t Tensor) (Summary, error) {
	values, err := t.Float64s()
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Name: t.Name, DType: t.DType, Shape: append([]int64{}, t.Shape...), Count: t.Count()}
	s.SHA256 = hash(t)
	var m moments
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			s.NaN++
		case math.IsInf(v, 0):
			s.Inf++
		default:
			m.add(v)
		}
	}
	s.Mean, s.Spread = m.result()
	return s, nil
}

// moments accumulates a mean and a spread in one pass, stably, as in Welford,
// "Note on a Method for Calculating Corrected Sums of Squares and Products",
// Technometrics 4 (1962).
type moments struct {
	n, mean, squares float64
}

func (m *moments) add(v float64) {
	m.n++
	delta := v - m.mean
	m.mean += delta / m.n
	m.squares += delta * (v - m.mean)
}

func (m *moments) result() (mean, spread *float64) {
	deviation := math.Sqrt(m.squares / m.n) // NaN if n is zero
	if sum := m.mean + deviation; math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, nil
	}
	return &m.mean, &deviation
}

// hash is the SHA-256 of a valid tensor's items as little-endian float32.
func hash(t Tensor) string {
	if t.DType == Float32 {
		sum := sha256.Sum256(t.Data)
		return hex.EncodeToString(sum[:])
	}
	h, read := sha256.New(), float32Readers[t.DType]
	var word [4]byte
	for i := range int(t.Count()) {
		binary.LittleEndian.PutUint32(word[:], math.Float32bits(read(t.Data, i)))
		_, _ = h.Write(word[:]) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}
