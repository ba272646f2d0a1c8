package pt2

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// savedText returns a file of torch.save with tensors.
func savedText(tensors ...weights.Tensor) string {
	var out bytes.Buffer
	if err := weights.WritePTH(&out, &weights.Set{Tensors: tensors}); err != nil {
		panic(err)
	}
	return out.String()
}

func TestWeightsOfTorchSaveAreRead(t *testing.T) {
	weight, err := weights.FromFloat32s("fc.weight", []int64{2, 2}, []float32{1, 0.5, -1, 2})
	require.NoError(t, err)
	shift := weights.Tensor{Name: "shift", DType: weights.Bool, Shape: []int64{2}, Data: []byte{0, 1}}
	between := sampleRecords() // the layout of versions between the two others
	delete(between, "data/weights/model_weights_config.json")
	between["data/weights/model.pt"] = savedText(weight)
	before := map[string]string{"version": "8.8", "serialized_exported_program.json": sampleProgram,
		"serialized_state_dict.pt": savedText(weight), "serialized_constants.pt": savedText(shift)}
	first := map[string]string{"version": "7.3", "serialized_exported_program.json": strings.NewReplacer(
		`"major": 8, "minor": 20}`, `"major": 7, "minor": 3}, "range_constraints": {"s0": {"max_val": Infinity}}`,
		`"-Infinity"`, `-Infinity`).Replace(sampleProgram),
		"serialized_state_dict.pt": savedText(weight), "serialized_constants.pt": savedText(shift)}
	want, err := readBytes(pack(t, sampleRecords()))
	require.NoError(t, err)
	for name, records := range map[string]map[string]string{"between": between, "before 2.8": before, "2.5": first} {
		got, err := readBytes(pack(t, records))
		require.NoError(t, err, name)
		assert.Equal(t, want.Graph, got.Graph, name)
		assert.Equal(t, want.Weights, got.Weights, name)
	}
}

func TestNamesOfTiedWeightsBefore28(t *testing.T) {
	shared, err := weights.FromFloat32s("", []int64{2, 2}, []float32{1, 0.5, -1, 2})
	require.NoError(t, err)
	p := &payloads{folder: "weights", saved: map[string]weights.Tensor{}, tied: map[string][]string{}}
	for _, name := range []string{"embed.weight", "head.weight"} {
		shared.Name = name
		p.saved[name] = shared
		p.tied[p.memory(shared)] = append(p.tied[p.memory(shared)], name)
	}
	assert.Equal(t, []string{"embed.weight", "head.weight"}, []string{p.next("head.weight"), p.next("head.weight")})
	assert.Equal(t, "other", p.next("other"), "an unknown name stays, for the error")
}

func TestNumbersThatJSONLacksAreQuoted(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": Infinity, "b": [-Infinity,NaN]}`:  `{"a": "Infinity", "b": ["-Infinity","NaN"]}`,
		`["Infinity", "\"-Infinity", "\\", NaN]`: `["Infinity", "\"-Infinity", "\\", "NaN"]`,
		`[-1, "NaN", -Inf`:                       `[-1, "NaN", -Inf`,
		`Infinity`:                               `"Infinity"`,
		`["a`:                                    `["a`,
	} {
		assert.Equal(t, want, string(quoteNumbers([]byte(text))))
	}
}

// decomposedProgram returns a batch normalization as torch.export of PyTorch 2.5 writes it.
func decomposedProgram() string {
	values := `"x": {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 2}], "layout": 7}`
	inputs, args := "", `{"name": "input", "arg": {"as_tensor": {"name": "x"}}}`
	for k, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		kind, more := "parameter", ""
		if k > 1 {
			kind, more = "buffer", `, "persistent": true`
		}
		inputs += fmt.Sprintf(`{"%s": {"arg": {"name": "%s"}, "%s_name": "norm.%s"%s}}, `, kind, name, kind, name, more)
		args += fmt.Sprintf(`, {"name": "%s", "arg": {"as_tensor": {"name": "%s"}}}`, name, name)
		values += fmt.Sprintf(`, "%s": {"dtype": 7, "sizes": [{"as_int": 2}], "layout": 7}`, name)
	}
	return `{"schema_version": {"major": 7, "minor": 3}, "graph_module": {"signature": {"input_specs": [` + inputs +
		`{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}], "output_specs": [{"user_output": {"arg": ` +
		`{"as_tensor": {"name": "getitem"}}}}]}, "graph": {"nodes": [{"target": ` +
		`"torch.ops.aten._native_batch_norm_legit_no_training.default", "inputs": [` + args + `, ` +
		`{"name": "momentum", "arg": {"as_float": 0.1}}, {"name": "eps", "arg": {"as_float": 1e-05}}], ` +
		`"outputs": [{"as_tensor": {"name": "getitem"}}, {"as_tensor": {"name": "unused_1"}}, ` +
		`{"as_tensor": {"name": "unused_2"}}], "metadata": {"nn_module_stack": ` +
		`"L__self__,,net.Net;L__self___norm,norm,torch.nn.modules.batchnorm.BatchNorm1d"}}], ` +
		`"tensor_values": {` + values + `}}, "module_call_graph": [{"fqn": ""}, {"fqn": "norm"}]}}`
}

func TestDecomposedNormalizationsAreRead(t *testing.T) {
	var tensors []weights.Tensor
	for _, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		one, err := weights.FromFloat32s("norm."+name, []int64{2}, []float32{1, 2})
		require.NoError(t, err)
		tensors = append(tensors, one)
	}
	net, err := readBytes(pack(t, map[string]string{"version": "7.3", "serialized_constants.pt": savedText(),
		"serialized_exported_program.json": decomposedProgram(), "serialized_state_dict.pt": savedText(tensors...)}))
	require.NoError(t, err)
	require.Len(t, net.Graph.Nodes, 1)
	assert.Equal(t, "getitem = batch_norm.default(input=%x, weight=@norm.weight, bias=@norm.bias, "+
		"running_mean=@norm.running_mean, running_var=@norm.running_var, momentum=0.1, eps=1e-05) in norm",
		net.Graph.Nodes[0].String())
	assert.Equal(t, "Net(\n  (norm): BatchNorm1d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, "+
		"track_running_stats=True)\n)", net.Graph.String())
}
