package pt2

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
	"graft/torch/weights"
)

// reference holds archives of current PyTorch, and PyTorch's results for their networks.
const reference = "../../../shared/reference/import"

// array holds an array of a golden file.
type array struct {
	Shape  []int     `json:"shape"`
	DType  string    `json:"dtype"`
	Values []float64 `json:"values"`
}

func (a array) tensor(s *torch.Scope) *torch.Tensor {
	x := torch.From(s, a.Values, a.Shape...)
	if a.DType == "int64" {
		return s.To(x, torch.Int64, torch.CPU)
	}
	return s.To(x, torch.Float32, torch.CPU)
}

// rows returns the first rows of an array.
func (a array) rows(n int) array {
	shape := append([]int{n}, a.Shape[1:]...)
	return array{shape, a.DType, a.Values[:len(a.Values)/a.Shape[0]*n]}
}

// golden holds PyTorch's results.
type golden struct {
	Name  string `json:"name"`
	Loss  string `json:"loss"`
	Print string `json:"print"`
	State []struct {
		Name  string
		Shape []int64
		DType string
		Sum   float64
	} `json:"state"`
	Inputs  []array   `json:"inputs"`
	Labels  []int64   `json:"labels"`
	Logits  []float64 `json:"logits_eval"`
	Smaller *array    `json:"logits_eval_smaller_batch"`
	Shape   []int     `json:"output_shape"`
	Train   struct {
		Loss      float64              `json:"loss"`
		Logits    []float64            `json:"logits"`
		Gradients map[string]float64   `json:"gradient_norms"`
		Buffers   map[string][]float64 `json:"buffers_after"`
	} `json:"train"`
}

// cases returns the golden files by name. It skips the test if the reference is missing.
func cases(t *testing.T) map[string]golden {
	paths, _ := filepath.Glob(filepath.Join(reference, "cases", "*.json"))
	if len(paths) == 0 {
		t.Skip("left out: the archives of PyTorch; " + reference + " is not here")
	}
	all := map[string]golden{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var g golden
		require.NoError(t, json.Unmarshal(text, &g))
		all[strings.TrimSuffix(path, ".json")] = g
	}
	return all
}

func importFile(t testing.TB, path string) *graph.Imported {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	net, err := Read(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err, path)
	return net
}

// bound returns the largest allowed error for values of this scale. The PyTorch that wrote the file adds products in
// another order.
func bound(values []float64, relative float64) float64 {
	largest := 1e-3
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	return relative * largest
}

func assertClose(t *testing.T, want, got []float64, within float64, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	worst := 0.0
	for k := range want {
		worst = max(worst, math.Abs(want[k]-got[k]))
	}
	assert.LessOrEqual(t, worst, within, what)
}

func values(t *testing.T, s *torch.Scope, x *torch.Tensor) []float64 {
	v, err := torch.Values[float64](s.To(x, torch.Float64, torch.CPU))
	require.NoError(t, err)
	return v
}

func TestArchivesComputeAsPyTorch(t *testing.T) {
	for path, g := range cases(t) {
		t.Run(g.Name, func(t *testing.T) {
			net := importFile(t, path+".pt2")
			assertState(t, g, net)
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				n, err := net.Graph.Bind(s, torch.CPU, net.Weights)
				require.NoError(t, err)
				p, err := n.Program(s, torch.ProgramOptions{})
				require.NoError(t, err)
				s.NoGrad(func() {
					y := p.Forward(s, g.Inputs[0].tensor(s), false, nil)
					require.NoError(t, s.Err())
					assert.Equal(t, g.Shape, y.Shape())
					assertClose(t, g.Logits, values(t, s, y), bound(g.Logits, 1e-6), "logits")
					if g.Smaller != nil {
						y := p.Forward(s, g.Inputs[0].rows(g.Smaller.Shape[0]).tensor(s), false, nil)
						assertClose(t, g.Smaller.Values, values(t, s, y), bound(g.Logits, 1e-6),
							"logits of a smaller batch")
					}
				})
				return nil
			}))
		})
	}
}

// assertState compares the imported tensors with the state dict.
func assertState(t *testing.T, g golden, net *graph.Imported) {
	constants := map[string]bool{}
	for _, c := range net.Graph.Tensors {
		constants[c.Name] = c.Role == graph.Constant
	}
	state := map[string]weights.Tensor{}
	for _, w := range net.Weights.Tensors {
		if !constants[w.Name] {
			state[w.Name] = w
		}
	}
	assert.Len(t, state, len(g.State))
	for _, want := range g.State {
		w := state[want.Name]
		assert.Equal(t, want.DType, w.DType.String(), want.Name)
		if len(want.Shape)+len(w.Shape) > 0 {
			assert.Equal(t, want.Shape, w.Shape, want.Name)
		}
		numbers, err := w.Float64s()
		require.NoError(t, err)
		sum := 0.0
		for _, v := range numbers {
			sum += v
		}
		assert.InDelta(t, want.Sum, sum, 1e-9*max(1, float64(len(numbers))), want.Name)
	}
}

