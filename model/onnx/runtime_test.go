package onnx

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/pythontest"
	"graft/model"
	"graft/torch"
	"graft/torch/weights"
)

// ONNX Runtime computes the same as LibTorch for each operator that graft writes, and for arguments at their limits.
func TestWrittenOperatorsRunInONNXRuntime(t *testing.T) {
	python := pythontest.Find(t, "onnxruntime")
	type runtimeCase struct {
		Name  string `json:"name"`
		File  string `json:"file"`
		Dims  []int  `json:"dims"`
		Whole bool   `json:"whole"` // whether the inputs are integers
		Shape []int  `json:"shape"`
	}
	lines := maps.Clone(argumentCases)
	for op := range operatorRules {
		lines["operator "+op] = caseOf(op)
	}
	folder := t.TempDir()
	write := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	var cases []runtimeCase
	for k, name := range slices.Sorted(maps.Keys(lines)) {
		g := graphOf(t, lines[name])
		set, err := g.Draw(1)
		require.NoError(t, err)
		n, err := model.FromGraph(g)
		require.NoError(t, err)
		data, err := Encode(n, set, Options{})
		require.NoError(t, err, name)
		c := runtimeCase{Name: name, File: strconv.Itoa(k), Whole: g.Input.DType == weights.Int64}
		var in, out []float32
		c.Shape, out = outputOf(t, g, set)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			x := inputOf(s, g)
			c.Dims = x.Shape()
			in, err = torch.Values[float32](s.To(x, torch.Float32, torch.CPU))
			return err
		}))
		write(c.File+".onnx", data)
		write(c.File+".in", littleEndian(in))
		write(c.File+".out", littleEndian(out))
		cases = append(cases, c)
	}
	text, err := json.Marshal(cases)
	require.NoError(t, err)
	write("cases.json", text)
	found, err := exec.Command(python, "testdata/runtime.py", folder).CombinedOutput()
	require.NoError(t, err, string(found))
	require.Empty(t, string(found))
}

func littleEndian(values []float32) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, values) // a buffer has no errors
	return b.Bytes()
}
