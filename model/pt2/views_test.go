package pt2

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch"
)

// call is an operator of a test's program. Arguments that are texts read values.
type call struct {
	target string
	args   []any // name, value, name, value …
	result string
	shape  []int
}

// text is an argument that is a text, and list one that is a list of one value.
type (
	text string
	list string
)

// programOf returns a program that reads x, with three rows and two columns.
func programOf(output string, calls ...call) string {
	integer := func(n int) any { return map[string]any{"as_int": n} }
	values := map[string]any{}
	describe := func(name string, shape []int) {
		sizes, strides, step := []any{}, make([]any, len(shape)), 1
		for k := len(shape) - 1; k >= 0; k-- {
			strides[k] = integer(step)
			step *= shape[k]
		}
		for _, n := range shape {
			sizes = append(sizes, integer(n))
		}
		values[name] = map[string]any{"dtype": 7, "sizes": sizes, "strides": strides, "storage_offset": integer(0),
			"layout": 7}
	}
	describe("x", []int{3, 2})
	nodes := []any{}
	for _, c := range calls {
		describe(c.result, c.shape)
		inputs := []any{}
		for k := 0; k < len(c.args); k += 2 {
			kind := map[string]string{"string": "as_tensor", "int": "as_int", "float64": "as_float",
				"[]int": "as_ints", "pt2.text": "as_string", "pt2.list": "as_tensors"}[fmt.Sprintf("%T", c.args[k+1])]
			value := c.args[k+1]
			if name, ok := value.(string); ok {
				value = map[string]any{"name": name}
			}
			if one, ok := value.(list); ok {
				value = []any{map[string]any{"name": string(one)}}
			}
			inputs = append(inputs, map[string]any{"name": c.args[k], "arg": map[string]any{kind: value}})
		}
		nodes = append(nodes, map[string]any{"target": "torch.ops.aten." + c.target, "inputs": inputs,
			"outputs": []any{map[string]any{"as_tensor": map[string]any{"name": c.result}}}})
	}
	named := func(name string) any {
		return map[string]any{"arg": map[string]any{"as_tensor": map[string]any{"name": name}}}
	}
	text, err := json.Marshal(map[string]any{"schema_version": map[string]any{"major": 8},
		"graph_module": map[string]any{
			"signature": map[string]any{"input_specs": []any{map[string]any{"user_input": named("x")}},
				"output_specs": []any{map[string]any{"user_output": named(output)}}},
			"graph":             map[string]any{"nodes": nodes, "tensor_values": values},
			"module_call_graph": []any{map[string]any{"fqn": ""}}}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestWritesThroughViewsReachTheMemory(t *testing.T) {
	clone := call{"clone.default", []any{"self", "x"}, "t", []int{3, 2}}
	read := call{"clone.default", []any{"self", "t"}, "out", []int{3, 2}}
	for name, c := range map[string]struct {
		calls []call
		want  []float64 // result for the input 1 to 6
	}{
		"a column is filled": {[]call{clone, {"slice.Tensor", []any{"self", "t", "dim", 1, "start", 0, "end", 1},
			"s", []int{3, 1}}, {"fill_.Scalar", []any{"self", "s", "value", 9.0}, "f", []int{3, 1}}, read},
			[]float64{9, 2, 9, 4, 9, 6}},
		"a row of the transpose is doubled": {[]call{clone, {"permute.default", []any{"self", "t", "dims", []int{1, 0}},
			"p", []int{2, 3}}, {"select.int", []any{"self", "p", "dim", 0, "index", 1}, "s", []int{3}},
			{"mul_.Scalar", []any{"self", "s", "other", 2.0}, "m", []int{3}}, read},
			[]float64{1, 4, 3, 8, 5, 12}},
		"a row is copied": {[]call{clone, {"select.int", []any{"self", "t", "dim", 0, "index", 0}, "a", []int{2}},
			{"select.int", []any{"self", "t", "dim", 0, "index", 2}, "b", []int{2}},
			{"copy_.default", []any{"self", "b", "src", "a"}, "c", []int{2}}, read},
			[]float64{1, 2, 3, 4, 1, 2}},
		"two writes, the second through a view of the first": {[]call{clone,
			{"view.default", []any{"self", "t", "size", []int{6}}, "v", []int{6}},
			{"neg_.default", []any{"self", "v"}, "n", []int{6}},
			{"slice.Tensor", []any{"self", "n", "dim", 0, "start", 4, "end", 6}, "s", []int{2}},
			{"zero_.default", []any{"self", "s"}, "z", []int{2}}, read}, []float64{-1, -2, -3, -4, 0, 0}},
		"an older view reads what was written": {
			[]call{clone, {"select.int", []any{"self", "t", "dim", 1, "index", 0}, "old", []int{3}},
				{"mul_.Scalar", []any{"self", "t", "other", 10.0}, "m", []int{3, 2}},
				{"unsqueeze.default", []any{"self", "old", "dim", 1}, "u", []int{3, 1}},
				{"expand.default", []any{"self", "u", "size", []int{3, 2}}, "out", []int{3, 2}}},
			[]float64{10, 10, 30, 30, 50, 50}},
		"a transpose in place keeps the order in memory": {[]call{clone,
			{"view.default", []any{"self", "t", "size", []int{6}}, "v", []int{6}},
			{"t_.default", []any{"self", "t"}, "tt", []int{2, 3}},
			{"neg_.default", []any{"self", "t"}, "n", []int{2, 3}},
			{"clone.default", []any{"self", "v"}, "out", []int{6}}}, []float64{-1, -2, -3, -4, -5, -6}},
		"a view with a new dimension is changed": {[]call{clone,
			{"select.int", []any{"self", "t", "dim", 1, "index", 0}, "s", []int{3}},
			{"unsqueeze_.default", []any{"self", "s", "dim", 1}, "u", []int{3, 1}},
			{"mul_.Scalar", []any{"self", "s", "other", 2.0}, "m", []int{3, 1}}, read}, []float64{2, 2, 6, 4, 10, 6}},
		"an einsum that sums returns its own memory": {[]call{clone,
			{"einsum.default", []any{"equation", text("ij->i"), "tensors", list("t")}, "s", []int{3}},
			{"neg_.default", []any{"self", "s"}, "n", []int{3}}, read}, []float64{1, 2, 3, 4, 5, 6}},
	} {
		records := sampleRecords()
		records["models/model.json"] = programOf("out", c.calls...)
		net, err := readBytes(pack(t, records))
		require.NoError(t, err, name)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			bound, err := net.Graph.Bind(s, torch.CPU, net.Weights)
			require.NoError(t, err, name)
			p, err := bound.Program(s, torch.ProgramOptions{})
			require.NoError(t, err, name)
			x := torch.From(s, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
			assert.Equal(t, c.want, values(t, s, p.Forward(s, x, false, nil)), name)
			first, err := torch.Values[float32](x)
			assert.Equal(t, float32(1), first[0], "%s: the input stays", name)
			return err
		}))
	}
}

func TestWritesThatMayMissTheMemoryAreRefused(t *testing.T) {
	clone := call{"clone.default", []any{"self", "x"}, "t", []int{3, 2}}
	zero := call{"zero_.default", []any{"self", "s"}, "z", []int{3, 2}}
	read := call{"clone.default", []any{"self", "t"}, "out", []int{3, 2}}
	for view, c := range map[string]call{
		"dropout": {"dropout.default", []any{"input", "t", "p", 0.5}, "s", []int{3, 2}},
		"expand":  {"expand.default", []any{"self", "t", "size", []int{3, 2}}, "s", []int{3, 2}},
		"einsum":  {"einsum.default", []any{"equation", text("ij->ji"), "tensors", list("t")}, "s", []int{2, 3}},
	} {
		records := sampleRecords()
		records["models/model.json"] = strings.ReplaceAll(programOf("out", clone, c, zero, read), `"strides"`,
			`"unknown"`)
		_, err := readBytes(pack(t, records))
		assert.ErrorContains(t, err, "changes a view", view)
		assert.ErrorContains(t, err, view)
	}
}

func TestBlocksAreInlined(t *testing.T) {
	inner := `{"as_graph": {"name": "part", "graph": {"inputs": [{"as_tensor": {"name": "a"}}],
		"outputs": [{"as_tensor": {"name": "t"}}], "tensor_values": {},
		"nodes": [{"target": "torch.ops.aten.neg.default", "inputs": [{"name": "self",
		"arg": {"as_tensor": {"name": "a"}}}], "outputs": [{"as_tensor": {"name": "t"}}]}]}}}`
	block := `{"target": "torch.ops.higher_order.%s", "inputs": [%s {"name": "", "arg": {"as_bool": %v}}, {"name": "",
		"arg": %s}, {"name": "", "arg": {"as_tensor": {"name": "t"}}}],
		"outputs": [{"as_tensors": [{"name": "b"}]}]}, {"target": "torch.ops.aten.add.Tensor"`
	program := programOf("out", call{"clone.default", []any{"self", "x"}, "t", []int{3, 2}},
		call{"add.Tensor", []any{"self", "t", "other", "b"}, "out", []int{3, 2}})
	for name, c := range map[string]struct {
		operator, before string
		on               bool
		want             []string // operators after the clone
	}{
		"no gradients": {"wrap_with_set_grad_enabled", "", false, []string{`"t:2" = neg.default(self=%t)`,
			`"b:detached" = detach.default(self=%"t:2")`, `out = add.Tensor(other=%"b:detached", self=%t)`}},
		"gradients": {"wrap_with_set_grad_enabled", "", true,
			[]string{`"t:2" = neg.default(self=%t)`, `out = add.Tensor(other=%"t:2", self=%t)`}},
		"no autocast": {"wrap_with_autocast",
			`{"name": "", "arg": {"as_string": "cpu"}}, {"name": "", "arg": {"as_scalar_type": 13}},`, false,
			[]string{`"t:2" = neg.default(self=%t)`, `out = add.Tensor(other=%"t:2", self=%t)`}},
		"autocast": {"wrap_with_autocast",
			`{"name": "", "arg": {"as_string": "cpu"}}, {"name": "", "arg": {"as_scalar_type": 13}},`, true, nil},
	} {
		text := strings.Replace(program,
			`{"inputs":[{"arg":{"as_tensor":{"name":"t"}},"name":"self"},{"arg":{"as_tensor":{"name":"b"}},`+
				`"name":"other"}],"outputs":[{"as_tensor":{"name":"out"}}],"target":"torch.ops.aten.add.Tensor"`,
			fmt.Sprintf(block, c.operator, c.before, c.on, inner)+
				`, "inputs":[{"arg":{"as_tensor":{"name":"b"}},"name":"other"},{"arg":{"as_tensor":{"name":"t"}},`+
				`"name":"self"}],"outputs":[{"as_tensor":{"name":"out"}}]`, 1)
		require.NotEqual(t, program, text, name)
		records := sampleRecords()
		records["models/model.json"] = text
		net, err := readBytes(pack(t, records))
		if c.want == nil {
			assert.ErrorContains(t, err, "cannot be mapped", name)
			continue
		}
		require.NoError(t, err, name)
		var lines []string
		for _, n := range net.Graph.Nodes[1:] {
			lines = append(lines, n.String())
		}
		assert.Equal(t, c.want, lines, name)
	}
}

// An operator in place keeps the type of its tensor, also if another argument has a type with more digits.
func TestWritesKeepTheType(t *testing.T) {
	for other, kept := range map[string]bool{"x": true, "h": false} {
		text := programOf("out", call{"relu.default", []any{"self", "x"}, "h", []int{3, 2}},
			call{"add_.Tensor", []any{"self", "h", "other", other}, "sum", []int{3, 2}},
			call{"neg.default", []any{"self", "h"}, "out", []int{3, 2}})
		for _, name := range []string{"h", "sum", "out"} {
			text = strings.Replace(text, `"`+name+`":{"dtype":7`, `"`+name+`":{"dtype":6`, 1)
		}
		net, err := readBytes(pack(t, map[string]string{"models/model.json": text, "archive_format": "pt2",
			"archive_version": "0", "byteorder": "little"}))
		require.NoError(t, err)
		var lines []string
		for _, n := range net.Graph.Nodes {
			lines = append(lines, n.String())
		}
		if kept {
			require.Equal(t, []string{"to.dtype(self=%sum, dtype=float16)", "neg.default(self=%sum_kept)"},
				[]string{strings.SplitN(lines[2], " = ", 2)[1], strings.SplitN(lines[3], " = ", 2)[1]})
		} else {
			require.Len(t, lines, 3)
		}
	}
}
