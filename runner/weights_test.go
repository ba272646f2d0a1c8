package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/results/failure"
	"graft/torch/weights"
)

// runWeights runs `graft weights` with args and returns what it printed.
func runWeights(args ...string) (string, error) {
	var out strings.Builder
	command := newWeightsCommand()
	command.SetOut(&out)
	command.SetErr(&out)
	command.SetArgs(args)
	command.SilenceErrors, command.SilenceUsage = true, true
	err := command.Execute()
	return out.String(), err
}

// someWeights writes a small file of weights in a folder of its own.
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
	out, err := runWeights("show", someWeights(t, "w.safetensors"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, []string{"NAME", "TYPE", "SHAPE", "COUNT", "MEAN", "SPREAD", "SHA256"}, strings.Fields(lines[0]))
	fields := strings.Fields(lines[1])
	assert.Equal(t, []string{"fc.weight", "float32", "2x2", "4", "2.5", "1.11803"}, fields[:6])
	assert.Len(t, fields[6], 64)
	assert.Contains(t, lines[2], "odd?", "a name cannot move the cursor")
	assert.Contains(t, lines[2], "(1 NaN, 0 infinite)")
	assert.Equal(t, "2 tensors, 5 items (safetensors)", lines[3])
	assert.Equal(t, strings.Index(lines[0], "SHA256"), strings.Index(lines[1], fields[6]), "the columns are aligned")
}

func TestWeightsShowJSON(t *testing.T) {
	path := someWeights(t, "w.safetensors")
	out, err := runWeights("show", "--json", path)
	require.NoError(t, err)
	report := decoded[weightsReport](t, out)
	assert.Equal(t, path, report.File)
	assert.Equal(t, weights.Safetensors, report.Format)
	assert.Equal(t, map[string]string{"epoch": "3"}, report.Metadata)
	assert.Equal(t, 2.5, *report.Tensors[0].Mean)
	assert.Nil(t, report.Tensors[1].Mean)
}

func TestWeightsConvert(t *testing.T) {
	in := someWeights(t, "w.safetensors")
	out := filepath.Join(filepath.Dir(in), "w.pth")
	printed, err := runWeights("convert", in, out)
	require.NoError(t, err)
	assert.Equal(t, "wrote "+out+": 2 tensors (pth), without 1 entries that are no tensors\n", printed)
	want, err := weights.Read(files.OS{}, in, weights.Options{})
	require.NoError(t, err)
	got, err := weights.Read(files.OS{}, out, weights.Options{})
	require.NoError(t, err)
	assert.Equal(t, want.Tensors, got.Tensors)

	_, err = runWeights("convert", in, out)
	assert.ErrorContains(t, err, "--force")
	_, err = runWeights("convert", "--force", in, out)
	assert.NoError(t, err)
}

func TestWeightsConvertRefuses(t *testing.T) {
	in := someWeights(t, "w.pth")
	link := filepath.Join(filepath.Dir(in), "link.pth")
	require.NoError(t, os.Symlink(in, link))
	for want, out := range map[string]string{"same file": in, "the same file": link, ".safetensors": in + ".npz"} {
		_, err := runWeights("convert", "--force", in, out)
		assert.ErrorContains(t, err, want)
		assert.Equal(t, failure.Usage, failure.CodeOf(t.Context(), err))
	}
}

func TestWeightsErrorsSayWhatKindOfFileItIs(t *testing.T) {
	damaged := write(t, filepath.Join(t.TempDir(), "w.pth"), "PK\x03\x04 and no more")
	_, err := runWeights("show", damaged)
	assert.ErrorContains(t, err, damaged)
	assert.Equal(t, failure.Damaged, failure.CodeOf(t.Context(), err))

	_, err = runWeights("show", damaged+".absent")
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, failure.Failed, failure.CodeOf(t.Context(), err))

	_, err = runWeights("shwo")
	assert.ErrorContains(t, err, "unknown command")
}
