package bilstm

import (
	"fmt"
	"math"
	"slices"

	"graft/torch/weights"
)

// Affine is a weight times its input, plus a bias. It is made by ReadAffine.
type Affine struct {
	In, Out      int // how many numbers it takes, and makes
	weight, bias []float32
}

// ReadAffine takes a weight and its bias out of a set.
func ReadAffine(set *weights.Set, weight, bias string) (*Affine, error) {
	w, shape, err := tensor(set, weight, 2)
	if err != nil {
		return nil, err
	}
	b, length, err := tensor(set, bias, 1)
	if err != nil {
		return nil, err
	}
	if length[0] != shape[0] {
		return nil, fmt.Errorf("%s has %d numbers for the %d rows of %s", bias, length[0], shape[0], weight)
	}
	return &Affine{In: int(shape[1]), Out: int(shape[0]), weight: w, bias: b}, nil
}

// tensor finds finite numbers in so many dimensions, none of them empty.
func tensor(set *weights.Set, name string, dimensions int) ([]float32, []int64, error) {
	t, ok := set.Find(name)
	if !ok {
		return nil, nil, fmt.Errorf("there is no tensor %s, which a policy has", name)
	}
	if t.DType != weights.Float32 || len(t.Shape) != dimensions || t.Count() == 0 {
		return nil, nil, fmt.Errorf("%s is %s%v; a policy has float32 in %d dimensions there", name, t.DType, t.Shape, dimensions)
	}
	values, err := t.Float32s()
	if err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(values, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }) {
		return nil, nil, fmt.Errorf("%s has numbers that are not finite", name)
	}
	return values, t.Shape, nil
}

// Apply is the weight times x, plus the bias. x must have In numbers.
func (a *Affine) Apply(x []float32) []float32 {
	out := make([]float32, a.Out)
	for row := range out {
		sum := float64(a.bias[row])
		for k, w := range a.weight[row*a.In : (row+1)*a.In] {
			sum += float64(w) * float64(x[k])
		}
		out[row] = float32(sum)
	}
	return out
}
