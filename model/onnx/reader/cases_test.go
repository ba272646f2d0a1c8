package reader

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
)

const reference = "../../../../shared/reference/import/cases"

// golden holds PyTorch's results.
type golden struct {
	Inputs []struct {
		Shape  []int
		DType  string
		Values []float64
	}
	Shape  []int     `json:"output_shape"`
	Logits []float64 `json:"logits_eval"`
	Small  *struct {
		Shape  []int
		Values []float64
	} `json:"logits_eval_smaller_batch"`
}

// smaller returns the golden data for the first examples only.
func (g golden) smaller() golden {
	in := g.Inputs[0]
	rows := g.Small.Shape[0]
	in.Values = in.Values[:len(in.Values)/in.Shape[0]*rows]
	in.Shape = append([]int{rows}, in.Shape[1:]...)
	g.Inputs = append(g.Inputs[:0:0], in)
	g.Shape, g.Logits = g.Small.Shape, g.Small.Values
	return g
}

func readModel(data []byte) (*graph.Imported, error) {
	return Read(bytes.NewReader(data), int64(len(data)))
}

func TestModelsComputeAsPyTorch(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(reference, "*.onnx"))
	if len(paths) == 0 {
		t.Skip("left out: the models of PyTorch; " + reference + " is not here")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(strings.TrimSuffix(path, ".onnx") + ".json")
			require.NoError(t, err)
			var g golden
			require.NoError(t, json.Unmarshal(text, &g))
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			net, err := readModel(data)
			require.NoError(t, err)
			assertComputes(t, net, g)
			if g.Small != nil {
				assertComputes(t, net, g.smaller())
			}
		})
	}
}

func assertComputes(t *testing.T, net *graph.Imported, g golden) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := net.Graph.Bind(s, torch.CPU, net.Weights)
		require.NoError(t, err)
		p, err := n.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		dtype := torch.Float32
		if g.Inputs[0].DType == "int64" {
			dtype = torch.Int64
		}
		s.NoGrad(func() {
			y := p.Forward(s, s.To(torch.From(s, g.Inputs[0].Values, g.Inputs[0].Shape...), dtype, torch.CPU),
				false, nil)
			require.NoError(t, s.Err())
			assert.Equal(t, g.Shape, y.Shape())
			got, err := torch.Values[float64](s.To(y, torch.Float64, torch.CPU))
			require.NoError(t, err)
			largest := 1e-3
			for _, v := range g.Logits {
				largest = max(largest, math.Abs(v))
			}
			assert.InDeltaSlice(t, g.Logits, got, 5e-6*largest) // onnxruntime's error is as large
		})
		return nil
	}))
}
