package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/torch/weights"
)

// someWeights writes a small weight file into a new folder.
func someWeights(t *testing.T, name string) string {
	matrix, err := weights.FromFloat32s("fc.weight", []int64{2, 2}, []float32{1, 2, 3, 4})
	require.NoError(t, err)
	odd, err := weights.FromFloat32s("odd\x1b", []int64{1}, []float32{float32(math.NaN())})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	set := &weights.Set{Tensors: []weights.Tensor{matrix, odd}, Metadata: map[string]string{"epoch": "3"}}
	require.NoError(t, weights.Write(files.OS{}, path, set))
	return path
}

func TestWeightsShow(t *testing.T) {
	path := someWeights(t, "w.safetensors")
	lines := strings.Split(strings.TrimSpace(done(t, "weights", "show", path).stdout), "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, []string{"NAME", "TYPE", "SHAPE", "COUNT", "MEAN", "SPREAD", "SHA256"}, strings.Fields(lines[0]))
	fields := strings.Fields(lines[1])
	assert.Equal(t, []string{"fc.weight", "float32", "2x2", "4", "2.5", "1.11803"}, fields[:6])
	assert.Len(t, fields[6], 64)
	assert.Contains(t, lines[2], "odd?", "a name cannot move the cursor")
	assert.Contains(t, lines[2], "(1 NaN, 0 infinite)")
	assert.Equal(t, "2 tensors, 5 items (safetensors)", lines[3])
	assert.Equal(t, strings.Index(lines[0], "SHA256"), strings.Index(lines[1], fields[6]), "the columns are aligned")

	report := object[weightsReport](t, "weights show "+path)
	assert.Equal(t, path, report.File)
	assert.Equal(t, weights.Safetensors, report.Format)
	assert.Equal(t, map[string]string{"epoch": "3"}, report.Metadata)
	assert.Equal(t, 2.5, *report.Tensors[0].Mean)
	assert.Nil(t, report.Tensors[1].Mean)
}

func TestWeightsConvert(t *testing.T) {
	in := someWeights(t, "w.safetensors")
	out := filepath.Join(filepath.Dir(in), "w.pth")
	assert.Equal(t, "wrote "+out+": 2 tensors (pth), without 1 entry that is not a tensor\n",
		done(t, "weights", "convert", in, out).stdout)
	want, err := weights.Read(files.OS{}, in, weights.Options{})
	require.NoError(t, err)
	got, err := weights.Read(files.OS{}, out, weights.Options{})
	require.NoError(t, err)
	assert.Equal(t, want.Tensors, got.Tensors)
	fails(t, failure.Usage, "--force", "weights", "convert", in, out)
	done(t, "weights", "convert", "--force", in, out)

	assert.Equal(t, "wrote "+out+": 1 tensor (pth), of 2 in "+in+"\n",
		done(t, "weights", "convert", "--force", "--prefix", "fc.", in, out).stdout)
	got, err = weights.Read(files.OS{}, out, weights.Options{})
	require.NoError(t, err)
	require.Len(t, got.Tensors, 1)
	assert.Equal(t, "weight", got.Tensors[0].Name)
	assert.Equal(t, want.Tensors[0].Data, got.Tensors[0].Data)
}

func TestWeightsSayWhatIsWrong(t *testing.T) {
	in := someWeights(t, "w.pth")
	folder := filepath.Dir(in)
	link, damaged := filepath.Join(folder, "link.pth"),
		write(t, filepath.Join(folder, "damaged.pth"), "PK\x03\x04 and no more")
	require.NoError(t, os.Symlink(in, link))
	allFail(t, "weights", map[string]wrongCall{
		"the same file": {[]string{"convert", "--force", in, in}, failure.Usage, "same file"},
		"a link to it":  {[]string{"convert", "--force", in, link}, failure.Usage, "the same file"},
		"no such prefix": {[]string{"convert", "--prefix", "net.", in, in + ".safetensors"}, failure.Usage,
			"prefix \"net.\""},
		"no format":       {[]string{"convert", "--force", in, in + ".npz"}, failure.Usage, ".safetensors"},
		"a damaged file":  {[]string{"show", damaged}, failure.Damaged, damaged},
		"no file":         {[]string{"show", damaged + ".absent"}, failure.Failed, "no such file"},
		"no such command": {[]string{"shwo"}, failure.Usage, "unknown command"},
	})
}
