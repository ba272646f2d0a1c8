package imports

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/files"
	"graft/model"
	"graft/model/onnx"
	"graft/runner/app"
	"graft/runner/export"
	"graft/runner/worktest"
	"graft/torch"
)

const reference = "../../../shared/reference/import/cases"

func TestImportedNetworksComputeFromTheirFiles(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(reference, "*.json"))
	if len(paths) == 0 {
		t.Skip("left out: the archives of PyTorch; " + reference + " is not here")
	}
	env := &app.Env{Files: files.OS{}}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var want struct {
			Print  string
			Shape  []int     `json:"output_shape"`
			Logits []float64 `json:"logits_eval"`
		}
		require.NoError(t, json.Unmarshal(text, &want))
		stem := filepath.Join(t.TempDir(), "net")
		r, err := Run(t.Context(), env, strings.TrimSuffix(path, ".json")+".pt2", Options{Out: stem})
		require.NoError(t, err)
		written, err := config.ReadImported(files.OS{}, stem+".toml")
		require.NoError(t, err)
		shown := Describe(written)
		assert.Equal(t, want.Print, shown.Print, path)
		assert.Equal(t, r.Parameters, shown.Parameters)
		_, err = export.Forward(t.Context(), env, stem+".toml",
			export.ForwardOptions{Inputs: path, Weights: stem + ".safetensors", Out: stem + ".json"})
		require.NoError(t, err)
		got := want
		text, err = os.ReadFile(stem + ".json")
		require.NoError(t, err)
		got.Logits = nil
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Equal(t, want.Shape, got.Shape)
		largest := 1e-3
		for _, v := range want.Logits {
			largest = max(largest, math.Abs(v))
		}
		assert.InDeltaSlice(t, want.Logits, got.Logits, 1e-6*largest, path)
	}
}

func TestNothingIsReplacedUnasked(t *testing.T) {
	stem := filepath.Join(t.TempDir(), "net")
	require.NoError(t, os.WriteFile(stem+".safetensors", nil, 0o600))
	_, err := Run(t.Context(), &app.Env{Files: files.OS{}}, "net.pt2", Options{Out: stem})
	assert.ErrorContains(t, err, "net.safetensors")
}

// sampleFile writes a small network as an ONNX model.
func sampleFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "net.onnx")
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := model.FromForm(map[string]any{"name": "Net", "input": []any{1, 4, 4},
			"layers": []any{"Conv2d(1, 2, 3)", "ReLU()", "flatten()", "Linear(8, 3)"}})
		require.NoError(t, err)
		require.NoError(t, n.Materialize(s, model.Placement{Device: torch.CPU, Random: s.NewGenerator(torch.CPU, 1)}))
		set, err := n.Save()
		require.NoError(t, err)
		data, err := onnx.Encode(n, set, onnx.Options{})
		require.NoError(t, err)
		return os.WriteFile(path, data, 0o600)
	}))
	return path
}

func TestImportingSurvivesFaults(t *testing.T) {
	path := sampleFile(t)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		if err := env.Files.MkdirAll(folder); err != nil {
			return err
		}
		_, err := Run(t.Context(), env, path, Options{Out: filepath.Join(folder, "net"), Force: again})
		return err
	}, func(path string) bool { return slices.Contains([]string{"net.toml", "net.safetensors"}, path) })
}

func TestOperatorsThatCannotBeMappedAreListed(t *testing.T) {
	data, err := os.ReadFile(sampleFile(t))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "net.onnx")
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(data), "Relu", "Rely")), 0o600))
	r, err := Run(t.Context(), &app.Env{Files: files.OS{}}, path, Options{Out: filepath.Join(t.TempDir(), "net")})
	assert.ErrorContains(t, err, "Rely in the network itself")
	require.Len(t, r.Unmapped, 1)
	assert.Equal(t, "Rely", r.Unmapped[0].Operator)
	assert.Empty(t, r.Files)
}
