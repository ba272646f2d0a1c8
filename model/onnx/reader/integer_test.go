package reader

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// typed encodes an input (field 11), an output (field 12) or a value (field 13) of a type.
func typed(field int, name string, kind int64, sizes ...int64) []byte {
	var dims []byte
	for _, size := range sizes {
		dims = append(dims, text(1, number(1, size))...)
	}
	return text(field, joined(text(1, name), text(2, text(1, joined(number(1, kind), text(2, dims))))))
}

// typedModel encodes a model from parts that include its input and its output.
func typedModel(parts ...[]byte) []byte {
	return joined(text(8, number(2, 17)), text(7, joined(parts...)))
}

func wholes(op string, in []string, out string, attributes map[string]int64) []byte {
	return called(op, in, []string{out}, attributes)
}

// ONNX's division of integers truncates, as in C, also if the types are not in the file.
func TestIntegersAreDividedAsInONNX(t *testing.T) {
	x, y := typed(11, "x", 7, 4), typed(12, "y", 7, 4)
	halves := wholes("Div", []string{"x", "two"}, "y", nil)
	want := golden{Shape: []int{4}, Logits: []float64{-3, 0, 1, 3}}
	want.Inputs = append(want.Inputs, struct {
		Shape  []int
		DType  string
		Values []float64
	}{[]int{4}, "int64", []float64{-7, -1, 2, 7}})
	third := joined(wholes("Neg", []string{"x"}, "a", nil), wholes("Neg", []string{"a"}, "b", nil))
	for name, parts := range map[string][]byte{
		"an input":         halves,
		"a computed value": joined(third, wholes("Div", []string{"b", "two"}, "y", nil)),
		"a cast value": joined(wholes("Cast", []string{"x"}, "a", map[string]int64{"to": 6}),
			wholes("Div", []string{"a", "two"}, "y", nil)),
	} {
		net, err := readModel(typedModel(list("two", 2), parts, x, y))
		require.NoError(t, err, name)
		assertComputes(t, net, want)
	}
	want.Logits = []float64{-3.5, -0.5, 1, 3.5}
	net, err := readModel(typedModel(floats("two", []int64{1}, 2), x, typed(12, "y", 1, 4),
		wholes("Cast", []string{"x"}, "a", map[string]int64{"to": 1}), wholes("Div", []string{"a", "two"}, "y", nil)))
	require.NoError(t, err)
	assertComputes(t, net, want)
}

// Squeeze removes the dimensions that it names, from the front or from the back.
func TestSqueezeCountsFromBothEnds(t *testing.T) {
	for name, axes := range map[string][]int64{"back": {-2, -1}, "reversed": {-1, -2}, "both": {2, -1},
		"front": {2, 3}} {
		net, err := readModel(typedModel(list("axes", axes...), wholes("Squeeze", []string{"x", "axes"}, "y", nil),
			typed(11, "x", 1, 2, 4, 1, 1), typed(12, "y", 1, 2, 4)))
		require.NoError(t, err, name)
		shapes, err := net.Graph.Shapes()
		require.NoError(t, err, name)
		require.Equal(t, []int{2, 4}, shapes[net.Graph.Output], name)
	}
}

// Squeeze counts from the back of a value whose shape is not in the file.
func TestSqueezeOfAComputedValue(t *testing.T) {
	net, err := readModel(typedModel(list("axes", -2, -1), wholes("Relu", []string{"x"}, "a", nil),
		wholes("Squeeze", []string{"a", "axes"}, "y", nil), typed(11, "x", 1, 2, 4, 1, 1), typed(12, "y", 1, 2, 4)))
	require.NoError(t, err)
	shapes, err := net.Graph.Shapes()
	require.NoError(t, err)
	require.Equal(t, []int{2, 4}, shapes[net.Graph.Output])
}
