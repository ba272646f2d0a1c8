package pt2

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// savedText is a file of torch.save with tensors.
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
	between := sampleRecords() // as versions between the two layouts write them
	delete(between, "data/weights/model_weights_config.json")
	between["data/weights/model.pt"] = savedText(weight)
	before := map[string]string{"version": "8.8", "serialized_exported_program.json": sampleProgram,
		"serialized_state_dict.pt": savedText(weight), "serialized_constants.pt": savedText(shift)}
	want, err := readBytes(pack(t, sampleRecords()))
	require.NoError(t, err)
	for name, records := range map[string]map[string]string{"between": between, "before 2.8": before} {
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
