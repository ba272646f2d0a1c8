package reader

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
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

// called encodes a node with attributes that are integers, lists of integers, tensors, real numbers or texts.
func called[T any](op string, in, out []string, attributes map[string]T) []byte {
	var n []byte
	for _, name := range in {
		n = append(n, text(1, name)...)
	}
	for _, name := range out {
		n = append(n, text(2, name)...)
	}
	n = append(n, text(4, op)...)
	for name, value := range attributes {
		switch value := any(value).(type) {
		case int64:
			n = append(n, text(5, joined(text(1, name), number(3, value), number(20, 2)))...)
		case []int64:
			all := text(1, name)
			for _, v := range value {
				all = append(all, number(8, v)...)
			}
			n = append(n, text(5, append(all, number(20, 7)...))...)
		case string:
			n = append(n, text(5, joined(text(1, name), text(4, value), number(20, 3)))...)
		case []byte: // an initializer
			n = append(n, text(5, joined(text(1, name), value, number(20, 4)))...)
		case float32:
			real := binary.LittleEndian.AppendUint32(binary.AppendUvarint(nil, 2<<3|5), math.Float32bits(value))
			n = append(n, text(5, joined(text(1, name), real, number(20, 1)))...)
		}
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

// floats encodes an initializer of float32 values.
func floats(name string, dims []int64, values ...float32) []byte {
	var t, raw []byte
	for _, size := range dims {
		t = append(t, number(1, size)...)
	}
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return text(5, joined(t, number(2, 1), text(8, name), text(9, raw)))
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
	relu := func(in, out string) []byte { return called[int64]("Relu", []string{in}, []string{out}, nil) }
	require.NoError(t, func() error { _, err := readModel(modelOf(relu("x", "y"))); return err }())
	for what, c := range map[string]struct {
		parts [][]byte
		want  string
	}{
		"a result twice": {[][]byte{relu("x", "y"), relu("y", "y")}, `result "y": the name is empty`},
		"a result twice in an operator": {[][]byte{called[int64]("Split", []string{"x"}, []string{"y", "y"}, nil)},
			`result "y": the name is empty`},
		"a result without a name": {[][]byte{relu("x", ""), relu("x", "y")}, `result "": the name is empty`},
		"a shadowed input":        {[][]byte{relu("x", "x"), relu("x", "y")}, `result "x": the name is empty`},
		"a shadowed tensor":       {[][]byte{list("w", 1), relu("x", "w"), relu("w", "y")}, `result "w": the name`},
		"a tensor twice":          {[][]byte{list("w", 1), list("w", 2), relu("x", "y")}, `tensor name "w"`},
		"a step of zero": {[][]byte{list("a", 0), list("b", 2), list("d", 1), list("s", 0),
			called[int64]("Slice", []string{"x", "a", "b", "d", "s"}, []string{"y"}, nil)}, "argument step is 0"},
		"a step backwards": {[][]byte{list("a", 3), list("b", 0), list("d", 1), list("s", -1),
			called[int64]("Slice", []string{"x", "a", "b", "d", "s"}, []string{"y"}, nil)},
			"a slice from 3 to 0 in steps of -1"},
		"an axis that is not there": {[][]byte{called("Softmax", []string{"x"}, []string{"y"},
			map[string]int64{"axis": 1073741824})}, "no dimension 1073741824"},
		"an axis before the first": {[][]byte{called("Concat", []string{"x", "x"}, []string{"y"},
			map[string]int64{"axis": -1073741824})}, "no dimension -1073741824"},
	} {
		_, err := readModel(modelOf(c.parts...))
		require.ErrorContains(t, err, c.want, what)
	}
}

// Operators of earlier sets have the same names, and compute other results.
func TestEarlierOperatorSetsAreRefused(t *testing.T) {
	softmax := called[int64]("Softmax", []string{"x"}, []string{"y"}, nil)
	graph := text(7, joined(softmax, valued(11, "x"), valued(12, "y")))
	for version := range int64(20) {
		_, err := readModel(joined(text(8, number(2, version)), graph))
		switch {
		case version == 0:
			require.ErrorContains(t, err, "no operator set")
		case version < 13:
			require.ErrorContains(t, err, fmt.Sprintf("operator set %d, expected 13 or later; export it again with "+
				"opset_version=13", version))
		default:
			require.NoError(t, err, version)
		}
	}
}

// An attribute that graft would ignore is refused: it may change the result.
func TestAttributesWithoutSupportAreRefused(t *testing.T) {
	normal := []string{"x", "a", "b", "c", "d"}
	tensors := joined(list("a", 1), list("b", 1), list("c", 1), list("d", 1),
		floats("f", []int64{4}, 1, 1, 3, 3), floats("w", []int64{1, 4, 1}, 1, 2, 3, 4),
		floats("bias", []int64{1, 8}, 1, 2, 3, 4, 5, 6, 7, 8))
	whole := func(name string, value int64) map[string]int64 { return map[string]int64{name: value} }
	for name, c := range map[string]struct {
		node []byte
		want string // part of the error; empty if the model is read
	}{
		"an attribute of another operator": {called("Relu", normal[:1], []string{"y"}, whole("alpha", 1)),
			`attribute "alpha"`},
		"axes instead of axis": {called("Softmax", normal[:1], []string{"y"}, whole("axes", 0)), `attribute "axes"`},
		"training": {called("BatchNormalization", normal, []string{"y"}, whole("training_mode", 1)),
			"training_mode is 1, and graft supports only 0"},
		"inference": {called("BatchNormalization", normal, []string{"y"}, whole("training_mode", 0)), ""},
		"dropout in training": {called[int64]("Dropout", []string{"x", "", "a"}, []string{"y"}, nil),
			"training_mode is true"},
		"dropout in inference": {called("Dropout", normal[:1], []string{"y"}, whole("seed", 3)), ""},
		"a normalization over more dimensions": {
			called("LayerNormalization", normal[:2], []string{"y"}, whole("axis", 0)),
			"starts at axis 0, but its scale has 1 dimensions"},
		"a dilated average": {called("AveragePool", normal[:1], []string{"y"},
			map[string]any{"kernel_shape": []int64{2, 2}, "dilations": []int64{2, 2}}), "dilations [2 2]"},
		"nearest pixels, rounded": {called("Resize", []string{"x", "", "f"}, []string{"y"},
			map[string]string{"coordinate_transformation_mode": "asymmetric"}), "with nearest_mode floor"},
		"nearest pixels, rounded down": {called("Resize", []string{"x", "", "f"}, []string{"y"},
			map[string]string{"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}), ""},
		"a layer that reads backward": {called("LSTM", []string{"x", "w", "w", "bias", "", "x", "x"}, []string{"y"},
			map[string]any{"direction": "reverse", "hidden_size": int64(1)}), "direction forward or bidirectional"},
		"a layer that reads forward": {called("LSTM", []string{"x", "w", "w", "bias", "", "x", "x"}, []string{"y"},
			map[string]any{"direction": "forward", "hidden_size": int64(1)}), ""},
		"sizes of another shape": {called("Resize", normal[:1], []string{"y"},
			map[string]string{"keep_aspect_ratio_policy": "not_larger"}), "graft supports only stretch"},
	} {
		_, err := readModel(modelOf(tensors, c.node))
		if c.want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.want, name)
		}
	}
}

// A resize to other numbers of examples or channels is refused: graft resizes images.
func TestResizesOfChannelsAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		sizes []int64
		want  string
	}{
		"images":   {[]int64{2, 3, 8, 6}, ""},
		"channels": {[]int64{2, 6, 8, 6}, `operator Resize "": the sizes change the number of channels from 3 to 6`},
		"examples": {[]int64{4, 3, 8, 6}, "the number of examples from 2 to 4"},
	} {
		_, err := readModel(typedModel(list("to", c.sizes...), called("Resize",
			[]string{"x", "", "", "to"}, []string{"y"},
			map[string]string{"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
			typed(11, "x", 1, 2, 3, 4, 3), typed(12, "y", 1, c.sizes...)))
		if c.want == "" {
			require.NoError(t, err, what)
		} else {
			require.ErrorContains(t, err, c.want, what)
		}
	}
}

// In ONNX, negative indices count from the end.
func TestIndicesFromTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		axis int64
		at   []int64
		want golden
	}{
		"of columns":       {1, []int64{-1, 0}, golden{Shape: []int{2, 2}, Logits: []float64{5, 0, 11, 6}}},
		"of the last axis": {-1, []int64{-6}, golden{Shape: []int{2, 1}, Logits: []float64{0, 6}}},
		"of rows":          {0, []int64{-2}, golden{Shape: []int{1, 6}, Logits: []float64{0, 1, 2, 3, 4, 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			net, err := readModel(modelOf(list("at", c.at...),
				called("Gather", []string{"x", "at"}, []string{"y"}, map[string]int64{"axis": c.axis})))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal([]byte(`{"Inputs": [{"Shape": [2, 6], "DType": "float32",
				"Values": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}]}`), &c.want))
			assertComputes(t, net, c.want)
		})
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
