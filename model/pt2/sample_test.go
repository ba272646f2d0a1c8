package pt2

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
)

// sampleProgram is x -> Linear -> ReLU in place -> sum with x, as torch.export writes it.
const sampleProgram = `{"schema_version": {"major": 8, "minor": 20}, "graph_module": {
"signature": {
 "input_specs": [
  {"parameter": {"arg": {"name": "p_fc_weight"}, "parameter_name": "fc.weight"}},
  {"buffer": {"arg": {"name": "b_shift"}, "buffer_name": "shift", "persistent": false}},
  {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
 "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "add"}}}}]},
"graph": {
 "nodes": [
  {"target": "torch.ops.aten.sym_size.int", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}},
   "kind": 1}, {"name": "dim", "arg": {"as_int": 0}}],
   "outputs": [{"as_sym_int": {"as_name": "n"}}], "metadata": {"nn_module_stack": "L__self__,,net.Net"}},
  {"target": "torch.ops.aten.linear.default", "inputs": [{"name": "input", "arg": {"as_tensor": {"name": "x"}}},
   {"name": "weight", "arg": {"as_tensor": {"name": "p_fc_weight"}}}],
   "outputs": [{"as_tensor": {"name": "linear"}}],
   "metadata": {"nn_module_stack": "L__self__,,net.Net;L__self__fc,fc,torch.nn.modules.linear.Linear"}},
  {"target": "torch.ops.aten.relu_.default", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "linear"}}}],
   "outputs": [{"as_tensor": {"name": "relu_"}}],
   "metadata": {"nn_module_stack": "L__self__,,net.Net;L__self__act,act,torch.nn.modules.activation.ReLU"}},
  {"target": "torch.ops.aten.masked_fill.Scalar", "inputs": [{"name": "self",
   "arg": {"as_tensor": {"name": "linear"}}}, {"name": "mask", "arg": {"as_tensor": {"name": "b_shift"}}},
   {"name": "value", "arg": {"as_float": "-Infinity"}}],
   "outputs": [{"as_tensor": {"name": "fill"}}], "metadata": {"nn_module_stack": "L__self__,,net.Net"}},
  {"target": "torch.ops.aten.view.default", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "fill"}}},
   {"name": "size", "arg": {"as_sym_ints": [{"as_name": "n"}, {"as_int": 2}]}}],
   "outputs": [{"as_tensor": {"name": "view"}}], "metadata": {"nn_module_stack": "L__self__,,net.Net"}},
  {"target": "torch.ops.aten.add.Tensor", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "view"}}},
   {"name": "other", "arg": {"as_tensor": {"name": "x"}}}],
   "outputs": [{"as_tensor": {"name": "add"}}], "metadata": {"nn_module_stack": "L__self__,,net.Net"}}],
 "tensor_values": {
  "p_fc_weight": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 2}], "strides": [{"as_int": 2}, {"as_int": 1}],
   "storage_offset": {"as_int": 0}, "layout": 7},
  "b_shift": {"dtype": 12, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0},
   "layout": 7},
  "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s77', positive=True, integer=True)",
   "hint": {"as_int": 3}}}, {"as_int": 2}], "strides": [], "storage_offset": {"as_int": 0}, "layout": 7}}},
"module_call_graph": [{"fqn": ""}, {"fqn": "fc"}, {"fqn": "act"}]}}`

// sampleList returns the list of a folder with one tensor.
func sampleList(name, file, meta string) string {
	return `{"config": {"` + name + `": {"path_name": "` + file + `", "is_param": true, "use_pickle": false, ` +
		`"tensor_meta": ` + meta + `}}}`
}

// sampleRecords returns the records of an archive by name.
func sampleRecords() map[string]string {
	weight := make([]byte, 0, 16)
	for _, v := range []float32{1, -1, 0.5, 2} {
		weight = binary.LittleEndian.AppendUint32(weight, math.Float32bits(v))
	}
	return map[string]string{
		"archive_format": "pt2", "archive_version": "0", "byteorder": "little", "models/model.json": sampleProgram,
		"data/weights/model_weights_config.json": sampleList("fc.weight", "weight_0",
			`{"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 2}], "strides": [{"as_int": 1}, {"as_int": 2}], `+
				`"storage_offset": {"as_int": 0}, "layout": 7}`),
		"data/weights/weight_0": string(weight),
		"data/constants/model_constants_config.json": sampleList("shift", "tensor_0",
			`{"dtype": 12, "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, `+
				`"layout": 7}`),
		"data/constants/tensor_0": "\x00\x01", "data/sample_inputs/model.pt": "a pickle that nobody opens",
	}
}

// pack returns an archive of records.
func pack(t testing.TB, records map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range records {
		size := uint64(len(text))
		w, err := z.CreateRaw(&zip.FileHeader{Name: "net/" + name, Method: zip.Store,
			CRC32: crc32.ChecksumIEEE([]byte(text)), CompressedSize64: size, UncompressedSize64: size})
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

func readBytes(data []byte) (*graph.Imported, error) {
	return Read(bytes.NewReader(data), int64(len(data)))
}

func TestASampleIsRead(t *testing.T) {
	net, err := readBytes(pack(t, sampleRecords()))
	require.NoError(t, err)
	g := net.Graph
	assert.Equal(t, "Net(\n  (fc): Linear(in_features=2, out_features=2, bias=False)\n  (act): ReLU(inplace=True)\n)",
		g.String())
	lines := []string{}
	for _, n := range g.Nodes {
		lines = append(lines, n.String())
	}
	assert.Equal(t, []string{
		"n = sym_size.int(self=%x, dim=0)",
		"linear = linear.default(input=%x, weight=@fc.weight) in fc",
		"relu_ = relu.default(self=%linear) in act",
		"fill = masked_fill.Scalar(self=%relu_, mask=@shift, value=-inf)",
		"view = view.default(self=%fill, size=[%n, 2])",
		"add = add.Tensor(self=%view, other=%x)",
	}, lines, "what follows the ReLU in place reads its result")
	assert.Equal(t, "[batch=3 2]", sizesOf(net))
	w, err := net.Weights.Tensors[0].Float32s()
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 0.5, -1, 2}, w, "a view whose columns follow each other")
}

func sizesOf(net *graph.Imported) string {
	text := ""
	for k, size := range net.Graph.Input.Shape {
		if k > 0 {
			text += " "
		}
		text += size.String()
	}
	return "[" + text + "]"
}

// unpack returns the records of an archive.
func unpack(t testing.TB, path string) map[string]string {
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer z.Close()
	records := map[string]string{}
	for _, file := range z.File {
		in, err := file.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		_, name, _ := strings.Cut(file.Name, "/")
		records[name] = string(text)
	}
	return records
}
