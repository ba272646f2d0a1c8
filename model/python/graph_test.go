package python

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/pythontest"
	"graft/model"
	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// program prints the logits of a module in eval mode, and its counter of batches after a step in train mode.
const program = `
import json, runpy, sys, torch
net = runpy.run_path(sys.argv[1])["load"]()
x = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).sin()
logits = net(x).flatten().tolist()
net.train()(x)
print(json.dumps({"logits": logits, "counts": [int(b) for k, b in net.named_buffers() if k.endswith("tracked")]}))
`

func TestGraphsComputeInPyTorchAsInGraft(t *testing.T) {
	python := pythontest.Find(t, "torch")
	stats := []graph.Tensor{{Name: "running_mean", Role: graph.Buffer, DType: weights.Float32, Shape: []int{3}},
		{Name: "running_var", Role: graph.Buffer, DType: weights.Float32, Shape: []int{3}},
		{Name: "num_batches_tracked", Role: graph.Buffer, DType: weights.Int64}}
	for name, c := range map[string]struct {
		lines   []string
		tensors []graph.Tensor
		counts  []int
	}{
		"without tensors": {[]string{"y = relu.default(self=%x)"}, nil, []int{}},
		"a choice of tensors": {[]string{"m = gt.Scalar(self=%x, other=0.0)", "z = neg.default(self=%x)",
			"y = where.self(condition=%m, self=%z, other=%x)"}, nil, []int{}},
		"a choice of numbers": {[]string{"m = gt.Scalar(self=%x, other=0.0)",
			"y = where.Scalar(condition=%m, self=1.5, other=0.5)"}, nil, []int{}},
		"the statistics of the batch": {[]string{"y = batch_norm.default(input=%x, weight=none, bias=none, " +
			"running_mean=none, running_var=none, momentum=0.1, eps=0.01)"}, nil, []int{}},
		"the statistics of the example": {[]string{"y = instance_norm.default(input=%x, weight=none, bias=none, " +
			"running_mean=none, running_var=none, momentum=0.1, eps=0.01)"}, nil, []int{}},
		"a batch counted": {[]string{"y = batch_norm.default(input=%x, weight=none, bias=none, " +
			"running_mean=@running_mean, running_var=@running_var, momentum=0.1, eps=0.01)"}, stats, []int{1}},
		"an instance norm does not count": {[]string{"y = instance_norm.default(input=%x, weight=none, bias=none, " +
			"running_mean=@running_mean, running_var=@running_var, momentum=0.1, eps=0.01)"}, stats, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &graph.Graph{Name: "Net", Output: "y", Modules: []graph.Module{{Class: "Net"}}, Tensors: c.tensors,
				Input: graph.Input{Value: "x", DType: weights.Float32, Shape: []graph.Size{{Name: "batch", N: 2},
					{N: 3}, {N: 4}}}}
			for _, line := range c.lines {
				n, err := graph.ParseNode(line)
				require.NoError(t, err)
				g.Nodes = append(g.Nodes, n)
			}
			var got struct {
				Logits []float32
				Counts []int
			}
			want := written(t, g)
			out, err := exec.Command(python, "-W", "ignore", "-c", program, want.path).Output()
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(out, &got))
			assert.InDeltaSlice(t, want.logits, got.Logits, 1e-5)
			assert.Equal(t, c.counts, got.Counts)
		})
	}
}

// module is a network's module for Python and the logits that graft computes.
type module struct {
	path   string
	logits []float32
}

// written writes a network with statistics of one, and computes its logits.
func written(t *testing.T, g *graph.Graph) (m module) {
	n, err := model.FromGraph(g)
	require.NoError(t, err)
	m.path = filepath.Join(t.TempDir(), "net.py")
	text, err := Source(n, Options{Weights: "net.safetensors"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(m.path, []byte(text), 0o600))
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		tensors := map[string]*torch.Tensor{"num_batches_tracked": s.Zeros(torch.Int64, torch.CPU),
			"running_mean": s.Full(1, torch.Float32, torch.CPU, 3),
			"running_var":  s.Full(1, torch.Float32, torch.CPU, 3)}
		bound, err := g.BindTensors(s, tensors)
		require.NoError(t, err)
		set, err := bound.Save()
		require.NoError(t, err)
		require.NoError(t, weights.Write(files.OS{}, filepath.Join(filepath.Dir(m.path), "net.safetensors"), set))
		p, err := bound.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		x := make([]float64, 24)
		for k := range x {
			x[k] = math.Sin(float64(k))
		}
		input := s.To(torch.From(s, x, 2, 3, 4), torch.Float32, torch.CPU)
		s.NoGrad(func() { m.logits, err = torch.Values[float32](p.Forward(s, input, false, nil)) })
		return err
	}))
	return m
}

// printed prints a module, the text that a list of PyTorch prints, and whether modules have a print of their own.
const printed = `
import json, runpy, sys, torch
net = runpy.run_path(sys.argv[1])["Network"]()
own = {k: type(m).__repr__ is not torch.nn.Module.__repr__ for k, m in net.named_modules()}
print(json.dumps({"list": str(net.get_submodule("acts")), "want": str(torch.nn.ModuleList([torch.nn.ReLU()] * 2)),
                  "other": str(net.get_submodule("other")), "own": own["acts.0"]}))
`

// Modules print as in PyTorch. Only a module whose class defines its text has a text that surgery cannot change.
func TestModulesPrintAsInPyTorch(t *testing.T) {
	python := pythontest.Find(t, "torch")
	relu, err := graph.ParseNode("y = relu.default(self=%x)")
	require.NoError(t, err)
	m := written(t, &graph.Graph{Name: "Net", Output: "y", Nodes: []graph.Node{relu},
		Input: graph.Input{Value: "x", DType: weights.Float32,
			Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}, {N: 4}}},
		Modules: []graph.Module{{Class: "Net"}, {Path: "acts", Class: "ModuleList", Folds: true},
			{Path: "acts.0", Class: "ReLU"}, {Path: "acts.1", Class: "ReLU"},
			{Path: "other", Class: "Other", Print: "<other>"}}})
	out, err := exec.Command(python, "-W", "ignore", "-c", printed, m.path).Output()
	require.NoError(t, err)
	var got struct {
		List, Want, Other string
		Own               bool
	}
	require.NoError(t, json.Unmarshal(out, &got))
	require.Equal(t, got.Want, got.List)
	require.Equal(t, "<other>", got.Other)
	require.False(t, got.Own)
}
