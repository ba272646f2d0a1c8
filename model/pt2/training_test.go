package pt2

import (
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/pythontest"
	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// trained holds the losses and tensors of a network after ten steps.
type trained struct {
	Name    string                `json:"name"`
	Losses  []float64             `json:"losses"`
	Tensors map[string][2]float64 `json:"tensors"` // sum and norm
}

const steps = 10

// rate returns the learning rate. It is small for the network whose normalisations average four values: at 0.02 a
// relative change of its weights by 1e-7 changes PyTorch's own loss by 0.4 within ten steps, and at 0.0002 processors
// differ.
func rate(name string) float64 {
	if name == "resnet18" {
		return 0.00002
	}
	return 0.02
}

func TestImportedNetworksTrainAsInPyTorch(t *testing.T) {
	all := cases(t)
	nets := map[string]*graph.Imported{}
	var input bytes.Buffer
	folder := t.TempDir()
	for path, g := range all {
		net := importFile(t, path+".pt2")
		for k := range net.Graph.Nodes {
			if n := &net.Graph.Nodes[k]; n.Operator == "dropout.default" {
				n.Set("p", 0.0)
			}
		}
		nets[g.Name] = net
		file := filepath.Join(folder, g.Name+".pth")
		require.NoError(t, weights.Write(files.OS{}, file, stateOf(net)))
		require.NoError(t, json.NewEncoder(&input).Encode(map[string]any{"name": g.Name, "weights": file,
			"input": g.Inputs[0], "labels": g.Labels, "loss": g.Loss, "lr": rate(g.Name)}))
	}
	want := inPyTorch(t, &input)
	for _, g := range all {
		t.Run(g.Name, func(t *testing.T) {
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				got := train(t, s, nets[g.Name], g)
				other := want[g.Name]
				assert.InDeltaSlice(t, other.Losses, got.Losses, 1e-4*max(1, other.Losses[0]))
				for name, sums := range other.Tensors {
					assert.InDelta(t, sums[1], got.Tensors[name][1], 1e-4*max(1, sums[1]), name)
					assert.InDelta(t, sums[0], got.Tensors[name][0], 1e-4*max(1, math.Abs(sums[0]), sums[1]), name)
				}
				return nil
			}))
		})
	}
}

// stateOf returns the tensors of the state dict.
func stateOf(net *graph.Imported) *weights.Set {
	set := &weights.Set{}
	for k, t := range net.Graph.Tensors {
		if t.Role != graph.Constant {
			set.Tensors = append(set.Tensors, net.Weights.Tensors[k])
		}
	}
	return set
}

// inPyTorch trains the networks in PyTorch. It skips the test without PyTorch.
func inPyTorch(t *testing.T, input *bytes.Buffer) map[string]trained {
	python := pythontest.Find(t, "torch")
	c := exec.Command(python, "-W", "ignore", filepath.Join("testdata", "training.py"), reference)
	c.Env = append(c.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1")
	var said bytes.Buffer
	c.Stdin, c.Stderr = input, &said
	out, err := c.Output()
	require.NoError(t, err, said.String())
	all := map[string]trained{}
	for lines := json.NewDecoder(bytes.NewReader(out)); lines.More(); {
		var one trained
		require.NoError(t, lines.Decode(&one))
		all[one.Name] = one
	}
	return all
}

// train takes the steps, in one call for classifiers.
func train(t *testing.T, s *torch.Scope, net *graph.Imported, g golden) trained {
	n, err := net.Graph.Bind(s, torch.CPU, net.Weights)
	require.NoError(t, err)
	p, err := n.Program(s, torch.ProgramOptions{})
	require.NoError(t, err)
	group := torch.Group{OptimizerOptions: torch.OptimizerOptions{Rule: torch.SGD, LR: rate(g.Name), Momentum: 0.9}}
	for _, name := range n.Trained() {
		group.Params = append(group.Params, n.Tensor(name))
	}
	o := s.NewOptimizer(group)
	x := g.Inputs[0].tensor(s)
	result := trained{Tensors: map[string][2]float64{}}
	if g.Loss == "pixels" {
		for range steps {
			require.NoError(t, o.ZeroGrad())
			loss := lossOf(s, g, p.Forward(s, x, true, nil))
			s.Backward(loss)
			require.NoError(t, o.Step())
			result.Losses = append(result.Losses, values(t, s, loss)[0])
		}
	} else {
		result.Losses = trainInOneCall(t, s, p, o, x, g)
	}
	saved, err := n.Save()
	require.NoError(t, err)
	for _, w := range saved.Tensors {
		v, err := w.Float64s()
		require.NoError(t, err)
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		result.Tensors[w.Name] = [2]float64{sum, norm(v)}
	}
	return result
}

func trainInOneCall(t *testing.T, s *torch.Scope, p *torch.Program, o *torch.Optimizer, x *torch.Tensor,
	g golden) []float64 {
	rows := g.Inputs[0].Shape[0]
	var order []int64
	for range steps {
		for k := range rows {
			order = append(order, int64(k))
		}
	}
	labels := torch.From(s, g.Labels, rows, len(g.Labels)/rows)
	if len(g.Labels) == rows {
		labels = torch.From(s, g.Labels, rows)
	}
	figures, err := torch.Train(p, o, torch.Batches{Inputs: x, Labels: labels, Order: torch.From(s, order, len(order)),
		Size: rows})
	require.NoError(t, err)
	return figures.Losses
}