func TestArchivesHaveTheGradientsOfPyTorch(t *testing.T) {
	for path, g := range cases(t) {
		t.Run(g.Name, func(t *testing.T) {
			net := importFile(t, path+".pt2")
			for k := range net.Graph.Nodes { // the golden files have dropout off
				if n := &net.Graph.Nodes[k]; n.Operator == "dropout.default" {
					n.Set("p", 0.0)
				}
			}
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				n, err := net.Graph.Bind(s, torch.CPU, net.Weights)
				require.NoError(t, err)
				p, err := n.Program(s, torch.ProgramOptions{})
				require.NoError(t, err)
				y := p.Forward(s, g.Inputs[0].tensor(s), true, nil)
				loss := lossOf(s, g, y)
				s.Backward(loss)
				require.NoError(t, s.Err())
				assertClose(t, g.Train.Logits, values(t, s, y), bound(g.Train.Logits, 1e-5), "logits")
				assertClose(t, []float64{g.Train.Loss}, values(t, s, loss),
					bound([]float64{g.Train.Loss}, 1e-5), "loss")
				for name, want := range g.Train.Gradients {
					assert.InDelta(t, want, norm(values(t, s, s.Grad(n.Tensor(name)))), 1e-5*max(1, want), name)
				}
				for name, want := range g.Train.Buffers {
					assertClose(t, want, values(t, s, n.Tensor(name)), bound(want, 1e-5), name)
				}
				return nil
			}))
		})
	}
}

// lossOf returns the loss that a golden file names.
func lossOf(s *torch.Scope, g golden, y *torch.Tensor) *torch.Tensor {
	labels := torch.From(s, g.Labels, len(g.Labels))
	switch g.Loss {
	case "classes":
		return s.CrossEntropy(y, labels)
	case "tokens":
		return s.CrossEntropy(s.Reshape(y, len(g.Labels), -1), labels)
	}
	return s.Mean(s.Mul(y, y))
}

func norm(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v * v
	}
	return math.Sqrt(sum)
}

func TestArchivesInTrainModeAreTheSameNetwork(t *testing.T) {
	for path, g := range cases(t) {
		if _, err := os.Stat(path + ".train.pt2"); err != nil {
			continue
		}
		net := importFile(t, path+".train.pt2")
		if strings.Contains(g.Print, "BatchNorm") {
			assert.Contains(t, strings.Join(net.Notes, "\n"), "train mode", g.Name)
		}
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := net.Graph.Bind(s, torch.CPU, net.Weights)
			require.NoError(t, err)
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			s.NoGrad(func() {
				assertClose(t, g.Logits, values(t, s, p.Forward(s, g.Inputs[0].tensor(s), false, nil)),
					bound(g.Logits, 1e-6), g.Name)
			})
			return nil
		}))
	}
}

func TestArchivesAreRefused(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(reference, "refuse", "refuse.json"))
	if err != nil {
		t.Skip("left out: archives to be refused; " + reference + " is not here")
	}
	var reasons map[string]string
	require.NoError(t, json.Unmarshal(text, &reasons))
	words := map[string]string{
		"pickled_weight": "pickle", "schema_9": "schema version 9", "truncated_weight": "exceeds the storage",
		"missing_weight": "missing",
		"path_escape":    "outside the archive's folder",
		"stride_outside": "exceeds the", "size_mismatch": "in the graph",
		"custom_operator": "fancy_gelu.default in act: replace the custom",
		"unknown_aten":    "cannot be mapped", "dangling_name": "no earlier operator", "not_json": "unexpected end",
		"eps_nan": "NaN", "big_endian": "byteorder",
		"other_format": "archive_format", "control_flow": "control flow", "two_inputs": "2 inputs and 2 outputs",
	}
	for name := range reasons {
		data, err := os.ReadFile(filepath.Join(reference, "refuse", name+".pt2"))
		require.NoError(t, err)
		_, err = Read(bytes.NewReader(data), int64(len(data)))
		if name == "sample_inputs_bomb" || name == "layout_2_7" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, words[name], name)
	}
}

func TestArchivesPrintAsPyTorch(t *testing.T) {
	for path, g := range cases(t) {
		assert.Equal(t, g.Print, importFile(t, path+".pt2").Graph.String(), g.Name)
	}
}
