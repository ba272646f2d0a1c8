package reader

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Operators that graft does not write compute what the specification of ONNX says.
func TestOperatorsOfOtherExporters(t *testing.T) {
	type attributes = map[string]any
	node := func(op string, a attributes, in ...string) []byte { return called(op, in, []string{"y"}, a) }
	weight := floats("w", []int64{1, 1, 2}, 1, 10)
	for name, c := range map[string]struct {
		parts []byte
		dims  []int // of the input, whose values are 1, 2, 3, …
		shape []int
		want  []float64
	}{
		"a mean of sequences": {node("GlobalAveragePool", nil, "x"), []int{1, 2, 3}, []int{1, 2, 1}, []float64{2, 5}},
		"a mean of images": {node("GlobalAveragePool", nil, "x"), []int{1, 2, 1, 3}, []int{1, 2, 1, 1},
			[]float64{2, 5}},
		"a mean of volumes": {node("GlobalAveragePool", nil, "x"), []int{1, 1, 1, 1, 3},
			[]int{1, 1, 1, 1, 1}, []float64{2}},
		"a maximum of images": {node("GlobalMaxPool", nil, "x"), []int{1, 2, 1, 3}, []int{1, 2, 1, 1}, []float64{3, 6}},
		"a sum of absolutes": {node("ReduceL1", attributes{"axes": []int64{1}}, "x"), []int{1, 3},
			[]int{1, 1}, []float64{6}},
		"a maximum of all": {node("ReduceMax", attributes{"keepdims": int64(0)}, "x"), []int{2, 2},
			[]int{}, []float64{4}},
		"a product of all": {node("ReduceProd", nil, "x"), []int{1, 4}, []int{1, 1}, []float64{24}},
		"an axis of other bits": {joined(small("a", 1), node("CumSum", nil, "x", "a")), []int{1, 3}, []int{1, 3},
			[]float64{1, 3, 6}},
		"a length": {node("ReduceL2", attributes{"axes": []int64{-1}, "keepdims": int64(0)}, "x"), []int{1, 2, 2},
			[]int{1, 2}, []float64{2.2360679775, 5}},
		"a maximum of places": {node("MaxPool", attributes{"kernel_shape": []int64{2}, "strides": []int64{1},
			"pads": []int64{0, 1}}, "x"), []int{1, 1, 3}, []int{1, 1, 3}, []float64{2, 3, 3}},
		"a mean of places": {node("AveragePool", attributes{"kernel_shape": []int64{2}, "strides": []int64{1}}, "x"),
			[]int{1, 1, 3}, []int{1, 1, 2}, []float64{1.5, 2.5}},
		"a transposed convolution": {joined(weight, node("ConvTranspose", nil, "x", "w")), []int{1, 1, 3},
			[]int{1, 1, 4}, []float64{1, 12, 23, 30}},
		"automatic pads at the end": {joined(weight, node("Conv", attributes{"auto_pad": "SAME_UPPER",
			"strides": []int64{2}}, "x", "w")), []int{1, 1, 3}, []int{1, 1, 2}, []float64{21, 3}},
		"automatic pads at the beginning": {joined(weight, node("Conv", attributes{"auto_pad": "SAME_LOWER",
			"strides": []int64{2}}, "x", "w")), []int{1, 1, 3}, []int{1, 1, 2}, []float64{10, 32}},
		"different pads": {joined(weight, node("Conv", attributes{"pads": []int64{2, 0}}, "x", "w")), []int{1, 1, 3},
			[]int{1, 1, 4}, []float64{0, 10, 21, 32}},
		"pads around": {joined(list("p", 0, 0, 1, 0, 0, 2), node("Pad", attributes{"mode": "wrap"}, "x", "p")),
			[]int{1, 1, 3}, []int{1, 1, 6}, []float64{3, 1, 2, 3, 1, 2}},
		"a reversed slice": {joined(list("a", -1), list("b", -1<<40), list("d", 1), list("s", -2),
			node("Slice", nil, "x", "a", "b", "d", "s")), []int{1, 4}, []int{1, 2}, []float64{4, 2}},
		"zeros": {joined(list("n", 1, 3), called[any]("ConstantOfShape", []string{"n"}, []string{"z"}, nil),
			node("Add", nil, "x", "z")), []int{1, 3}, []int{1, 3}, []float64{1, 2, 3}},
		"pads that are computed": {joined(list("p", 1, 2), list("n", 4), called("ConstantOfShape", []string{"n"},
			[]string{"z"}, attributes{"value": list("", 0)}), called("Concat", []string{"p", "z"}, []string{"all"},
			attributes{"axis": int64(0)}), list("two", -1, 2), called[any]("Reshape", []string{"all", "two"},
			[]string{"m"}, nil), list("a", -1), list("b", -1<<62), list("d", 0), called[any]("Slice",
			[]string{"m", "a", "b", "d", "a"}, []string{"r"}, nil), called("Transpose", []string{"r"}, []string{"t"},
			attributes{"perm": []int64{1, 0}}), called[any]("Reshape", []string{"t", "a"}, []string{"q"}, nil),
			called("Cast", []string{"q"}, []string{"pads"}, attributes{"to": int64(7)}), node("Pad", nil, "x", "pads")),
			[]int{1, 1, 3}, []int{1, 1, 6}, []float64{0, 1, 2, 3, 0, 0}},
		"a scaled product": {joined(floats("m", []int64{2, 1}, 1, 10), floats("b", []int64{1}, 100),
			node("Gemm", attributes{"alpha": float32(2), "beta": float32(0.5)}, "x", "m", "b")), []int{1, 2},
			[]int{1, 1}, []float64{92}},
		"a line from 0 to 1": {node("HardSigmoid", attributes{"alpha": float32(0.25), "beta": float32(0)}, "x"),
			[]int{1, 5}, []int{1, 5}, []float64{0.25, 0.5, 0.75, 1, 1}},
		"vectors with a one": {joined(list("n", 4), floats("v", []int64{2}, 0, 1), called[any]("Cast", []string{"x"},
			[]string{"i"}, attributes{"to": int64(7)}), node("OneHot", nil, "i", "n", "v")), []int{2}, []int{2, 4},
			[]float64{0, 1, 0, 0, 0, 0, 1, 0}},
	} {
		var sizes []int64
		g := golden{Shape: c.shape, Logits: c.want}
		count := 1
		for _, n := range c.dims {
			sizes, count = append(sizes, int64(n)), count*n
		}
		values := make([]float64, count)
		for k := range values {
			values[k] = float64(k + 1)
		}
		g.Inputs = append(g.Inputs, struct {
			Shape  []int
			DType  string
			Values []float64
		}{c.dims, "float32", values})
		t.Run(name, func(t *testing.T) {
			net, err := readModel(typedModel(typed(11, "x", 1, sizes...), c.parts, typed(12, "y", 1)))
			require.NoError(t, err)
			assertComputes(t, net, g)
		})
	}
	kept := joined(list("two", -1, 2), list("n", 1), called("ConstantOfShape",
		[]string{"n"}, []string{"z"}, attributes{"value": list("", 0)}), called("Concat", []string{"z", "z"},
		[]string{"all"}, attributes{"axis": int64(0)}), called[any]("Reshape", []string{"all", "two"},
		[]string{"m"}, nil), called("Transpose", []string{"m"}, []string{"t"}, attributes{"perm": []int64{0, 1}}),
		node("Relu", nil, "x"))
	_, err := readModel(typedModel(typed(11, "x", 1, 1, 3), kept, typed(12, "y", 1)))
	assert.ErrorContains(t, err, "unsupported order [0 1] of a matrix of sizes")
	mirrored := node("Pad", attributes{"mode": "mirror"}, "x")
	_, err = readModel(typedModel(typed(11, "x", 1, 1, 3), mirrored, typed(12, "y", 1)))
	assert.ErrorContains(t, err, `unsupported mode "mirror"; expected constant, reflect, edge or wrap`)
}

// small encodes an initializer with one integer of 32 bits.
func small(name string, value int32) []byte {
	return text(5, joined(number(2, 6), text(8, name), text(9, []byte{byte(value), byte(value >> 8), byte(value >> 16),
		byte(value >> 24)})))
}
