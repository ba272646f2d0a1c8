package reader

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/onnx"
	"graft/torch"
)

func TestModelsOfGraftAreRead(t *testing.T) {
	for _, name := range []string{"ConvNet2", "ResNet18", "MobileNetV2"} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := model.Zoo(name, model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10})
			require.NoError(t, err)
			require.NoError(t, n.Materialize(s, model.Placement{Device: torch.CPU, Random: s.NewGenerator(torch.CPU, 1)}))
			set, err := n.Save()
			require.NoError(t, err)
			data, err := onnx.Encode(n, set, onnx.Options{})
			require.NoError(t, err)
			net, err := readModel(data)
			require.NoError(t, err, name)
			bound, err := net.Graph.Bind(s, torch.CPU, net.Weights)
			require.NoError(t, err)
			p, err := bound.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			own, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			s.NoGrad(func() {
				x := s.Zeros(torch.Float32, torch.CPU, 2, 3, 32, 32)
				s.Normal(x, 0, 1, s.NewGenerator(torch.CPU, 2))
				got, err := torch.Values[float32](p.Forward(s, x, false, nil))
				require.NoError(t, err)
				want, err := torch.Values[float32](own.Forward(s, x, false, nil))
				require.NoError(t, err)
				assert.InDeltaSlice(t, want, got, 1e-5, name)
			})
			return nil
		}))
	}
}

func TestMutatedModelsNeverCrash(t *testing.T) {
	data := sampleModel(t)
	for k := range data {
		for _, bit := range []byte{1, 0x10, 0x80} {
			other := append([]byte{}, data...)
			other[k] ^= bit
			if net, err := readModel(other); err == nil {
				require.NoError(t, net.Graph.Check())
			}
		}
	}
}

// sampleModel is a small network as graft writes it.
func sampleModel(t testing.TB) []byte {
	var data []byte
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := model.FromForm(map[string]any{"name": "Net", "input": []any{1, 4, 4}, "layers": []any{"Conv2d(1, 2, 3)", "ReLU()", "flatten()", "Linear(8, 3)"}})
		require.NoError(t, err)
		require.NoError(t, n.Materialize(s, model.Placement{Device: torch.CPU, Random: s.NewGenerator(torch.CPU, 1)}))
		set, err := n.Save()
		require.NoError(t, err)
		data, err = onnx.Encode(n, set, onnx.Options{})
		return err
	}))
	return data
}

func TestModelsThatAreNoneAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":     {nil, "no graph"},
		"text":        {[]byte("garbage, not a model"), "read ONNX model"},
		"a cut model": {sampleModel(t)[:100], "cut short"},
	} {
		_, err := readModel(c.data)
		assert.ErrorContains(t, err, c.want, name)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sampleModel(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if net, err := readModel(data); err == nil {
			require.NoError(t, net.Graph.Check())
		}
	})
}
