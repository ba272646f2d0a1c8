package config

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model/graph"
)

const importedSample = `name = "Net"
input = {value = "x", dtype = "float32", shape = ["batch=3", 2]}
output = "add"

modules = [
  {path = "", class = "Net"},
  {path = "fc", class = "Linear", extra = "in_features=2, out_features=2, bias=False"},
]

tensors = [
  {name = "fc.weight", role = "parameter", dtype = "float32", shape = [2, 2]},
]

operators = [
  "linear = linear.default(input=%x, weight=@fc.weight) in fc",
  "add = add.Tensor(self=%linear, other=%x)",
]
`

func parseImportedText(text []byte) (*graph.Graph, error) {
	return parseImported(decode.NewDocument("net.toml", text))
}

func TestImportedNetworksAreWrittenAsTheyAreRead(t *testing.T) {
	g, err := parseImportedText([]byte(importedSample))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "net.toml")
	require.NoError(t, WriteImported(files.OS{}, path, g))
	text, err := files.ReadAll(files.OS{}, path, largestImported)
	require.NoError(t, err)
	assert.Equal(t, importedSample, string(text))
	assert.True(t, IsImported(files.OS{}, path))
	again, err := ReadImported(files.OS{}, path)
	require.NoError(t, err)
	assert.Equal(t, g, again)
	n, err := ReadNetwork(files.OS{}, path)
	require.NoError(t, err)
	assert.Equal(t, g, n.Graph, "a job can train it")
}

func FuzzReadImported(f *testing.F) {
	f.Add([]byte(importedSample))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := parseImportedText(text)
		if err != nil {
			var list Faults
			require.ErrorAs(t, err, &list)
			return
		}
		written := decode.FormatTOML(tableOf(g.Form()).(decode.Table),
			func(key string) bool { return slices.Contains(importedKeys, key) })
		again, err := parseImportedText([]byte(written))
		require.NoError(t, err, written)
		require.Equal(t, written, decode.FormatTOML(tableOf(again.Form()).(decode.Table),
			func(key string) bool { return slices.Contains(importedKeys, key) }))
	})
}
