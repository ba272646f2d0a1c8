package imports

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/work"
	"graft/work/export"
)

const reference = "../../../shared/reference/import/cases"

func TestImportedNetworksComputeFromTheirFiles(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(reference, "*.json"))
	if len(paths) == 0 {
		t.Skip("left out: the archives of PyTorch; " + reference + " is not here")
	}
	env := &work.Env{Files: files.OS{}}
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
		r, err := Run(env, strings.TrimSuffix(path, ".json")+".pt2", Options{Out: stem})
		require.NoError(t, err)
		shown, err := Show(files.OS{}, stem+".toml")
		require.NoError(t, err)
		assert.Equal(t, want.Print, shown.Print, path)
		assert.Equal(t, r.Parameters, shown.Parameters)
		_, err = export.Forward(env, stem+".toml", export.ForwardOptions{Inputs: path, Weights: stem + ".safetensors", Out: stem + ".json"})
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
	_, err := Run(&work.Env{Files: files.OS{}}, "net.pt2", Options{Out: stem})
	assert.ErrorContains(t, err, "net.safetensors")
}
