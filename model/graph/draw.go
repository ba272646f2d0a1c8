package graph

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"graft/torch/weights"
)

// Draw makes the first weights of a graph as the Init of its tensors says. Each tensor has random numbers of its own, so
// that a network with one more block begins with the same weights in the others.
func (g *Graph) Draw(seed uint64) (*weights.Set, error) {
	set := &weights.Set{}
	drawn := map[string]weights.Tensor{}
	for k, t := range g.Tensors {
		w := drawn[t.Tied]
		if t.Tied == "" {
			values, err := t.draw(rand.New(rand.NewPCG(seed, uint64(k))))
			if err != nil {
				return nil, fmt.Errorf("draw %s: %w", t.Name, err)
			}
			if w, err = t.encode(values); err != nil {
				return nil, err
			}
		}
		w.Name = t.Name
		drawn[t.Name] = w
		set.Tensors = append(set.Tensors, w)
	}
	return set, nil
}

// draws are the ways to draw, by the first word of Init; the second is a number.
var draws = map[string]func(values []float64, by float64, random *rand.Rand){
	"zeros": func([]float64, float64, *rand.Rand) {},
	"ones":  func(v []float64, _ float64, _ *rand.Rand) { fill(v, func(int) float64 { return 1 }) },
	"full":  func(v []float64, by float64, _ *rand.Rand) { fill(v, func(int) float64 { return by }) },
	"normal": func(v []float64, by float64, r *rand.Rand) {
		fill(v, func(int) float64 { return by * r.NormFloat64() })
	},
	"uniform": func(v []float64, by float64, r *rand.Rand) {
		fill(v, func(int) float64 { return by * (2*r.Float64() - 1) })
	},
	// Frequencies of rotary positions: the pair i of n turns by base^(-i/n) for each position.
	"rotary": func(v []float64, base float64, _ *rand.Rand) {
		fill(v, func(i int) float64 { return math.Pow(base, -float64(i)/float64(len(v))) })
	},
}

func fill(values []float64, value func(int) float64) {
	for k := range values {
		values[k] = value(k)
	}
}

func (t Tensor) draw(random *rand.Rand) ([]float64, error) {
	how, number, has := strings.Cut(t.Init, " ")
	draw := draws[how]
	if draw == nil {
		return nil, fmt.Errorf("nothing says how its first values are drawn; give the network a file of weights")
	}
	by := 0.0
	if has {
		var err error
		if by, err = strconv.ParseFloat(number, 64); err != nil {
			return nil, fmt.Errorf("init is %q, and %q is no number", t.Init, number)
		}
	}
	values := make([]float64, t.Count())
	draw(values, by, random)
	return values, nil
}

// encode converts values to the tensor's type.
func (t Tensor) encode(values []float64) (weights.Tensor, error) {
	w := weights.Tensor{Name: t.Name, DType: t.DType}
	for _, size := range t.Shape {
		w.Shape = append(w.Shape, int64(size))
	}
	for _, v := range values {
		switch t.DType {
		case weights.Float32:
			w.Data = binary.LittleEndian.AppendUint32(w.Data, math.Float32bits(float32(v)))
		case weights.Float64:
			w.Data = binary.LittleEndian.AppendUint64(w.Data, math.Float64bits(v))
		default:
			return w, fmt.Errorf("draw %s: values of type %v cannot be drawn", t.Name, t.DType)
		}
	}
	return w, nil
}
