package reader

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// number and text encode fields of a protocol buffer.
func number(field int, value int64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3), uint64(value))
}

func text[T string | []byte](field int, value T) []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3|2), uint64(len(value)))
	return append(out, value...)
}

func joined(parts ...[]byte) (all []byte) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// called encodes a node with integer attributes.
func called(op string, in, out []string, attributes map[string]int64) []byte {
	var n []byte
	for _, name := range in {
		n = append(n, text(1, name)...)
	}
	for _, name := range out {
		n = append(n, text(2, name)...)
	}
	n = append(n, text(4, op)...)
	for name, value := range attributes {
		n = append(n, text(5, joined(text(1, name), number(3, value), number(20, 2)))...)
	}
	return text(1, n)
}

// list encodes an initializer of integers.
func list(name string, values ...int64) []byte {
	t := joined(number(1, int64(len(values))), number(2, 7))
	for _, v := range values {
		t = append(t, number(7, v)...)
	}
	return text(5, append(t, text(8, name)...))
}

// valued encodes an input (field 11) or output (field 12) of floats with two dimensions.
func valued(field int, name string) []byte {
	dims := joined(text(1, number(1, 2)), text(1, number(1, 6)))
	return text(field, joined(text(1, name), text(2, text(1, joined(number(1, 1), text(2, dims))))))
}

// modelOf encodes a model with the input x and the output y.
func modelOf(parts ...[]byte) []byte {
	graph := joined(append(parts, valued(11, "x"), valued(12, "y"))...)
	return joined(text(8, number(2, 17)), text(7, graph))
}

// A model that breaks ONNX's rules is refused, even if its operators could run in order.
func TestInvalidModelsAreRefused(t *testing.T) {
	relu := func(in, out string) []byte { return called("Relu", []string{in}, []string{out}, nil) }
	require.NoError(t, func() error { _, err := readModel(modelOf(relu("x", "y"))); return err }())
	for what, c := range map[string]struct {
		parts [][]byte
		want  string
	}{
		"a result twice": {[][]byte{relu("x", "y"), relu("y", "y")}, `result "y": the name is empty`},
		"a result twice in an operator": {[][]byte{called("Split", []string{"x"}, []string{"y", "y"}, nil)},
			`result "y": the name is empty`},
		"a result without a name": {[][]byte{relu("x", ""), relu("x", "y")}, `result "": the name is empty`},
		"a shadowed input":        {[][]byte{relu("x", "x"), relu("x", "y")}, `result "x": the name is empty`},
		"a shadowed tensor":       {[][]byte{list("w", 1), relu("x", "w"), relu("w", "y")}, `result "w": the name`},
		"a tensor twice":          {[][]byte{list("w", 1), list("w", 2), relu("x", "y")}, `tensor name "w"`},
		"a step of zero": {[][]byte{list("a", 0), list("b", 2), list("d", 1), list("s", 0),
			called("Slice", []string{"x", "a", "b", "d", "s"}, []string{"y"}, nil)}, "argument step is 0"},
		"a step backwards": {[][]byte{list("a", 3), list("b", 0), list("d", 1), list("s", -1),
			called("Slice", []string{"x", "a", "b", "d", "s"}, []string{"y"}, nil)}, "argument step is -1"},
		"an axis that is not there": {[][]byte{called("Softmax", []string{"x"}, []string{"y"},
			map[string]int64{"axis": 1073741824})}, "no dimension 1073741824"},
		"an axis before the first": {[][]byte{called("Concat", []string{"x", "x"}, []string{"y"},
			map[string]int64{"axis": -1073741824})}, "no dimension -1073741824"},
	} {
		_, err := readModel(modelOf(c.parts...))
		require.ErrorContains(t, err, c.want, what)
	}
}

// A field of two bytes may take a hundred in memory, so the number of fields is bounded in addition to the size of the
// file.
func TestManyFieldsAreRefusedEarly(t *testing.T) {
	many := func(part []byte, bytesInAll int) []byte { return bytes.Repeat(part, bytesInAll/len(part)) }
	for what, c := range map[string]struct {
		graph []byte
		want  string
		most  uint64 // bytes of all allocations; the heap's size depends on when the collector runs
	}{
		"tensors":           {many(text(5, ""), 10<<20), "fields", 600 << 20},
		"inputs":            {many(text(11, ""), 10<<20), "fields", 600 << 20},
		"results of a node": {text(1, many(text(2, ""), 10<<20)), "fields", 600 << 20},
		"sizes of a tensor": {text(5, text(1, many([]byte{1}, 40<<20))), "integers in lists", 1800 << 20},
	} {
		var before, after runtime.MemStats
		data := joined(text(8, number(2, 17)), text(7, c.graph))
		runtime.ReadMemStats(&before)
		_, err := readModel(data)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, c.want, what)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, c.most, what)
	}
}
