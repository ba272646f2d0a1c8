package graph

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"graft/torch/weights"
)

// Draw creates the initial weights of a graph. Draw follows the Init of each tensor or, if Init is empty, PyTorch's
// initialisation of the layer. Each tensor is drawn from its own random stream. A tensor for which no initialization is
// defined is zero; see Undrawn.
func (g *Graph) Draw(seed uint64) (*weights.Set, error) {
	return g.DrawFrom(func() uint64 { return seed })
}

// DrawFrom creates initial weights as Draw does. It calls the function seed exactly once, to get the seed.
func (g *Graph) DrawFrom(seed func() uint64) (*weights.Set, error) {
	set, first := &weights.Set{}, seed()
	drawn := map[string]weights.Tensor{}
	usual := g.usual()
	for k, t := range g.Tensors {
		if t.Tied != "" {
			continue
		}
		init := cmp.Or(t.Init, usual[t.Name], "zeros")
		values, err := t.draw(init, rand.New(rand.NewPCG(first, uint64(k))))
		if err != nil {
			return nil, fmt.Errorf("initialize %s: %w", t.Name, err)
		}
		if drawn[t.Name], err = t.encode(values); err != nil {
			return nil, err
		}
	}
	for _, t := range g.Tensors {
		w := drawn[cmp.Or(t.Tied, t.Name)]
		w.Name = t.Name
		set.Tensors = append(set.Tensors, w)
	}
	return set, nil
}

// DrawnConstants returns the constants whose values follow from their Init without random numbers.
func (g *Graph) DrawnConstants() (list []weights.Tensor, err error) {
	for _, t := range g.Tensors {
		if !t.DrawnConstant() {
			continue
		}
		values, err := t.draw(t.Init, nil)
		if err != nil {
			return nil, fmt.Errorf("initialize %s: %w", t.Name, err)
		}
		w, err := t.encode(values)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// DrawnConstant reports whether a tensor is a constant whose values follow from its Init without random numbers.
func (t Tensor) DrawnConstant() bool {
	how, _, _ := strings.Cut(t.Init, " ")
	return t.Role == Constant && slices.Contains([]string{"zeros", "ones", "full", "rotary"}, how)
}

// Undrawn returns the names of the tensors for which no initialization is defined. Their values must come from a weight
// file.
func (g *Graph) Undrawn() []string {
	var names []string
	usual := g.usual()
	for _, t := range g.Tensors {
		if t.Tied == "" && cmp.Or(t.Init, usual[t.Name]) == "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// usual returns the initialisation of tensors by PyTorch's layers, by the operators that read them (reset_parameters in
// torch/nn/modules). Other parameters are drawn according to their use.
func (g *Graph) usual() map[string]string {
	all := map[string]string{}
	set := func(arg any, init string) {
		w, ok := arg.(Weight)
		if t := g.Tensor(string(w)); ok && t != nil {
			if name := cmp.Or(t.Tied, t.Name); all[name] == "" {
				all[name] = init
			}
		}
	}
	for k := range g.Nodes {
		n := &g.Nodes[k]
		op := n.Name()
		switch op {
		case "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d":
			if w, ok := n.Arg("weight").(Weight); ok {
				bound := fmt.Sprintf("uniform %v", 1/math.Sqrt(float64(max(product(g.Tensor(string(w)).Shape[1:]), 1))))
				set(w, bound)
				set(n.Arg("bias"), bound)
			}
		case "embedding":
			set(n.Arg("weight"), "normal 1")
		case "layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm":
			set(n.Arg("weight"), "ones")
			set(n.Arg("bias"), "zeros")
			set(n.Arg("running_mean"), "zeros")
			set(n.Arg("running_var"), "ones")
		case "lstm", "gru", "rnn_tanh", "rnn_relu":
			params, _ := n.Arg("params").([]any)
			for _, p := range params {
				if w, ok := params[min(1, len(params)-1)].(Weight); ok {
					set(p, fmt.Sprintf("uniform %v", 1/math.Sqrt(float64(max(g.Tensor(string(w)).Shape[1], 1)))))
				}
			}
		}
	}
	for _, t := range g.Tensors {
		if strings.HasSuffix(t.Name, "num_batches_tracked") {
			all[t.Name] = "zeros"
		}
	}
	g.byUse(func(name, init string) { set(Weight(name), init) })
	return all
}

// draws are the ways to draw, by the first word of Init; the second word is a number.
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
	// Frequencies of rotary positions: pair i of n turns by base^(-i/n) per position.
	"rotary": func(v []float64, base float64, _ *rand.Rand) {
		fill(v, func(i int) float64 { return math.Pow(base, -float64(i)/float64(len(v))) })
	},
}

func fill(values []float64, value func(int) float64) {
	for k := range values {
		values[k] = value(k)
	}
}

func (t Tensor) draw(init string, random *rand.Rand) ([]float64, error) {
	how, number, has := strings.Cut(init, " ")
	draw := draws[how]
	if draw == nil {
		return nil, fmt.Errorf("unknown init %q", init)
	}
	by := 0.0
	if has {
		var err error
		if by, err = strconv.ParseFloat(number, 64); err != nil {
			return nil, fmt.Errorf("init is %q, but %q is not a number", init, number)
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
		default: // integer buffers, and half precision, whose values come from a file
			if v != 0 {
				return w, fmt.Errorf("initialize %s: initial values of type %v must be zero", t.Name, t.DType)
			}
			w.Data = append(w.Data, make([]byte, t.DType.Size())...)
		}
	}
	return w, nil
}
